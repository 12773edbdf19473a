// What a viewport shows of a trace, at a cost that depends on its pixels and not on the trace:
// slices at least a pixel wide come out exactly, narrower neighbours merge into a cell that says
// how busy it was and which slice in it was the longest. Rows are indexed once, on first use.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "capture/trace/trace.h"

namespace sonde::trace {

struct Cell {
  Picos begin, duration;
  LabelId label = 0;      // of the slice, or of the longest one merged into the cell
  SliceId slice = kNone;  // kNone: several slices merged
  uint8_t busy = 255;     // share of the cell that slices cover
};

struct CounterCell {
  Picos time;
  double min = 0, max = 0, last = 0;
};

struct Viewport {
  Picos begin, end;
  uint32_t pixels = 1000;
};

// All slices of one depth of a track, in order of time. Sums and longest slices are kept for blocks
// of 16, 64, 256, ... slices, so that any range is summed up in a few dozen steps.
class Row {
 public:
  Row(const Trace& trace, std::vector<SliceId> slices);

  size_t size() const { return slices_.size(); }
  Picos busy() const { return {levels_.empty() ? 0 : levels_.back().front().busy}; }
  // Appends the row's cells inside the viewport; true when no slices were merged.
  bool view(const Viewport& port, std::vector<Cell>& out) const;
  // About how many cells that would be, from drawing a small part.
  size_t cells_about(const Viewport& port) const;
  // Slices that overlap [begin, end), as positions in the row.
  std::pair<size_t, size_t> range(Picos begin, Picos end) const;
  SliceId slice(size_t position) const { return slices_[position]; }

 private:
  struct Block {
    int64_t busy = 0, longest_duration = -1, end = 0;  // end of the last slice
    SliceId longest = kNone;
    LabelId label = 0;  // of the longest

    void add(const Block& later);
  };
  Block block_of(size_t position) const;
  Block summary(size_t first, size_t last) const;
  size_t blocks_before(Picos time, size_t from_block, size_t likely = 0) const;
  size_t first_at_or_after(Picos time, size_t from) const;
  size_t coarse_end(size_t first, size_t last, Picos boundary, size_t likely) const;
  size_t position_of(SliceId slice, size_t from) const;

  const Trace& trace_;  // outlives the row: both belong to the LevelOfDetail
  std::vector<SliceId> slices_;
  std::vector<int64_t> block_begin_;  // of every sixteenth slice: searches stay in few lines
  std::vector<std::vector<Block>> levels_;
};

class LevelOfDetail {
 public:
  explicit LevelOfDetail(std::shared_ptr<const Trace> trace);

  const Trace& trace() const { return *trace_; }
  // The rows of a track, one per depth; built on the first call for the track.
  std::span<const Row> rows(TrackId track) const;
  // Builds the rows of every track now, over the cores.
  void prepare(ThreadPool& pool) const;
  // How long the outermost slices of a track last together.
  Picos busy(TrackId track) const;
  // A track folded into one row: its outermost slices.
  std::vector<CounterCell> counter(TrackId track, const Viewport& port) const;

 private:
  struct Entry {
    std::once_flag once;
    std::vector<Row> rows;
  };
  std::shared_ptr<const Trace> trace_;
  std::unique_ptr<Entry[]> entries_;
};

}  // namespace sonde::trace
