#include "capture/analysis/pytorch/memory_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

namespace sonde::capture::pytorch {
namespace {

// c10::DeviceType as the profiler writes it.
std::string device_name(int64_t type, int64_t id) {
  switch (type) {
    case 0:
      return "CPU";
    case 1:
    case 6:
      return fmt::format("GPU{}", id);
    case 9:
      return fmt::format("XLA{}", id);
    case 12:
      return fmt::format("XPU{}", id);
    case 13:
      return fmt::format("MPS{}", id);
    case 15:
      return fmt::format("HPU{}", id);
    case 19:
      return fmt::format("MTIA{}", id);
    default:
      return fmt::format("device{}:{}", type, id);
  }
}

// Walks the nodes of every track alongside the records, which come in order of time.
class NodeFinder {
 public:
  explicit NodeFinder(const Capture& c) : c_(c) {
    for (uint32_t n = 0; n < c.nodes.size(); ++n)
      cursors_.try_emplace(c.nodes[n].track, Cursor{n, {}});
  }

  // The innermost node open at the time, kNone where none is.
  uint32_t at(trace::TrackId track, int64_t time) {
    const auto found = cursors_.find(track);
    if (found == cursors_.end()) return kNone;
    Cursor& cursor = found->second;
    for (; cursor.next < c_.nodes.size() && c_.nodes[cursor.next].track == track &&
           c_.nodes[cursor.next].begin <= time;
         ++cursor.next) {
      pop(cursor, c_.nodes[cursor.next].begin);
      if (!c_.nodes[cursor.next].merged) cursor.open.push_back(cursor.next);
    }
    pop(cursor, time);
    return cursor.open.empty() ? kNone : cursor.open.back();
  }

 private:
  struct Cursor {
    uint32_t next;
    std::vector<uint32_t> open;
  };
  void pop(Cursor& cursor, int64_t time) const {
    while (!cursor.open.empty() && c_.nodes[cursor.open.back()].end <= time) cursor.open.pop_back();
  }
  const Capture& c_;
  boost::unordered_flat_map<trace::TrackId, Cursor> cursors_;
};

struct Place {
  uint16_t device;
  uint64_t address;
  friend bool operator==(const Place&, const Place&) = default;
};
struct PlaceHash {
  size_t operator()(const Place& p) const {
    return (p.address ^ uint64_t{p.device} << 56) * 0x9E3779B97F4A7C15u >> 5;
  }
};

void pair_up(Memory& memory) {
  boost::unordered_flat_map<Place, uint32_t, PlaceHash> live;
  std::vector<uint32_t> orphans;
  for (uint32_t i = 0; i < memory.records.size(); ++i) {
    const MemoryRecord& record = memory.records[i];
    if (!record.has_address) continue;
    const Place place{record.device, record.address};
    if (record.bytes > 0) {
      live[place] = i;
      continue;
    }
    const auto found = live.find(place);
    if (found == live.end()) {
      orphans.push_back(i);
      continue;
    }
    memory.lifetimes.push_back({found->second, i});
    live.erase(found);
  }
  std::vector<uint32_t> kept;
  for (const auto& [place, index] : live) kept.push_back(index);
  std::sort(kept.begin(), kept.end());
  for (const uint32_t index : kept) memory.lifetimes.push_back({index, kNone});
  for (const uint32_t index : orphans) memory.lifetimes.push_back({kNone, index});
}

}  // namespace

Memory memory_of(const Capture& c, Window window) {
  Memory memory;
  NodeFinder nodes(c);
  for (const trace::SliceId s : c.memory) {
    MemoryRecord record;
    record.time_ps = c.trace.begin(s).value;
    const uint32_t node = nodes.at(c.trace.track_of(s), record.time_ps);
    if (!window.holds(record.time_ps)) continue;
    int64_t type = 0, id = 0;
    const trace::ArgRange args = c.trace.args(s);
    for (uint32_t a = args.first; a < args.first + args.count; ++a) {
      const trace::Arg arg = c.trace.arg(a);
      if (!arg.value.is_number()) continue;
      if (arg.key == c.words.bytes) record.bytes = arg.value.as_int();
      if (arg.key == c.words.device_type) type = arg.value.as_int();
      if (arg.key == c.words.device_id) id = arg.value.as_int();
      if (arg.key == c.words.allocated) record.allocated = arg.value.as_int();
      if (arg.key == c.words.reserved) record.reserved = arg.value.as_int();
      if (arg.key != c.words.address) continue;
      record.address = arg.value.as_uint();
      record.has_address = true;
    }
    const std::string name = device_name(type, id);
    const auto known = std::find(memory.devices.begin(), memory.devices.end(), name);
    record.device = static_cast<uint16_t>(known - memory.devices.begin());
    if (known == memory.devices.end()) memory.devices.push_back(name);
    if (memory.devices.size() > 4096) break;  // no machine has that many; ids are nonsense
    if (node != kNone && c.nodes[node].is_row) record.node = node;
    memory.records.push_back(record);
  }
  pair_up(memory);
  return memory;
}

std::string operator_name(const Capture& c, const MemoryRecord& record) {
  if (record.node == kNone) return "<unknown>";
  const std::string_view name = c.name_of(c.nodes[record.node]);
  const uint32_t parent = c.nodes[record.node].parent;
  if (!name.starts_with("aten::empty") || parent == kNone) return std::string(name);
  return fmt::format("{} ({})", c.name_of(c.nodes[parent]), name);
}

std::vector<std::map<std::string, MemoryTotal>> memory_totals(const Capture& c,
                                                              const Memory& memory) {
  std::vector<std::map<std::string, MemoryTotal>> totals(memory.devices.size());
  for (const MemoryRecord& record : memory.records) {
    for (uint32_t n = record.node; n != kNone; n = c.nodes[n].parent) {
      if (!c.nodes[n].is_row) continue;
      MemoryTotal& total = totals[record.device][std::string(c.name_of(c.nodes[n]))];
      total.increase += record.bytes;
      if (n == record.node) total.self_increase += record.bytes;
      if (record.bytes <= 0) continue;
      total.allocated += record.bytes;
      ++total.allocations;
      if (n != record.node) continue;
      total.self_allocated += record.bytes;
      ++total.self_allocations;
    }
  }
  boost::unordered_flat_map<trace::StringId, int64_t> calls;
  for (const Node& node : c.nodes) {
    if (node.is_row && !node.merged) ++calls[c.trace.label(node.slice).name];
  }
  for (auto& by_name : totals) {
    std::erase_if(by_name, [](const auto& entry) {
      const MemoryTotal& t = entry.second;
      return t.increase == 0 && t.self_increase == 0 && t.allocations == 0;
    });
    for (auto& [name, total] : by_name) {
      const auto found = calls.find(c.trace.string_id(name));
      if (found != calls.end()) total.calls = found->second;
    }
  }
  return totals;
}

}  // namespace sonde::capture::pytorch
