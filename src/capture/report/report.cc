#include "capture/report/report.h"

namespace sonde::capture {

Table& Report::table(std::string_view id, std::string_view title) {
  Table& table = tables.emplace_back();
  table.id = id;
  table.title = title;
  return table;
}

const Table* Report::find(std::string_view id) const {
  for (const Table& table : tables) {
    if (table.id == id) return &table;
  }
  return nullptr;
}

void Report::figure(std::string_view id, std::string_view label, Cell value, std::string_view unit,
                    std::string_view base) {
  figures.push_back({std::string(id), std::string(label), std::move(value), std::string(unit),
                     std::string(base)});
}

bool Report::has_data() const { return missing.empty(); }

}  // namespace sonde::capture
