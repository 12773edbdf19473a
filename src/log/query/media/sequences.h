// Blob sequences (images, audio) without reading the blobs: how many elements each step holds is in
// the first bytes of its record.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/model/snapshot.h"

namespace sonde::query {

// The number of elements of the value that `where` points to (for images, width and height count as
// two), read from the head of the event when it suffices.
Result<uint32_t> sequence_length(const store::BlobReader& blobs, const store::Reference& where,
                                 std::string_view plugin);

// Elements of every point of a series, in arrival order. `earlier` is a result for the same series
// at an earlier time: only new points are read. An unreadable point counts as empty.
struct SequenceLengths {
  std::vector<uint32_t> lengths;
  store::Reference last;  // of the last point counted, to see that the series is still the same
};
SequenceLengths sequence_lengths(const store::BlobReader& blobs, const store::Series& series,
                                 const SequenceLengths* earlier);

// One step of a sequence as it is listed: by step, the first of equal steps.
struct SequencePoint {
  store::BlobPoint point;
  uint32_t length = 0;
};
std::vector<SequencePoint> sequence_points(const store::Series& series,
                                           const SequenceLengths& lengths, uint64_t limit);
uint32_t longest(const store::Series& series, const SequenceLengths& lengths);

}  // namespace sonde::query
