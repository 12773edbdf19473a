#include "log/query/series/column_file.h"

#include <cstring>

namespace sonde::query {
namespace {

struct TypeInfo {
  std::string_view name;
  size_t bytes;
};

TypeInfo info_of(ColumnType type) {
  switch (type) {
    case ColumnType::kU8:
      return {"u8", 1};
    case ColumnType::kU16:
      return {"u16", 2};
    case ColumnType::kU32:
      return {"u32", 4};
    case ColumnType::kI64:
      return {"i64", 8};
    case ColumnType::kF32:
      return {"f32", 4};
    case ColumnType::kF64:
      return {"f64", 8};
  }
  return {"u8", 1};
}

size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

size_t Column::size() const { return bytes.size() / info_of(type).bytes; }

std::string column_file(const std::vector<Column>& columns,
                        const std::function<void(JsonWriter&)>& head) {
  std::string text;
  JsonWriter json(text);
  size_t total = 0;
  json.object([&] {
    head(json);
    json.key("cols").object([&] {
      for (const Column& column : columns) {
        json.key(column.name).object([&] {
          json.key("t").string(info_of(column.type).name);
          json.key("o").number(static_cast<uint64_t>(total));
          json.key("n").number(static_cast<uint64_t>(column.size()));
        });
        total += padded(column.bytes.size());
      }
    });
  });
  text.resize(padded(text.size()), ' ');

  std::string out;
  out.reserve(8 + text.size() + total);
  out += "SND1";
  const auto size = static_cast<uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += text;
  for (const Column& column : columns) {
    out += column.bytes;
    out.resize(out.size() + padded(column.bytes.size()) - column.bytes.size(), '\0');
  }
  return out;
}

}  // namespace sonde::query
