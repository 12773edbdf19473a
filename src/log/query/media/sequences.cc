#include "log/query/media/sequences.h"

#include <algorithm>

#include "codec/wire.h"
#include "log/event/blob.h"
#include "log/query/media/samples.h"

namespace sonde::query {
namespace {

constexpr uint64_t kHead = 2048;  // tag, metadata and shape of nearly every value fit

// A message whose end may be cut off. next() gives the fields that begin in what is there; the
// payload of the last one may be shorter than it should be.
class CutMessage {
 public:
  explicit CutMessage(Bytes bytes) : p_(bytes.data()), end_(p_ + bytes.size()) {}

  struct Field {
    uint32_t number = 0;
    bool is_bytes = false;
    Bytes bytes;
    uint64_t value = 0;
    bool is_whole = true;
  };

  bool next(Field& field) {
    uint64_t key = 0;
    if (p_ >= end_ || !(p_ = wire::read_varint(p_, end_, key))) return stop();
    field = {};
    field.number = static_cast<uint32_t>(key >> 3);
    switch (key & 7) {
      case 0:
        return (p_ = wire::read_varint(p_, end_, field.value)) ? true : stop();
      case 1:
        return skip(8);
      case 5:
        return skip(4);
      case 2: {
        uint64_t length = 0;
        if (!(p_ = wire::read_varint(p_, end_, length))) return stop();
        const auto there = static_cast<uint64_t>(end_ - p_);
        field.is_bytes = true;
        field.is_whole = length <= there;
        field.bytes = {p_, static_cast<size_t>(std::min(length, there))};
        p_ += field.bytes.size();
        return true;
      }
      default:
        return stop();
    }
  }

 private:
  bool skip(ptrdiff_t bytes) {
    if (end_ - p_ < bytes) return stop();
    p_ += bytes;
    return true;
  }
  bool stop() {
    p_ = end_;
    return false;
  }

  const std::byte* p_;
  const std::byte* end_;
};

// Elements along the first axis of a TensorProto; nothing when the shape is not in the head.
std::optional<uint32_t> first_axis(Bytes tensor) {
  CutMessage message(tensor);
  for (CutMessage::Field field; message.next(field);) {
    if (field.number == 8) return std::nullopt;  // strings before the shape: read it all
    if (field.number != 2 || !field.is_bytes) continue;
    if (!field.is_whole) return std::nullopt;
    CutMessage shape(field.bytes);
    for (CutMessage::Field dim; shape.next(dim);) {
      if (dim.number != 2 || !dim.is_bytes) continue;
      uint64_t size = 0;
      CutMessage inner(dim.bytes);
      for (CutMessage::Field part; inner.next(part);) {
        if (part.number == 1) size = part.value;
      }
      return static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX));
    }
    return 1;  // rank 0
  }
  return std::nullopt;
}

std::optional<uint32_t> length_of_value(Bytes value) {
  CutMessage message(value);
  for (CutMessage::Field field; message.next(field);) {
    if (!field.is_bytes) continue;
    if (field.number == 4) return 3;  // an old image: width, height, bytes
    if (field.number == 6) return 1;  // an old clip
    if (field.number == 8) return first_axis(field.bytes);
    if (!field.is_whole) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<uint32_t> length_in_head(Bytes head, uint32_t index) {
  CutMessage event(head);
  for (CutMessage::Field field; event.next(field);) {
    if (field.number != 5 || !field.is_bytes) {
      if (field.is_bytes && !field.is_whole) return std::nullopt;
      continue;
    }
    CutMessage summary(field.bytes);
    for (CutMessage::Field value; summary.next(value);) {
      if (value.number != 1 || !value.is_bytes) continue;
      if (index == 0) return length_of_value(value.bytes);
      if (!value.is_whole) return std::nullopt;
      --index;
    }
  }
  return std::nullopt;
}

bool is_same(const store::Reference& a, const store::Reference& b) {
  return a.file == b.file && a.offset == b.offset && a.value == b.value;
}

}  // namespace

Result<uint32_t> sequence_length(const store::BlobReader& blobs, const store::Reference& where,
                                 std::string_view plugin) {
  if (where.length > kHead) {
    SONDE_TRY(const head, blobs.head(where, kHead));
    if (const auto length = length_in_head(as_bytes(head), where.value)) return *length;
  }
  SONDE_TRY(const payload, blobs.event(where));
  SONDE_TRY(const sequence, event::blob_sequence(as_bytes(payload), where.value, plugin));
  return static_cast<uint32_t>(sequence.items.size());
}

SequenceLengths sequence_lengths(const store::BlobReader& blobs, const store::Series& series,
                                 const SequenceLengths* earlier) {
  SequenceLengths counted;
  const uint64_t count = series.size();
  const auto points = series.points({0, count});
  if (earlier && !earlier->lengths.empty() && earlier->lengths.size() <= count &&
      is_same(points[earlier->lengths.size() - 1].where, earlier->last)) {
    counted = *earlier;
  }
  counted.lengths.reserve(count);
  for (uint64_t i = counted.lengths.size(); i < count; ++i) {
    const auto length = sequence_length(blobs, points[i].where, series.metadata().plugin);
    counted.lengths.push_back(length ? *length : 0);
  }
  if (count > 0) counted.last = points[count - 1].where;
  return counted;
}

std::vector<SequencePoint> sequence_points(const store::Series& series,
                                           const SequenceLengths& lengths, uint64_t limit) {
  std::vector<SequencePoint> all;
  for (const store::Range& range : series.ranges(store::View::kNewest)) {
    const auto points = series.points(range);
    for (size_t i = 0; i < points.size(); ++i) {
      const uint64_t position = range.begin + i;
      all.push_back({points[i], position < lengths.lengths.size() ? lengths.lengths[position] : 0});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.point.step < b.point.step; });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const auto& a, const auto& b) { return a.point.step == b.point.step; }),
            all.end());
  if (all.size() <= limit) return all;
  std::vector<SequencePoint> kept;
  for (const uint64_t position : even_positions(all.size(), limit)) kept.push_back(all[position]);
  return kept;
}

uint32_t longest(const store::Series& series, const SequenceLengths& lengths) {
  uint32_t most = 0;
  for (const store::Range& range : series.ranges(store::View::kNewest)) {
    for (uint64_t i = range.begin; i < std::min<uint64_t>(range.end, lengths.lengths.size()); ++i) {
      most = std::max(most, lengths.lengths[i]);
    }
  }
  return most;
}

}  // namespace sonde::query
