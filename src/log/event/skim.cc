#include "log/event/skim.h"

#include <algorithm>

#include "codec/fields/event.h"

namespace sonde::event {
namespace {

constexpr size_t kMaxValues = 4096;
constexpr size_t kMaxText = 60'000;

// Walks the fields of a message that is not in memory: [at, end) of the payload.
class FarCursor {
 public:
  FarCursor(const ReadAt& read, uint64_t at, uint64_t end) : read_(read), at_(at), end_(end) {}

  struct Field {
    uint32_t number = 0;
    uint32_t type = 0;
    uint64_t bits = 0;
    uint64_t begin = 0, end = 0;  // of a length-delimited body
  };

  bool next(Field& field) {
    if (at_ >= end_) return false;
    const size_t window = std::min<uint64_t>(20, end_ - at_);
    const auto bytes = read_(at_, window);
    if (!bytes || bytes->size() < window) return broken();
    const std::byte* begin = bytes->data();
    const std::byte* limit = begin + window;
    uint64_t key;
    const std::byte* p = wire::read_varint(begin, limit, key);
    if (!p || (key >> 3) == 0 || (key >> 3) > 0x1fffffff) return broken();
    field.number = static_cast<uint32_t>(key >> 3);
    field.type = static_cast<uint32_t>(key & 7);
    if (field.type == 0) {
      if (!(p = wire::read_varint(p, limit, field.bits))) return broken();
    } else if (field.type == 1 || field.type == 5) {
      const size_t width = field.type == 1 ? 8 : 4;
      if (static_cast<size_t>(limit - p) < width) return broken();
      field.bits = 0;
      std::memcpy(&field.bits, p, width);
      p += width;
    } else if (field.type == 2) {
      uint64_t length;
      if (!(p = wire::read_varint(p, limit, length))) return broken();
      field.begin = at_ + static_cast<uint64_t>(p - begin);
      if (length > end_ - field.begin) return broken();
      field.end = field.begin + length;
      at_ = field.end;
      return true;
    } else {
      return broken();  // groups do not occur in events worth skimming
    }
    at_ += static_cast<uint64_t>(p - begin);
    return true;
  }

  bool ok() const { return ok_; }

 private:
  bool broken() {
    ok_ = false;
    return false;
  }
  const ReadAt& read_;
  uint64_t at_, end_;
  bool ok_ = true;
};

class Skimmer {
 public:
  explicit Skimmer(const ReadAt& read) : read_(read) {}

  bool event(uint64_t length, Outline& out) {
    FarCursor cursor(read_, 0, length);
    for (FarCursor::Field f; cursor.next(f);) {
      if (f.number == fields::Event::kWallTime && f.type == 1)
        out.wall_time = std::bit_cast<double>(f.bits);
      if (f.number == fields::Event::kStep && f.type == 0) out.step = static_cast<Step>(f.bits);
      if (f.number < fields::Event::kFileVersion || f.number > fields::Event::kMetaGraphDef ||
          f.type != 2)
        continue;
      const auto what = static_cast<What>(f.number);
      if (out.what != what) out.values.clear();
      out.what = what;
      if (what == What::kSummary && !summary(f, out)) return false;
      if (what == What::kGraphDef) {
        Outline::Value graph;
        graph.kind = ValueKind::kGraphDef;
        graph.tag = kRunGraphTag;
        out.values = {std::move(graph)};
      }
      if (what == What::kTaggedRunMetadata && !run_metadata(f, out)) return false;
    }
    return cursor.ok();
  }

 private:
  bool text(const FarCursor::Field& f, std::string& out) {
    if (f.end - f.begin > kMaxText) return false;
    const auto bytes = read_(f.begin, f.end - f.begin);
    if (!bytes || bytes->size() != f.end - f.begin) return false;
    out = as_text(*bytes);
    return true;
  }

  bool summary(const FarCursor::Field& body, Outline& out) {
    FarCursor cursor(read_, body.begin, body.end);
    for (FarCursor::Field f; cursor.next(f);) {
      if (f.number != fields::Summary::kValue || f.type != 2) continue;
      if (out.values.size() >= kMaxValues || !value(f, out)) return false;
    }
    return cursor.ok();
  }

  bool value(const FarCursor::Field& body, Outline& out) {
    Outline::Value value;
    value.index = static_cast<uint32_t>(out.values.size());
    std::string node_name;
    FarCursor cursor(read_, body.begin, body.end);
    for (FarCursor::Field f; cursor.next(f);) {
      if (f.number == fields::SummaryValue::kSimpleValue && f.type == 5) {
        value.kind = ValueKind::kSimple;
        value.simple = std::bit_cast<float>(static_cast<uint32_t>(f.bits));
      }
      if (f.type != 2) continue;
      bool ok = true;
      switch (f.number) {
        case fields::SummaryValue::kTag:
          ok = text(f, value.tag);
          break;
        case fields::SummaryValue::kOldHistogram:
          value.kind = ValueKind::kOldHistogram;
          break;
        case fields::SummaryValue::kImage:
          value.kind = ValueKind::kImage;
          break;
        case fields::SummaryValue::kHistogram:
          value.kind = ValueKind::kHisto;
          break;
        case fields::SummaryValue::kAudio:
          value.kind = ValueKind::kAudio;
          break;
        case fields::SummaryValue::kNodeName:
          ok = text(f, node_name);
          break;
        case fields::SummaryValue::kTensor:
          value.kind = ValueKind::kTensor;
          break;
        case fields::SummaryValue::kMetadata:
          ok = text(f, value.metadata);
          value.has_metadata = true;
          break;
        default:
          break;
      }
      if (!ok) return false;
    }
    if (value.tag.empty() && value.kind == ValueKind::kTensor) value.tag = node_name;
    out.values.push_back(std::move(value));
    return cursor.ok();
  }

  bool run_metadata(const FarCursor::Field& body, Outline& out) {
    Outline::Value value;
    value.kind = ValueKind::kTaggedRunMetadata;
    FarCursor cursor(read_, body.begin, body.end);
    for (FarCursor::Field f; cursor.next(f);) {
      if (f.number == fields::TaggedRunMetadata::kTag && f.type == 2 && !text(f, value.tag))
        return false;
    }
    out.values = {std::move(value)};
    return cursor.ok();
  }

  const ReadAt& read_;
};

}  // namespace

Result<Outline> skim(uint64_t length, const ReadAt& read) {
  Outline outline;
  if (!Skimmer(read).event(length, outline))
    return fail(Code::kCorrupt, "the record is not an event");
  return outline;
}

}  // namespace sonde::event
