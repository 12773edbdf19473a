// A table for the terminal: columns as wide as they need to be, cut where the screen ends only in
// the widest text column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde {

enum class Align : uint8_t { kLeft, kRight };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // To stdout; nothing when there is no row.
  void print() const;
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sonde
