#include "codec/yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde {
namespace {

using Kind = JsonValue::Kind;

constexpr size_t kMaxDepth = 64, kMaxNodes = 100'000;

std::string_view text_of(const yaml_char_t* text) {
  return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view{};
}

JsonValue number_of(double value) {
  JsonValue number;
  number.kind = Kind::kNumber;
  number.text = fmt::format("{}", value);
  return number;
}

// The digits as they stand where JSON writes them so, else the number they mean.
bool read_number(std::string_view text, JsonValue& out) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const std::string_view unsigned_digits = digits.substr(digits.starts_with('-') ? 1 : 0);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const char first = unsigned_digits.empty() ? ' ' : unsigned_digits.front();
  if (!is_digit(first) && first != '.') return false;  // also "inf" and "nan": words
  if (unsigned_digits.starts_with("0x")) {
    uint64_t whole = 0;
    const char* end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(unsigned_digits.data() + 2, end, whole, 16);
    if (error != std::errc() || at != end || digits.starts_with('-')) return false;
    out.kind = Kind::kNumber;
    out.text = std::to_string(whole);
    return true;
  }
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || at != end) return false;
  const size_t point = unsigned_digits.find('.');
  const bool is_json =
      is_digit(first) &&
      !(first == '0' && unsigned_digits.size() > 1 && is_digit(unsigned_digits[1])) &&
      (point == unsigned_digits.npos ||
       (point + 1 < unsigned_digits.size() && is_digit(unsigned_digits[point + 1])));
  if (!is_json) {
    out = number_of(value);
  } else {
    out.kind = Kind::kNumber;
    out.text = digits;
  }
  return true;
}

template <class... Words>
bool is_one_of(std::string_view text, Words... words) {
  return ((text == words) || ...);
}

JsonValue plain_scalar(std::string_view text) {
  JsonValue out;
  if (is_one_of(text, "", "~", "null", "Null", "NULL")) return out;
  if (is_one_of(text, "true", "True", "TRUE", "false", "False", "FALSE")) {
    out.kind = Kind::kBool;
    out.boolean = text.front() == 't' || text.front() == 'T';
    return out;
  }
  if (is_one_of(text, ".nan", ".NaN", ".NAN")) return JsonValue::string("NaN");
  if (is_one_of(text, ".inf", ".Inf", ".INF", "+.inf")) return JsonValue::string("Infinity");
  if (is_one_of(text, "-.inf", "-.Inf", "-.INF")) return JsonValue::string("-Infinity");
  if (read_number(text, out)) return out;
  return JsonValue::string(text);
}

size_t nodes_in(const JsonValue& value) {
  size_t count = 1;
  for (const JsonValue& item : value.items) count += nodes_in(item);
  for (const JsonMember& member : value.members) count += nodes_in(member.second);
  return count;
}

size_t depth_of(const JsonValue& value) {
  size_t deepest = 0;
  for (const JsonValue& item : value.items) deepest = std::max(deepest, depth_of(item));
  for (const JsonMember& member : value.members)
    deepest = std::max(deepest, depth_of(member.second));
  return deepest + 1;
}

// A map or list whose end has not come.
struct Open {
  JsonValue value;
  std::string anchor;
  // Of a map:
  std::string key;  // waits for its value
  bool has_key = false;
  std::vector<JsonMember> merged;  // by "<<"
};

