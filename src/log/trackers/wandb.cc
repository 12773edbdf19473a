// wandb's offline file: seven bytes of header, then blocks of 32 KiB as in LevelDB's log. A record
// is one fragment or several (checksum, length, kind, bytes); fragments do not cross blocks. A
// record holds one protobuf message.
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/strings.h"
#include "codec/wire.h"
#include "log/trackers/readers.h"
#include "log/trackers/tail_file.h"
#include "log/trackers/values.h"
#include "log/trackers/wandb_name.h"

namespace sonde::trackers {
namespace {

constexpr uint64_t kBlock = 32768;
constexpr size_t kFileHead = 7, kFragmentHead = 7;
constexpr size_t kChunk = 1 << 20;
constexpr size_t kMaxRecord = 64 << 20;

enum Fragment : uint8_t { kPadding = 0, kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

namespace record {  // fields of wandb's Record
enum : uint32_t { kHistory = 2, kConfig = 5, kStats = 7, kRun = 17, kExit = 18 };
}

// The checksum of a fragment: CRC-32 (as in zlib) of its kind and its bytes.
uint32_t crc32(uint8_t kind, Bytes bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> made{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xedb88320u ^ (c >> 1) : c >> 1;
      made[i] = c;
    }
    return made;
  }();
  uint32_t crc = 0xffffffffu;
  crc = table[(crc ^ kind) & 0xff] ^ (crc >> 8);
  for (const std::byte b : bytes) crc = table[(crc ^ static_cast<uint32_t>(b)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

struct Item {
  std::string name;
  JsonValue value;
};

// HistoryItem, ConfigItem and StatsItem alike: key = 1, nested_key = 2, value_json = 16.
std::optional<Item> item_of(Bytes message) {
  Item item;
  std::string nested;
  std::string_view json;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (!f.is_bytes()) continue;
    if (f.number == 1) item.name = f.text();
    if (f.number == 2) nested.append(nested.empty() ? "" : "/").append(f.text());
    if (f.number == 16) json = f.text();
  }
  if (!nested.empty()) item.name = std::move(nested);
  auto value = read_python_json(json);
  if (!cursor.ok() || item.name.empty() || !value) return std::nullopt;
  item.name = to_utf8(item.name);
  item.value = std::move(*value);
  return item;
}

// Timestamp{seconds = 1, nanos = 2}
double time_of(Bytes message) {
  double time = 0;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 1) time += static_cast<double>(f.as_int());
    if (f.number == 2) time += static_cast<double>(f.as_int()) * 1e-9;
  }
  return time;
}

class WandbReader final : public RunReader {
 public:
  explicit WandbReader(std::string path) : file_(std::move(path)) {}

  Result<bool> read(RunSink& sink) override {
    SONDE_TRY(is_other, file_.open());
    if (is_other) {
      sink.restart();
      config_.clear();
      config_to_ = 0;
      rewind();
    }
    bool more = true;
    while (more && !sink.full()) {
      const uint64_t begin = file_.position();
      SONDE_TRY(bytes, file_.read(kChunk));
      const size_t used = take_fragments(sink, begin, as_bytes(bytes));
      file_.give_back(bytes.size() - used);
      more = used > 0;
    }
    file_.close();
    return more;
  }

  void rewind() override {
    file_.rewind();
    partial_.clear();
    last_time_ = stats_begin_ = 0;
  }

  Result<io::FileStat> stat() const override { return io::stat_of(file_.path()); }

 private:
  // How many of the bytes were dealt with: all but an unfinished fragment.
  size_t take_fragments(RunSink& sink, uint64_t begin, Bytes bytes) {
    size_t at = 0;
    if (begin == 0) {
      if (bytes.size() < kFileHead) return 0;
      at = kFileHead;
    }
    while (at < bytes.size() && !sink.full()) {
      const auto left = static_cast<size_t>(kBlock - (begin + at) % kBlock);
      if (left < kFragmentHead) {
        if (bytes.size() - at < left) break;
        at += left;
        continue;
      }
      if (bytes.size() - at < kFragmentHead) break;
      const auto checksum = load<uint32_t>(bytes, at);
      const size_t length = load<uint16_t>(bytes, at + 4);
      const auto kind = load<uint8_t>(bytes, at + 6);
      const bool is_padding = kind == kPadding && length == 0;
      if (is_padding || kind > kLast || length > left - kFragmentHead) {
        if (!is_padding) damaged(begin + at);
        if (bytes.size() - at < left) break;
        at += left;
        continue;
      }
      if (bytes.size() - at - kFragmentHead < length) break;
      const Bytes body = bytes.subspan(at + kFragmentHead, length);
      const uint64_t end = begin + at + kFragmentHead + length;
      if (crc32(kind, body) == checksum) {
        take_fragment(sink, kind, body, end);
      } else {
        damaged(begin + at);
      }
      at += kFragmentHead + length;
    }
    return at;
  }

  void damaged(uint64_t offset) {
    partial_.clear();
    if (offset < warned_to_) return;
    warned_to_ = offset + 1;
    log::warn("{}: the record at byte {} is damaged and was skipped", file_.path(), offset);
  }

