#include "capture/report/row_pairs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "capture/report/render.h"

namespace sonde::capture {
namespace {

// Text that tells what was measured of a row, not which row it is.
constexpr std::string_view kOutcomes[] = {"tooltip", "bound_by", "bottleneck"};

// What identifies a row in another capture: its text cells, or the first cell where there is none.
std::string row_key(const Table& table, const std::vector<Cell>& row) {
  std::string key;
  bool has_text = false;
  for (size_t c = 0; c < row.size() && c < table.columns.size(); ++c) {
    const std::string& id = table.columns[c].id;
    const bool is_outcome =
        std::find(std::begin(kOutcomes), std::end(kOutcomes), id) != std::end(kOutcomes);
    const auto* text = std::get_if<std::string>(&row[c]);
    if (text && !is_outcome) {
      key += *text;
      has_text = true;
    }
    key += '\x1f';
  }
  return has_text || row.empty() ? key : cell_text(row[0]);
}

bool is_number(const Cell& cell) {
  return std::holds_alternative<double>(cell) || std::holds_alternative<int64_t>(cell);
}

}  // namespace

RowPairs pairs_of(const Table& table, const Table* base) {
  RowPairs out;
  out.base.resize(table.rows.size());
  if (!base || base->columns.size() != table.columns.size()) return out;
  std::map<std::string, std::vector<size_t>, std::less<>> left;
  for (size_t r = base->rows.size(); r-- > 0;) left[row_key(*base, base->rows[r])].push_back(r);
  std::vector<bool> is_taken(base->rows.size());
  for (size_t r = 0; r < table.rows.size(); ++r) {
    const auto found = left.find(row_key(table, table.rows[r]));
    if (found == left.end() || found->second.empty()) continue;
    out.base[r] = &base->rows[found->second.back()];
    is_taken[found->second.back()] = true;
    found->second.pop_back();
  }
  for (size_t r = 0; r < base->rows.size(); ++r) {
    if (!is_taken[r]) out.gone.push_back(&base->rows[r]);
  }
  return out;
}

void append_row(JsonWriter& json, const Row& row, const Row* base, Paired paired) {
  json.array([&] {
    for (size_t c = 0; c < row.size(); ++c) {
      if (paired == Paired::kNo || !is_number(row[c])) {
        append_cell(json, row[c]);
        continue;
      }
      json.array([&] {
        append_cell(json, row[c]);
        if (base && c < base->size()) {
          append_cell(json, (*base)[c]);
        } else {
          json.null();
        }
      });
    }
  });
}

void append_gone(JsonWriter& json, const Row& base) {
  json.array([&] {
    for (const Cell& cell : base) {
      if (!is_number(cell)) {
        append_cell(json, cell);
        continue;
      }
      json.array([&] {
        json.null();
        append_cell(json, cell);
      });
    }
  });
}

}  // namespace sonde::capture