class Reader {
 public:
  explicit Reader(std::string_view text) {
    is_ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!is_ready_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const yaml_char_t*>(text.data()),
                                 text.size());
  }
  ~Reader() {
    if (is_ready_) yaml_parser_delete(&parser_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Result<JsonValue> read() {
    if (!is_ready_) return fail(Code::kTooLarge, "no memory for a YAML parser");
    while (!is_done_) {
      yaml_event_t event;
      if (yaml_parser_parse(&parser_, &event) == 0) return failure();
      const std::unique_ptr<yaml_event_t, void (*)(yaml_event_t*)> owned(&event, yaml_event_delete);
      if (auto taken = take(event); !taken) return fail(std::move(taken).error());
    }
    return std::move(root_);
  }

 private:
  tl::unexpected<Error> failure() const {
    return fail(Code::kInvalid, fmt::format("line {}, column {}: {}", parser_.problem_mark.line + 1,
                                            parser_.problem_mark.column + 1,
                                            parser_.problem ? parser_.problem : "this is no YAML"));
  }
  static tl::unexpected<Error> failed_at(const yaml_event_t& event, Code code,
                                         std::string_view what) {
    return fail(code, fmt::format("line {}, column {}: {}", event.start_mark.line + 1,
                                  event.start_mark.column + 1, what));
  }

  Result<void> take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        return put(event, scalar(event.data.scalar), text_of(event.data.scalar.anchor));
      case YAML_SEQUENCE_START_EVENT:
        return open(event, Kind::kArray, text_of(event.data.sequence_start.anchor));
      case YAML_MAPPING_START_EVENT:
        return open(event, Kind::kObject, text_of(event.data.mapping_start.anchor));
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: {
        Open closed = std::move(open_.back());
        open_.pop_back();
        const std::string anchor = closed.anchor;
        return put(event, finished(std::move(closed)), anchor);
      }
      case YAML_ALIAS_EVENT:
        return alias(event);
      case YAML_DOCUMENT_END_EVENT:
      case YAML_STREAM_END_EVENT:
        is_done_ = true;
        return {};
      default:
        return {};
    }
  }

  static JsonValue scalar(const decltype(yaml_event_t::data.scalar)& scalar) {
    const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const bool is_plain =
        scalar.style == YAML_PLAIN_SCALAR_STYLE && text_of(scalar.tag) != "tag:yaml.org,2002:str";
    return is_plain ? plain_scalar(text) : JsonValue::string(text);
  }

  Result<void> open(const yaml_event_t& event, Kind kind, std::string_view anchor) {
    if (open_.size() >= kMaxDepth)
      return failed_at(event, Code::kTooLarge, "nested deeper than 64 levels");
    if (!open_.empty() && open_.back().value.is_object() && !open_.back().has_key)
      return failed_at(event, Code::kInvalid, "a key is a map or a list");
    open_.push_back({});
    open_.back().value.kind = kind;
    open_.back().anchor = anchor;
    return {};
  }

  Result<void> alias(const yaml_event_t& event) {
    const auto found = anchors_.find(std::string(text_of(event.data.alias.anchor)));
    if (found == anchors_.end())
      return failed_at(event, Code::kInvalid, "an alias without its anchor");
    nodes_ += nodes_in(found->second);
    if (open_.size() + depth_of(found->second) > kMaxDepth)
      return failed_at(event, Code::kTooLarge, "nested deeper than 64 levels");
    return put(event, JsonValue(found->second), {});
  }

  // A finished value takes its place.
  Result<void> put(const yaml_event_t& event, JsonValue value, std::string_view anchor) {
    if (!anchor.empty()) {
      nodes_ += nodes_in(value);
      anchors_[std::string(anchor)] = value;
    }
    if (++nodes_ > kMaxNodes)
      return failed_at(event, Code::kTooLarge, "more than 100 000 values, aliases followed");
    if (open_.empty()) {
      root_ = std::move(value);
      return {};
    }
    Open& parent = open_.back();
    if (parent.value.is_array()) {
      parent.value.items.push_back(std::move(value));
    } else if (!parent.has_key) {
      if (event.type != YAML_SCALAR_EVENT)
        return failed_at(event, Code::kInvalid, "a key is a map or a list");
      parent.key = text_of(event.data.scalar.value);
      parent.has_key = true;
    } else {
      parent.has_key = false;
      if (parent.key == "<<") {
        merge(std::move(value), parent.merged);
      } else {
        parent.value.members.push_back({std::move(parent.key), std::move(value)});
      }
    }
    return {};
  }

  // The members of one map, or of each map of a list.
  static void merge(JsonValue from, std::vector<JsonMember>& into) {
    for (JsonValue& item : from.items) merge(std::move(item), into);
    std::move(from.members.begin(), from.members.end(), std::back_inserter(into));
  }

  // A name occurs once: the map's own value before merged ones, of its own the last, of merged ones
  // the first.
  static JsonValue finished(Open open) {
    if (!open.value.is_object()) return std::move(open.value);
    std::vector<JsonMember> members;
    std::unordered_map<std::string, size_t> places;
    const auto add = [&](JsonMember& member, bool replaces) {
      const auto [at, is_new] = places.try_emplace(member.first, members.size());
      if (is_new) {
        members.push_back(std::move(member));
      } else if (replaces) {
        members[at->second].second = std::move(member.second);
      }
    };
    for (JsonMember& member : open.merged) add(member, false);
    for (JsonMember& member : open.value.members) add(member, true);
    open.value.members = std::move(members);
    return std::move(open.value);
  }

  yaml_parser_t parser_{};
  bool is_ready_ = false, is_done_ = false;
  std::vector<Open> open_;
  std::map<std::string, JsonValue> anchors_;
  size_t nodes_ = 0;
  JsonValue root_;
};

}  // namespace

Result<JsonValue> read_yaml(std::string_view text) { return Reader(text).read(); }

}  // namespace sonde
