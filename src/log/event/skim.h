// The outline of a large event: its tags, kinds and metadata without its bodies. Reads a few
// hundred bytes at the head of a value and jumps over the rest, so two gigabytes of images load in
// milliseconds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "log/event/value.h"

namespace sonde::event {

struct Outline {
  double wall_time = 0;
  Step step = 0;
  What what = What::kNothing;
  struct Value {
    uint32_t index = 0;
    ValueKind kind = ValueKind::kNone;
    float simple = 0;
    std::string tag;
    std::string metadata;
    bool has_metadata = false;
  };
  std::vector<Value> values;  // one stands for a graph or run metadata event, as in find_value
};

// Gives `length` bytes (at most 64 KB) at `offset` of the payload; the view lives until the next
// call. Fewer bytes are an error.
using ReadAt = std::function<Result<Bytes>(uint64_t offset, size_t length)>;

// kCorrupt when the bytes are not an event, or one with too many values or too long names to be
// worth skimming (the caller then reads the record whole).
Result<Outline> skim(uint64_t length, const ReadAt& read);

}  // namespace sonde::event
