// JAX's device_memory.prof: a pprof profile of what lay on the devices when it was saved, one sample
// for each stack that had allocated something.
#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <string_view>
#include <vector>

#include "capture/import/memory/memory_trace.h"
#include "capture/import/registry.h"
#include "codec/wire.h"

namespace sonde::imports {
namespace {

using wire::Cursor;
using wire::Field;

constexpr size_t kMostFrames = 256;  // of one stack

// The first field is a ValueType: two small numbers and nothing else.
bool sniff(std::string_view, Bytes head) {
  Cursor cursor(head);
  Field field;
  if (!cursor.next(field) || field.number != 1 || !field.is_bytes() || field.bytes.size() < 2 ||
      field.bytes.size() > 12)
    return false;
  Cursor type(field.bytes);
  bool has_type = false;
  for (Field part; type.next(part);) {
    if (part.number > 2 || part.is_bytes()) return false;
    has_type |= part.number == 1;
  }
  if (!type.ok() || !has_type || !cursor.next(field)) return false;
  return (field.number == 1 || field.number == 2) && field.is_bytes();
}

// Numbers of a repeated field, packed or one by one.
void take_numbers(const Field& field, std::vector<uint64_t>& out) {
  if (!field.is_bytes()) {
    out.push_back(field.bits);
    return;
  }
  const std::byte *p = field.bytes.data(), *end = p + field.bytes.size();
  for (uint64_t value = 0; p && p < end;) {
    p = wire::read_varint(p, end, value);
    if (p) out.push_back(value);
  }
}

struct Profile {
  struct Sample {
    std::vector<uint64_t> locations, values;
    std::vector<std::pair<uint64_t, uint64_t>> labels;  // key and text
  };
  struct Line {
    uint64_t function = 0;
    int64_t line = 0;
  };
  struct Function {
    uint64_t name = 0, file = 0;
  };
  std::vector<uint64_t> units;  // of each value, as text
  std::vector<Sample> samples;
  boost::unordered_flat_map<uint64_t, std::vector<Line>> locations;
  boost::unordered_flat_map<uint64_t, Function> functions;
  std::vector<std::string_view> strings;
  int64_t time_ns = 0;
  bool is_cut = false;

  explicit Profile(Bytes bytes) {
    Cursor cursor(bytes);
    for (Field f; cursor.next(f);) take(f);
    is_cut = !cursor.ok();
  }
  std::string_view text(uint64_t index) const {
    return index < strings.size() ? strings[index] : std::string_view();
  }

 private:
  void take(const Field& f) {
    if (f.number == 9 && !f.is_bytes()) time_ns = f.as_int();
    if (!f.is_bytes()) return;
    Cursor cursor(f.bytes);
    Field part;
    if (f.number == 1) {
      uint64_t unit = 0;
      while (cursor.next(part))
        if (part.number == 2) unit = part.bits;
      units.push_back(unit);
    } else if (f.number == 2) {
      Sample& sample = samples.emplace_back();
      while (cursor.next(part)) take_sample(part, sample);
    } else if (f.number == 4) {
      uint64_t id = 0;
      std::vector<Line> lines;
      while (cursor.next(part)) {
        if (part.number == 1) id = part.bits;
        if (part.number == 4 && part.is_bytes()) lines.push_back(line_of(part.bytes));
      }
      locations[id] = std::move(lines);
    } else if (f.number == 5) {
      uint64_t id = 0;
      Function function;
      while (cursor.next(part)) {
        if (part.number == 1) id = part.bits;
        if (part.number == 2) function.name = part.bits;
        if (part.number == 4) function.file = part.bits;
      }
      functions[id] = function;
    } else if (f.number == 6) {
      strings.push_back(f.text());
    }
  }
  static void take_sample(const Field& part, Sample& sample) {
    if (part.number == 1) take_numbers(part, sample.locations);
    if (part.number == 2) take_numbers(part, sample.values);
    if (part.number != 3 || !part.is_bytes()) return;
    uint64_t key = 0, text = 0;
    Cursor label(part.bytes);
    for (Field l; label.next(l);) {
      if (l.number == 1) key = l.bits;
      if (l.number == 2) text = l.bits;
    }
    sample.labels.emplace_back(key, text);
  }
  static Line line_of(Bytes bytes) {
    Line line;
    Cursor cursor(bytes);
    for (Field part; cursor.next(part);) {
      if (part.number == 1) line.function = part.bits;
      if (part.number == 2) line.line = part.as_int();
    }
    return line;
  }
};

std::string stack_text(const Profile& profile, const Profile::Sample& sample) {
  std::string text;
  size_t frames = 0;
  for (const uint64_t id : sample.locations) {
    const auto location = profile.locations.find(id);
    if (location == profile.locations.end()) continue;
    for (const Profile::Line& line : location->second) {
      if (++frames > kMostFrames) return text;
      const auto function = profile.functions.find(line.function);
      if (function == profile.functions.end()) continue;
      if (!text.empty()) text += '\n';
      text += frame_text(profile.text(function->second.file), line.line,
                         profile.text(function->second.name));
    }
  }
  return text;
}

Result<void> read(const Input& input, trace::Builder& builder) {
  const Profile profile(input.bytes);
  size_t bytes_at = profile.units.size(), count_at = profile.units.size();
  for (size_t i = 0; i < profile.units.size(); ++i) {
    if (profile.text(profile.units[i]) == "bytes") bytes_at = i;
    if (profile.text(profile.units[i]) == "count") count_at = i;
  }
  if (bytes_at == profile.units.size())
    return fail(Code::kUnsupported,
                "a pprof profile without sizes: only profiles of memory are read");
  if (profile.is_cut)
    builder.diagnose(trace::Diagnostic::Severity::kWarning,
                     "the profile is damaged or cut off; what stands before is shown");
  if (profile.time_ns > 0) builder.set_start_ns(profile.time_ns);
  std::map<std::string, MemoryDevice, std::less<>> devices;
  const trace::KeyId bytes_key = builder.key("bytes"), count_key = builder.key("count"),
                     stack_key = builder.key("stack");
  constexpr size_t kMostDevices = 4096;
  for (const Profile::Sample& sample : profile.samples) {
    if (bytes_at >= sample.values.size()) continue;
    std::string_view kind = "buffer", device = "host";
    for (const auto& [key, text] : sample.labels) {
      if (profile.text(key) == "kind") kind = profile.text(text);
      if (profile.text(key) == "device") device = profile.text(text);
    }
    auto found = devices.find(device);
    if (found == devices.end()) {
      if (devices.size() >= kMostDevices) continue;
      found = devices
                  .emplace(std::string(device),
                           MemoryDevice(builder, device, static_cast<int64_t>(devices.size())))
                  .first;
    }
    const std::string stack = stack_text(profile, sample);
    builder.slice(found->second.blocks, {0}, {0}, builder.label(kind));
    builder.arg(bytes_key, {trace::ArgType::kUint, sample.values[bytes_at]});
    if (count_at < sample.values.size())
      builder.arg(count_key, {trace::ArgType::kUint, sample.values[count_at]});
    if (!stack.empty()) builder.arg(stack_key, {trace::ArgType::kText, builder.string(stack)});
  }
  if (builder.slice_count() == 0)
    return fail(Code::kCorrupt, "the profile holds no sample with a size");
  return {};
}

}  // namespace

extern const Importer kPprof;
const Importer kPprof{"device_memory", "memory profile in pprof's format", sniff, read};

}  // namespace sonde::imports
