#include "whatif/files/example_json.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "base/strings.h"
#include "codec/base64.h"
#include "codec/json_read.h"
#include "codec/wire.h"

namespace sonde::whatif {
namespace {

// The lists of a Feature by their field number.
constexpr std::string_view kLists[] = {"", "bytesList", "floatList", "int64List"};

bool write_feature(JsonWriter& json, Bytes feature) {
  bool fits = true;
  json.object([&] {
    wire::Cursor cursor(feature);
    for (wire::Field f; cursor.next(f);) {
      if (!f.is_bytes() || f.number < 1 || f.number > 3) continue;
      json.key(kLists[f.number]).object([&] {
        json.key("value").array([&] {
          wire::Cursor list(f.bytes);
          for (wire::Field e; fits && list.next(e);) {
            if (e.number != 1) continue;
            if (f.number == 1) {
              if (!(fits = e.is_bytes())) return;
              json.string(base64(e.text()));
            } else if (f.number == 2) {
              fits = wire::for_each_fixed<float>(e, [&](float v) { json.number(v); });
            } else {
              fits = wire::for_each_varint(
                  e, [&](uint64_t v) { json.string(std::to_string(static_cast<int64_t>(v))); });
            }
          }
          fits = fits && list.ok();
        });
      });
    }
    fits = fits && cursor.ok();
  });
  return fits;
}

// {"name": value …} of the map in a Features or FeatureLists message; write(Bytes) -> bool.
template <class Write>
bool write_map(JsonWriter& json, std::string_view key, Bytes map, Write&& write) {
  bool fits = true;
  json.key(key).object([&] {
    wire::Cursor cursor(map);
    for (wire::Field f; fits && cursor.next(f);) {
      if (f.number != 1 || !f.is_bytes()) continue;
      std::string_view name;
      Bytes value;
      wire::Cursor entry(f.bytes);
      for (wire::Field e; entry.next(e);) {
        if (e.number == 1 && e.is_bytes()) name = e.text();
        if (e.number == 2 && e.is_bytes()) value = e.bytes;
      }
      json.key(to_utf8(name));
      fits = entry.ok() && write(value);
    }
    fits = fits && cursor.ok();
  });
  return fits;
}

Result<int64_t> whole_number(const JsonValue& value, std::string_view feature) {
  int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, problem] = std::from_chars(value.text.data(), end, number);
  if (!(value.is_number() || value.is_string()) || problem != std::errc() || stop != end)
    return fail(Code::kInvalid, fmt::format("'{}' holds something that is no whole number",
                                            to_utf8(feature.substr(0, 200))));
  return number;
}

Result<std::string> feature_bytes(const JsonValue& feature, std::string_view name) {
  std::string out;
  wire::Encoder encoder(out);
  for (uint32_t which = 1; which <= 3; ++which) {
    const JsonValue* list = feature.find(kLists[which]);
    if (!list) continue;
    std::string inner;
    wire::Encoder values(inner);
    const JsonValue* items = list->find("value");
    for (const JsonValue& item : items ? items->items : std::vector<JsonValue>()) {
      if (which == 1) {
        const auto bytes = item.is_string() ? from_base64(item.text) : std::nullopt;
        if (!bytes)
          return fail(Code::kInvalid, fmt::format("'{}' holds bytes that are no base64", name));
        values.bytes(1, *bytes);
      } else if (which == 2) {
        const auto number = item.number();
        if (!number)
          return fail(Code::kInvalid, fmt::format("'{}' holds something that is no number", name));
        values.real32(1, static_cast<float>(*number));
      } else {
        SONDE_TRY(const number, whole_number(item, name));
        values.varint(1, std::bit_cast<uint64_t>(number));
      }
    }
    encoder.bytes(which, inner);
  }
  return out;
}

// make(JsonValue, name) -> Result<std::string>: the value of each entry.
template <class Make>
Result<std::string> map_bytes(const JsonValue* map, Make&& make) {
  std::string out;
  wire::Encoder encoder(out);
  if (!map) return out;
  if (!map->is_object()) return fail(Code::kInvalid, "the features must be an object");
  for (const JsonMember& member : map->members) {
    SONDE_TRY(const value, make(member.second, member.first));
    encoder.message(1, [&](wire::Encoder& entry) {
      entry.bytes(1, member.first);
      entry.bytes(2, value);
    });
  }
  return out;
}

Result<std::string> list_bytes(const JsonValue& list, std::string_view name) {
  std::string out;
  wire::Encoder encoder(out);
  const JsonValue* features = list.find("feature");
  for (const JsonValue& one : features ? features->items : std::vector<JsonValue>()) {
    SONDE_TRY(const bytes, feature_bytes(one, name));
    encoder.bytes(1, bytes);
  }
  return out;
}

}  // namespace

Result<std::string> example_to_json(Bytes message, Message kind) {
  const bool is_sequence = kind == Message::kSequenceExample;
  std::string out;
  JsonWriter json(out);
  bool fits = true;
  json.object([&] {
    wire::Cursor cursor(message);
    for (wire::Field f; fits && cursor.next(f);) {
      if (!f.is_bytes()) continue;
      if (f.number == 1)
        json.key(is_sequence ? "context" : "features").object([&] {
          fits = write_map(json, "feature", f.bytes,
                           [&](Bytes feature) { return write_feature(json, feature); });
        });
      if (f.number == 2 && is_sequence)
        json.key("featureLists").object([&] {
          fits = write_map(json, "featureList", f.bytes, [&](Bytes list) {
            bool all = true;
            json.object([&] {
              json.key("feature").array([&] {
                wire::Cursor steps(list);
                for (wire::Field step; all && steps.next(step);)
                  if (step.number == 1 && step.is_bytes()) all = write_feature(json, step.bytes);
                all = all && steps.ok();
              });
            });
            return all;
          });
        });
    }
    fits = fits && cursor.ok();
  });
  if (!fits) return fail(Code::kCorrupt, "a record is no tf.train.Example");
  return out;
}

Result<std::string> example_from_json(std::string_view text, Message kind) {
  SONDE_TRY(const root, read_json(text));
  if (!root.is_object()) return fail(Code::kInvalid, "an example must be an object");
  const bool is_sequence = kind == Message::kSequenceExample;
  const auto member = [](const JsonValue* from, std::string_view name) {
    return from ? from->find(name) : nullptr;
  };
  std::string out;
  wire::Encoder encoder(out);
  SONDE_TRY(
      const features,
      map_bytes(member(root.find(is_sequence ? "context" : "features"), "feature"), feature_bytes));
  encoder.bytes(1, features);
  if (is_sequence) {
    SONDE_TRY(const lists, map_bytes(member(root.find("featureLists"), "featureList"), list_bytes));
    encoder.bytes(2, lists);
  }
  return out;
}

}  // namespace sonde::whatif
