#include "table/parquet_lines.h"

#include <fmt/format.h>

#include <cmath>

#include "base/strings.h"
#include "codec/json.h"
#include "table/parquet_read.h"

namespace sonde::table {
namespace {

constexpr uint64_t kMostValues = 20'000'000;

// Bytes that are no text (pictures) are not shown as one.
void append_word(std::string& out, const std::string& word) {
  if (is_utf8(word))
    append_json_string(out, word);
  else
    append_json_string(out, fmt::format("({} bytes)", word.size()));
}

// False for null.
bool append_cell(std::string& out, const ParquetColumn& column, uint64_t row) {
  if (column.is_text) {
    const uint32_t code = column.codes[row];
    if (code == ParquetColumn::kNull) return false;
    if (column.is_json)
      out += column.words[code];
    else
      append_word(out, column.words[code]);
    return true;
  }
  const double number = column.numbers[row];
  if (std::isnan(number)) return false;
  if (column.is_bool)
    out += number != 0 ? "true" : "false";
  else if (column.is_integer && std::abs(number) < 9e15)
    out += fmt::format("{}", static_cast<int64_t>(number));
  else
    append_json_number(out, number);
  return true;
}

}  // namespace

Result<std::string> parquet_lines(Bytes file, uint64_t most) {
  ParquetLimits limits;
  limits.values = kMostValues;
  limits.columns = 500;
  limits.nested = true;
  SONDE_TRY(const table, read_parquet(file, limits));
  std::vector<std::string> names;
  for (const ParquetColumn& column : table.columns)
    append_json_string(names.emplace_back(), column.name);
  std::string out, cell;
  for (uint64_t row = 0; row < table.rows; ++row) {
    out += '{';
    bool is_first = true;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      cell.clear();
      if (!append_cell(cell, table.columns[i], row)) continue;
      if (!is_first) out += ',';
      is_first = false;
      out += names[i];
      out += ':';
      out += cell;
    }
    out += "}\n";
    if (out.size() > most)
      return fail(Code::kTooLarge, fmt::format("its rows are more than {} MB of text", most >> 20));
  }
  return out;
}

}  // namespace sonde::table
