#include "log/query/hparams/cell.h"

#include <charconv>
#include <cmath>

#include "base/strings.h"

namespace sonde::query {
namespace {

bool is_whole(double value) {
  return std::isfinite(value) && value == std::floor(value) && std::abs(value) < 9007199254740992.0;
}

int rank(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::kBool:
    case Cell::Kind::kNumber:
      return 0;
    case Cell::Kind::kText:
    case Cell::Kind::kList:
      return 1;
    case Cell::Kind::kMissing:
      break;
  }
  return 2;
}

}  // namespace

bool sorts_last(const Cell& cell) {
  return cell.is_missing() || (cell.kind == Cell::Kind::kNumber && std::isnan(cell.number));
}

int compare(const Cell& a, const Cell& b) {
  const bool a_last = sorts_last(a), b_last = sorts_last(b);
  if (a_last || b_last) return a_last == b_last ? 0 : (a_last ? 1 : -1);
  if (rank(a) != rank(b)) return rank(a) < rank(b) ? -1 : 1;
  if (rank(a) == 0) return a.number < b.number ? -1 : (a.number > b.number ? 1 : 0);
  return natural_compare(text_of(a), text_of(b));
}

void write(JsonWriter& json, const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::kMissing:
      return json.null();
    case Cell::Kind::kNumber:
      if (is_whole(cell.number)) return json.number(static_cast<int64_t>(cell.number));
      return json.number(cell.number);
    case Cell::Kind::kText:
      return json.string(cell.text);
    case Cell::Kind::kBool:
      return json.boolean(cell.number != 0);
    case Cell::Kind::kList:
      return json.array([&] {
        for (const std::string& item : cell.list) json.string(item);
      });
  }
}

std::string text_of(const Cell& cell) {
  switch (cell.kind) {
    case Cell::Kind::kMissing:
      return {};
    case Cell::Kind::kText:
      return cell.text;
    case Cell::Kind::kBool:
      return cell.number != 0 ? "true" : "false";
    case Cell::Kind::kList: {
      std::string all;
      for (const std::string& item : cell.list) all += (all.empty() ? "" : ", ") + item;
      return all;
    }
    case Cell::Kind::kNumber:
      break;
  }
  std::string text;
  JsonWriter json(text);
  write(json, cell);
  return text.starts_with('"') ? text.substr(1, text.size() - 2) : text;
}

Cell cell_from_text(std::string_view text) {
  text = trimmed(text);
  if (text == "true" || text == "True") return Cell::of_bool(true);
  if (text == "false" || text == "False") return Cell::of_bool(false);
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc() && end == digits.data() + digits.size() && !digits.empty())
    return Cell::of(value);
  return Cell::of(std::string(text));
}

Cell cell_from_json(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return {};
    case JsonValue::Kind::kBool:
      return Cell::of_bool(value.boolean);
    case JsonValue::Kind::kNumber:
      return Cell::of(value.number().value_or(0));
    case JsonValue::Kind::kString:
      if (value.text == "NaN" || value.text == "Infinity" || value.text == "-Infinity")
        return Cell::of(*value.number());
      return Cell::of(value.text);
    case JsonValue::Kind::kArray:
    case JsonValue::Kind::kObject:
      break;
  }
  return Cell::of(to_text(value));
}

}  // namespace sonde::query
