// torch.cuda.memory._dump_snapshot: a pickle of plain data with the allocator's segments and blocks
// and, where its history was recorded, what it did. The pickle is read, never run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "capture/import/memory/memory_trace.h"
#include "capture/import/registry.h"
#include "codec/pickle.h"

namespace sonde::imports {
namespace {

using trace::Builder;
using Value = Pickle::Value;

constexpr int64_t kPsInUs = 1'000'000;
constexpr size_t kMostFrames = 256;  // of one stack
constexpr size_t kMostDevices = 4096;

bool sniff(std::string_view, Bytes head) {
  const std::string_view text = as_text(head);
  if (text.size() < 8 || text[0] != '\x80' || text[1] < 2 || text[1] > 5) return false;
  // The dictionary's first key stands right behind the header.
  const std::string_view start = text.substr(0, 128);
  return start.find('}') != start.npos &&
         (start.find("segments") != start.npos || start.find("device_traces") != start.npos ||
          start.find("external_annotations") != start.npos ||
          start.find("allocator_settings") != start.npos);
}

class Reader {
 public:
  Reader(const Pickle& pickle, Builder& builder)
      : pickle_(pickle),
        builder_(builder),
        address_(builder.key("addr")),
        bytes_(builder.key("bytes")),
        requested_(builder.key("requested")),
        stream_(builder.key("stream")),
        stack_(builder.key("stack")) {}

  Result<void> run() {
    const Value& root = pickle_.root();
    if (root.kind != Pickle::Kind::kDict)
      return fail(Code::kCorrupt, "the pickle is no dictionary with segments and device_traces");
    const auto traces = pickle_.items(pickle_.at(root, "device_traces"));
    const auto segments = pickle_.items(pickle_.at(root, "segments"));
    if (pickle_.at(root, "segments").kind == Pickle::Kind::kNone && traces.empty())
      return fail(Code::kUnsupported,
                  "the pickle has neither segments nor device_traces: it is no snapshot of "
                  "torch.cuda.memory");
    for (const auto& [key, value] : settings(pickle_.at(root, "allocator_settings")))
      builder_.add_metadata(std::string(key), value);
    for (const Value& segment : segments) read_segment(segment);
    find_origin(traces);
    for (size_t device = 0; device < std::min(traces.size(), kMostDevices); ++device)
      read_trace(static_cast<int64_t>(device), pickle_.items(traces[device]));
    if (events_ == 0)
      builder_.diagnose(trace::Diagnostic::Severity::kInfo,
                        "the snapshot has no history: call torch.cuda.memory._record_memory_history"
                        "() before the steps to see who allocated what, and when");
    return {};
  }

 private:
  std::vector<std::pair<std::string_view, std::string>> settings(const Value& dict) const {
    std::vector<std::pair<std::string_view, std::string>> out;
    const auto pairs = pickle_.pairs(dict);
    for (size_t i = 0; i + 1 < pairs.size() && i < 200; i += 2) {
      const Value& value = pairs[i + 1];
      if (value.kind == Pickle::Kind::kText) {
        out.emplace_back(pickle_.text(pairs[i]), pickle_.text(value));
      } else if (value.is_number()) {
        out.emplace_back(pickle_.text(pairs[i]), std::to_string(pickle_.integer(value)));
      }
    }
    return out;
  }

  MemoryDevice& device(int64_t id) {
    const auto found = devices_.find(id);
    if (found != devices_.end()) return found->second;
    return devices_.emplace(id, MemoryDevice(builder_, fmt::format("GPU {}", id), id))
        .first->second;
  }

  // Entries share their list of frames or repeat it: each list is put together once.
  trace::StringId stack_of(const Value& frames) {
    if (frames.kind != Pickle::Kind::kList) return trace::kNone;
    const auto [found, is_new] = stacks_.emplace(Pickle::identity(frames), trace::kNone);
    if (!is_new) return found->second;
    std::string text;
    const auto items = pickle_.items(frames);
    for (size_t i = 0; i < std::min(items.size(), kMostFrames); ++i) {
      const Value& frame = items[i];
      if (!text.empty()) text += '\n';
      text += frame_text(pickle_.text(pickle_.at(frame, "filename")),
                         pickle_.integer(pickle_.at(frame, "line")),
                         pickle_.text(pickle_.at(frame, "name")));
    }
    if (!text.empty()) found->second = builder_.string(text);
    return found->second;
  }

  void add(trace::KeyId key, const Value& value) {
    if (!value.is_number()) return;
    builder_.arg(key, {trace::ArgType::kUint, static_cast<uint64_t>(pickle_.integer(value))});
  }
  void add_stack(const Value& frames) {
    const trace::StringId stack = stack_of(frames);
    if (stack != trace::kNone) builder_.arg(stack_, {trace::ArgType::kText, stack});
  }
  void add_text(std::string_view key, const Value& value) {
    const std::string_view text = pickle_.text(value);
    if (!text.empty()) builder_.arg(key, text);
  }