  void take_fragment(RunSink& sink, uint8_t kind, Bytes body, uint64_t end) {
    if (kind == kWhole) return take_record(sink, body, end);
    if (kind == kFirst) partial_.clear();
    if (kind != kFirst && partial_.empty()) return;  // its beginning is damaged
    partial_.append(as_text(body));
    if (partial_.size() > kMaxRecord) {
      damaged(end);
    } else if (kind == kLast) {
      take_record(sink, as_bytes(partial_), end);
      partial_.clear();
    }
  }

  void take_record(RunSink& sink, Bytes message, uint64_t end) {
    wire::Cursor cursor(message);
    for (wire::Field f; cursor.next(f);) {
      if (!f.is_bytes()) {
        continue;
      } else if (f.number == record::kHistory) {
        take_history(sink, f.bytes);
      } else if (f.number == record::kStats) {
        take_stats(sink, f.bytes);
      } else if (f.number == record::kRun) {
        take_run(sink, f.bytes, end);
      } else if (f.number == record::kConfig) {
        take_config(f.bytes, end);
      } else if (f.number == record::kExit) {
        bool failed = false;
        wire::Cursor exit(f.bytes);
        for (wire::Field e; exit.next(e);) failed = failed || (e.number == 1 && e.bits != 0);
        sink.ended(failed ? RunSink::End::kFailed : RunSink::End::kFinished, last_time_);
      }
    }
  }

  void take_run(RunSink& sink, Bytes run, uint64_t end) {
    wire::Cursor cursor(run);
    for (wire::Field f; cursor.next(f);) {
      if (!f.is_bytes()) continue;
      if (f.number == 4) take_config(f.bytes, end);
      if (f.number == 17) sink.started(last_time_ = time_of(f.bytes));
    }
  }

  // Read a second time (after a rewind) it must not undo what later records said.
  void take_config(Bytes message, uint64_t end) {
    if (end <= config_to_) return;
    wire::Cursor cursor(message);
    for (wire::Field f; cursor.next(f);) {
      if (f.number != 1 || !f.is_bytes()) continue;
      const auto item = item_of(f.bytes);
      if (item && item->name != "_wandb" && !item->name.starts_with("_wandb/"))
        add_config(config_, item->name, item->value);
    }
    config_to_ = end;
  }

  void take_history(RunSink& sink, Bytes message) {
    std::vector<Item> items;
    std::optional<double> step;
    double time = last_time_;
    wire::Cursor cursor(message);
    for (wire::Field f; cursor.next(f);) {
      if (!f.is_bytes()) continue;
      if (f.number == 2 && !step) {  // HistoryStep{num = 1}
        wire::Cursor inner(f.bytes);
        for (wire::Field n; inner.next(n);)
          if (n.number == 1) step = static_cast<double>(n.as_int());
      }
      if (f.number != 1) continue;
      auto item = item_of(f.bytes);
      if (!item) continue;
      if (item->name == "_step") {
        step = number_of(item->value);
      } else if (item->name == "_timestamp") {
        time = number_of(item->value).value_or(time);
      } else if (!item->name.starts_with('_')) {
        items.push_back(std::move(*item));
      }
    }
    last_time_ = time;
    for (const Item& item : items)
      hand_on(sink, item.name, item.value, step_of(step.value_or(0)), time);
  }

  // Machine metrics have no step of their own; theirs are seconds since the first of them.
  void take_stats(RunSink& sink, Bytes message) {
    double time = last_time_;
    std::vector<Item> items;
    wire::Cursor cursor(message);
    for (wire::Field f; cursor.next(f);) {
      if (!f.is_bytes()) continue;
      if (f.number == 2) time = time_of(f.bytes);
      if (f.number != 3) continue;
      if (auto item = item_of(f.bytes)) items.push_back(std::move(*item));
    }
    if (stats_begin_ == 0) stats_begin_ = time;
    for (const Item& item : items) {
      std::string_view name = item.name;
      if (name.starts_with("system.")) name.remove_prefix(7);
      hand_on(sink, "system/" + std::string(name), item.value, step_of(time - stats_begin_), time);
    }
  }

  TailFile file_;
  std::string partial_;  // the fragments of an unfinished record
  uint64_t config_to_ = 0, warned_to_ = 0;
  double last_time_ = 0, stats_begin_ = 0;
};

}  // namespace

std::string wandb_name(Bytes head) {
  // The run is among the first records, each of which is one fragment unless its config is huge.
  size_t at = kFileHead;
  while (at + kFragmentHead <= head.size()) {
    const size_t length = load<uint16_t>(head, at + 4);
    const auto kind = load<uint8_t>(head, at + 6);
    at += kFragmentHead;
    if ((kind != kWhole && kind != kFirst) || length > head.size() - at) break;
    wire::Cursor cursor(head.subspan(at, length));
    for (wire::Field f; cursor.next(f);) {
      if (f.number != record::kRun || !f.is_bytes()) continue;
      std::string id, project, name;
      wire::Cursor run(f.bytes);
      for (wire::Field r; run.next(r);) {
        if (r.number == 1 && r.is_bytes()) id = r.text();
        if (r.number == 3 && r.is_bytes()) project = r.text();
        if (r.number == 8 && r.is_bytes()) name = r.text();
      }
      if (name.empty()) name = id;
      return run_name_part(project.empty() ? name : project + "/" + name);
    }
    if (kind == kFirst) break;
    at += length;
  }
  return {};
}

std::unique_ptr<RunReader> read_wandb(std::string path) {
  return std::make_unique<WandbReader>(std::move(path));
}

}  // namespace sonde::trackers
