#include "whatif/files/json_rows.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "codec/base64.h"

namespace sonde::whatif {
namespace {

constexpr size_t kMaxElements = 1 << 20;

bool is_whole(const JsonValue& value) {
  return value.text.find_first_of(".eE") == std::string::npos;
}

void add_scalar(const JsonValue& value, ColumnBuilder& column) {
  switch (value.kind) {
    case JsonValue::Kind::kNumber:
      return column.number(value.number().value_or(kNaN), is_whole(value));
    case JsonValue::Kind::kBool:
      return column.number(value.boolean ? 1 : 0, true);
    case JsonValue::Kind::kString:
      if (value.text == "NaN" || value.text == "Infinity" || value.text == "-Infinity")
        return column.number(value.number().value_or(kNaN), false);
      return column.text(value.text);
    default:
      return column.number(kNaN, true);
  }
}

struct Pending {
  const JsonValue* value;
  std::string name;
};

// The elements of nested arrays one behind the other.
Result<void> add_array(const JsonValue& array, std::string_view name, ColumnBuilder& column) {
  std::vector<const JsonValue*> open{&array};
  std::vector<size_t> at{0};
  size_t count = 0;
  while (!open.empty()) {
    if (at.back() == open.back()->items.size()) {
      open.pop_back();
      at.pop_back();
      continue;
    }
    const JsonValue& item = open.back()->items[at.back()++];
    if (item.is_array()) {
      open.push_back(&item);
      at.push_back(0);
      continue;
    }
    if (item.is_object())
      return fail(
          Code::kInvalid,
          fmt::format("'{}' is a list of objects; lists hold numbers or texts", to_utf8(name)));
    if (++count > kMaxElements)
      return fail(Code::kTooLarge,
                  fmt::format("'{}' has more than {} elements", to_utf8(name), kMaxElements));
    add_scalar(item, column);
  }
  return {};
}

// Where the value that begins at `at` ends: after the bracket that closes it. npos: never.
size_t end_of_object(std::string_view text, size_t at) {
  size_t depth = 0;
  for (bool in_string = false; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\')
        ++at;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) return at + 1;
    }
  }
  return text.npos;
}

}  // namespace

std::optional<std::string> bytes_in_json(const JsonValue& value) {
  if (!value.is_object() || value.members.size() != 1 || value.members[0].first != "b64" ||
      !value.members[0].second.is_string())
    return std::nullopt;
  return from_base64(value.members[0].second.text);
}

Result<void> add_json_row(const JsonValue& object, DatasetBuilder& into) {
  std::vector<Pending> pending;
  const auto push = [&](const JsonValue& from, const std::string& prefix) {
    for (size_t i = from.members.size(); i-- > 0;)
      pending.push_back({&from.members[i].second, prefix + from.members[i].first});
  };
  push(object, "");
  while (!pending.empty()) {
    const Pending next = std::move(pending.back());
    pending.pop_back();
    const auto bytes = bytes_in_json(*next.value);
    if (next.value->is_object() && !bytes) {
      push(*next.value, next.name + ".");
      continue;
    }
    ColumnBuilder* column = into.column(next.name);
    if (!column) return fail(Code::kTooLarge, fmt::format("more than {} features", kMaxColumns));
    if (bytes) {
      column->text(*bytes);
    } else if (next.value->is_array()) {
      if (auto added = add_array(*next.value, next.name, *column); !added) return added;
    } else {
      add_scalar(*next.value, *column);
    }
    column->end_row(into.rows());
  }
  if (!into.end_row()) return fail(Code::kTooLarge, fmt::format("more than {} values", kMaxCells));
  return {};
}

Result<Dataset> read_json_rows(std::string_view text, const ReadOptions& options) {
  DatasetBuilder builder;
  Sampler sampler(options);
  size_t at = 0, row = 0;
  bool in_array = false, cut = false;
  while (true) {
    while (at < text.size() &&
           std::string_view(" \t\r\n,").find(text[at]) != std::string_view::npos)
      ++at;
    if (at >= text.size()) break;
    if (row == 0 && !in_array && text[at] == '[') {
      in_array = true;
      ++at;
      continue;
    }
    if (in_array && text[at] == ']') break;
    ++row;
    if (text[at] != '{')
      return fail(Code::kInvalid, fmt::format("example {} at byte {} is no JSON object", row, at));
    const size_t end = end_of_object(text, at);
    if (end == text.npos)
      return fail(Code::kInvalid, fmt::format("example {} at byte {} is cut off", row, at));
    if (builder.rows() >= options.max_examples) {
      cut = true;
      break;
    }
    const std::string_view one = text.substr(at, end - at);
    at = end;
    if (!sampler.keeps()) continue;
    auto object = read_json(one);
    if (!object) return fail(std::move(object).error().in(fmt::format("example {}", row)));
    if (auto added = add_json_row(*object, builder); !added)
      return fail(std::move(added).error().in(fmt::format("example {}", row)));
  }
  if (builder.rows() == 0) return fail(Code::kInvalid, "the file holds no JSON object");
  SONDE_TRY(data, std::move(builder).finish(""));
  if (cut) data.note = fmt::format("only the first {} examples were read", data.rows);
  return data;
}

}  // namespace sonde::whatif