  void read_segment(const Value& segment) {
    if (segment.kind != Pickle::Kind::kDict) return;
    const int64_t id = pickle_.integer(pickle_.at(segment, "device"));
    if (devices_.size() >= kMostDevices && !devices_.contains(id)) return;
    const MemoryDevice tracks = device(id);
    std::string_view type = pickle_.text(pickle_.at(segment, "segment_type"));
    if (type.empty()) type = "segment";
    builder_.slice(tracks.segments, {0}, {0}, builder_.label(type));
    add(address_, pickle_.at(segment, "address"));
    add(bytes_, pickle_.at(segment, "total_size"));
    add(builder_.key("allocated"), pickle_.at(segment, "allocated_size"));
    add(builder_.key("active"), pickle_.at(segment, "active_size"));
    add(requested_, pickle_.at(segment, "requested_size"));
    add(stream_, pickle_.at(segment, "stream"));
    add(builder_.key("expandable"), pickle_.at(segment, "is_expandable"));
    add_stack(pickle_.at(segment, "frames"));
    // Old snapshots name no address of a block: they follow each other.
    int64_t address = pickle_.integer(pickle_.at(segment, "address"));
    for (const Value& block : pickle_.items(pickle_.at(segment, "blocks"))) {
      if (block.kind != Pickle::Kind::kDict) continue;
      std::string_view state = pickle_.text(pickle_.at(block, "state"));
      if (state.empty()) state = "unknown";
      builder_.slice(tracks.blocks, {0}, {0}, builder_.label(state));
      const Value& own = pickle_.at(block, "address");
      if (own.is_number()) address = pickle_.integer(own);
      builder_.arg(address_, {trace::ArgType::kUint, static_cast<uint64_t>(address)});
      add(bytes_, pickle_.at(block, "size"));
      add(requested_, pickle_.at(block, "requested_size"));
      add(stream_, pickle_.at(segment, "stream"));
      add(builder_.key("segment"), pickle_.at(segment, "address"));
      add_stack(frames_of(block));
      address =
          static_cast<int64_t>(static_cast<uint64_t>(address) +
                               static_cast<uint64_t>(pickle_.integer(pickle_.at(block, "size"))));
    }
  }
  // Before PyTorch 2.1 a block had a history instead, its newest entry first.
  const Value& frames_of(const Value& block) const {
    const Value& frames = pickle_.at(block, "frames");
    if (frames.kind == Pickle::Kind::kList) return frames;
    const auto history = pickle_.items(pickle_.at(block, "history"));
    return history.empty() ? frames : pickle_.at(history[0], "frames");
  }

  void find_origin(std::span<const Value> traces) {
    for (const Value& entries : traces) {
      for (const Value& entry : pickle_.items(entries)) {
        const Value& time = pickle_.at(entry, "time_us");
        if (!time.is_number()) continue;
        const int64_t us = pickle_.integer(time);
        if (!origin_us_ || us < *origin_us_) origin_us_ = us;
      }
    }
    if (origin_us_ && *origin_us_ > 0 && *origin_us_ < INT64_MAX / 1000)
      builder_.set_start_ns(*origin_us_ * 1000);
  }

  void read_trace(int64_t id, std::span<const Value> entries) {
    if (entries.empty()) return;
    const MemoryDevice tracks = device(id);
    int64_t order = 0, last_us = 0;
    bool has_times = true;
    for (const Value& entry : entries) {
      if (entry.kind != Pickle::Kind::kDict) continue;
      std::string_view action = pickle_.text(pickle_.at(entry, "action"));
      if (action.empty()) action = "unknown";
      const Value& time = pickle_.at(entry, "time_us");
      has_times = has_times && time.is_number();
      int64_t us = time.is_number() && origin_us_ ? pickle_.integer(time) - *origin_us_ : order;
      // Events stand in the order in which they happened; clocks of several threads may not.
      us = std::max(us, last_us);
      last_us = us;
      ++order;
      const int64_t ps = us > INT64_MAX / kPsInUs ? trace::kTimeLimit : us * kPsInUs;
      builder_.slice(tracks.events, {trace::clamped_begin(ps)}, {0}, builder_.label(action));
      add(address_, pickle_.at(entry, "addr"));
      add(bytes_, pickle_.at(entry, "size"));
      add(stream_, pickle_.at(entry, "stream"));
      add(builder_.key("device_free"), pickle_.at(entry, "device_free"));
      add_text("compile_context", pickle_.at(entry, "compile_context"));
      add_text("user_metadata", pickle_.at(entry, "user_metadata"));
      add_stack(pickle_.at(entry, "frames"));
      ++events_;
    }
    if (!has_times)
      builder_.diagnose(trace::Diagnostic::Severity::kInfo,
                        fmt::format("the events of GPU {} have no times: one microsecond stands "
                                    "for one event",
                                    id));
  }

  const Pickle& pickle_;
  Builder& builder_;
  trace::KeyId address_, bytes_, requested_, stream_, stack_;
  std::map<int64_t, MemoryDevice> devices_;
  boost::unordered_flat_map<uint64_t, trace::StringId> stacks_;
  std::optional<int64_t> origin_us_;
  uint64_t events_ = 0;
};

Result<void> read(const Input& input, Builder& builder) {
  SONDE_TRY(pickle, Pickle::read(input.bytes));
  return Reader(pickle, builder).run();
}

}  // namespace

extern const Importer kTorchSnapshot;
const Importer kTorchSnapshot{"torch_memory", "memory snapshot of PyTorch", sniff, read};

}  // namespace sonde::imports
