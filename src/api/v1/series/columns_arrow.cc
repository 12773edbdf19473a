#include "api/v1/series/columns_arrow.h"

#include <cstring>
#include <map>

#include "base/strings.h"
#include "table/arrow.h"

namespace sonde::api::v1 {
namespace {

// Numbers for words, in the order in which they come.
class Words {
 public:
  uint32_t of(const std::string& word) {
    const auto [at, is_new] = numbers_.try_emplace(word, static_cast<uint32_t>(words.size()));
    if (is_new) words.push_back(word);
    return at->second;
  }
  std::vector<std::string> words;

 private:
  std::map<std::string, uint32_t> numbers_;
};

template <class From, class To>
void widened(const std::string& bytes, std::vector<To>& into) {
  for (size_t at = 0; at + sizeof(From) <= bytes.size(); at += sizeof(From)) {
    From value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    into.push_back(static_cast<To>(value));
  }
}

table::Values values_of(const query::Column& column) {
  table::Values values;
  using Type = query::ColumnType;
  switch (column.type) {
    case Type::kU8:
      widened<uint8_t>(column.bytes, values.integers);
      break;
    case Type::kU16:
      widened<uint16_t>(column.bytes, values.integers);
      break;
    case Type::kU32:
      widened<uint32_t>(column.bytes, values.integers);
      break;
    case Type::kI64:
      widened<int64_t>(column.bytes, values.integers);
      break;
    case Type::kF32:
      widened<float>(column.bytes, values.reals);
      break;
    case Type::kF64:
      widened<double>(column.bytes, values.reals);
      break;
  }
  return values;
}

std::string run_name(const query::Line& line, const store::Snapshot& snapshot) {
  if (line.run == query::kAllRuns) return "all runs";
  if (line.run < 0) return "set " + std::to_string(-1 - line.run);
  for (const auto& run : snapshot.runs) {
    if (static_cast<int64_t>(run->id) == line.run) return to_utf8(run->name);
  }
  return std::to_string(line.run);
}

}  // namespace

Result<std::string> columns_arrow(const query::Picture& picture, const store::Snapshot& snapshot) {
  Words runs, tags;
  table::Batch batch;
  batch.columns.resize(2);
  for (const query::Line& line : picture.lines) {
    const uint32_t run = runs.of(run_name(line, snapshot));
    const uint32_t tag = tags.of(line.series ? to_utf8(line.series->tag()) : "");
    batch.columns[0].indices.insert(batch.columns[0].indices.end(), line.n, run);
    batch.columns[1].indices.insert(batch.columns[1].indices.end(), line.n, tag);
    batch.rows += line.n;
  }
  std::vector<table::Column> columns = {{"run", table::Kind::kWord, false, std::move(runs.words)},
                                        {"tag", table::Kind::kWord, false, std::move(tags.words)}};
  for (const query::Column& column : picture.columns) {
    table::Values values = values_of(column);
    const bool is_real =
        column.type == query::ColumnType::kF32 || column.type == query::ColumnType::kF64;
    if ((is_real ? values.reals.size() : values.integers.size()) != batch.rows) continue;
    columns.push_back(
        {column.name, is_real ? table::Kind::kDouble : table::Kind::kInt64, false, {}});
    batch.columns.push_back(std::move(values));
  }
  std::string file;
  const auto writer = table::arrow_writer(std::move(columns), [&](std::string_view bytes) {
    file.append(bytes);
    return true;
  });
  if (auto added = writer->add(batch); !added) return fail(added.error());
  if (auto finished = writer->finish(); !finished) return fail(finished.error());
  return file;
}

}  // namespace sonde::api::v1
