#include "base/text_table.h"

#include <algorithm>
#include <cstdio>

namespace sonde {
namespace {

constexpr size_t kWidest = 60;  // characters of a cell; the middle of a longer one is left out

// Characters, not bytes: UTF-8 continuation bytes take no room.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// Control characters would move the cursor; a tag may hold any.
std::string printable(const std::string& text) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  if (width_of(out) <= kWidest) return out;
  std::string shorter;
  const size_t total = width_of(out);
  size_t at = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(out[i]) & 0xc0) != 0x80;
    if (starts) ++at;
    const size_t head = kWidest / 2, tail = total - (kWidest - head - 1);
    if (at <= head || at > tail)
      shorter += out[i];
    else if (at == head + 1 && starts)
      shorter += "…";
  }
  return shorter;
}

}  // namespace

std::string Table::text() const {
  if (rows_.empty()) return {};
  std::vector<std::vector<std::string>> cells(1);
  for (const Column& column : columns_) cells[0].push_back(column.title);
  for (const auto& row : rows_) {
    auto& line = cells.emplace_back();
    for (const std::string& cell : row) line.push_back(printable(cell));
  }
  std::vector<size_t> widths(columns_.size());
  for (const auto& line : cells) {
    for (size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], width_of(line[c]));
  }
  std::string out;
  for (const auto& line : cells) {
    std::string row;
    for (size_t c = 0; c < line.size(); ++c) {
      const std::string padding(widths[c] - width_of(line[c]), ' ');
      if (c > 0) row += "  ";
      row += columns_[c].align == Align::kRight ? padding + line[c] : line[c] + padding;
    }
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + '\n';
  }
  return out;
}

void Table::print() const {
  const std::string out = text();
  std::fwrite(out.data(), 1, out.size(), stdout);
}

}  // namespace sonde
