#include "trace/level_of_detail.h"

#include <algorithm>

namespace sonde::trace {
namespace {

constexpr size_t kFactor = 16;

}  // namespace

Row::Row(const Trace& trace, std::vector<SliceId> slices)
    : trace_(trace), slices_(std::move(slices)) {
  const auto add = [&](Block& block, int64_t busy, SliceId longest) {
    block.busy += busy;
    if (block.longest == kNone || trace_.duration(longest) > trace_.duration(block.longest))
      block.longest = longest;
  };
  std::vector<Block> level((slices_.size() + kFactor - 1) / kFactor);
  for (size_t i = 0; i < slices_.size(); ++i)
    add(level[i / kFactor], trace_.duration(slices_[i]).value, slices_[i]);
  while (level.size() > 1) {
    std::vector<Block> above((level.size() + kFactor - 1) / kFactor);
    for (size_t i = 0; i < level.size(); ++i)
      add(above[i / kFactor], level[i].busy, level[i].longest);
    levels_.push_back(std::move(level));
    level = std::move(above);
  }
  if (!level.empty()) levels_.push_back(std::move(level));
}

// Sum and longest of [first, last): the ragged ends slice by slice, the middle by ever larger
// blocks.
Row::Block Row::summary(size_t first, size_t last) const {
  Block total;
  const auto add = [&](int64_t busy, SliceId longest) {
    total.busy += busy;
    if (total.longest == kNone || trace_.duration(longest) > trace_.duration(total.longest))
      total.longest = longest;
  };
  const auto add_slice = [&](size_t i) { add(trace_.duration(slices_[i]).value, slices_[i]); };
  while (first < last && first % kFactor != 0) add_slice(first++);
  while (first < last && last % kFactor != 0) add_slice(--last);
  first /= kFactor;
  last /= kFactor;
  for (const auto& level : levels_) {
    if (first >= last) break;
    while (first < last && first % kFactor != 0)
      add(level[first].busy, level[first].longest), ++first;
    while (first < last && last % kFactor != 0) --last, add(level[last].busy, level[last].longest);
    first /= kFactor;
    last /= kFactor;
  }
  return total;
}

// Galloping: the next pixel is usually near.
size_t Row::first_at_or_after(Picos time, size_t from) const {
  size_t step = 1, low = from, high = from;
  while (high < slices_.size() && trace_.begin(slices_[high]) < time) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  high = std::min(high, slices_.size());
  const auto found = std::partition_point(slices_.begin() + static_cast<ptrdiff_t>(low),
                                          slices_.begin() + static_cast<ptrdiff_t>(high),
                                          [&](SliceId s) { return trace_.begin(s) < time; });
  return static_cast<size_t>(found - slices_.begin());
}

std::pair<size_t, size_t> Row::range(Picos begin, Picos end) const {
  size_t first = first_at_or_after(begin, 0);
  if (first > 0 && trace_.end(slices_[first - 1]) > begin) --first;  // one that reaches in
  return {first, first_at_or_after(end, first)};
}

bool Row::view(const Viewport& port, std::vector<Cell>& out) const {
  const int64_t width =
      std::max<int64_t>(1, (port.end - port.begin).value / std::max<uint32_t>(1, port.pixels));
  const auto exact = [&](SliceId s) {
    out.push_back({trace_.begin(s), trace_.duration(s), trace_.label_id(s), s, 255});
  };
  bool is_exact = true;
  auto [i, last] = range(port.begin, port.end);
  while (i < last) {
    const SliceId slice = slices_[i];
    if (trace_.duration(slice).value >= width || trace_.begin(slice) < port.begin) {
      exact(slice);
      ++i;
      continue;
    }
    const int64_t pixel = (trace_.begin(slice) - port.begin).value / width;
    size_t end = std::min(last, first_at_or_after({port.begin.value + (pixel + 1) * width}, i + 1));
    if (end == i + 1) {
      exact(slice);
      ++i;
      continue;
    }
    // At most one slice of the pixel can be wide, and then it is the last to begin there.
    if (trace_.duration(slices_[end - 1]).value >= width) --end;
    if (end == i + 1) {
      exact(slice);
      ++i;
      continue;
    }
    const Block block = summary(i, end);
    const Picos begin = trace_.begin(slice), stop = trace_.end(slices_[end - 1]);
    const double span = static_cast<double>(std::max<int64_t>(1, (stop - begin).value));
    const double share = std::clamp(static_cast<double>(block.busy) / span, 0.0, 1.0);
    out.push_back({begin, stop - begin, trace_.label_id(block.longest), kNone,
                   static_cast<uint8_t>(std::max(1.0, share * 255))});
    is_exact = false;
    i = end;
  }
  return is_exact;
}

LevelOfDetail::LevelOfDetail(std::shared_ptr<const Trace> trace)
    : trace_(std::move(trace)), entries_(std::make_unique<Entry[]>(trace_->tracks().size())) {}

std::span<const Row> LevelOfDetail::rows(TrackId track) const {
  Entry& entry = entries_[track];
  std::call_once(entry.once, [&] {
    const Track& info = trace_->tracks()[track];
    std::vector<std::vector<SliceId>> by_depth(info.depth);
    std::vector<uint32_t> counts(info.depth);
    for (SliceId s = info.first_slice; s < info.first_slice + info.slices; ++s)
      ++counts[trace_->depth(s)];
    for (size_t d = 0; d < by_depth.size(); ++d) by_depth[d].reserve(counts[d]);
    for (SliceId s = info.first_slice; s < info.first_slice + info.slices; ++s)
      by_depth[trace_->depth(s)].push_back(s);
    entry.rows.reserve(by_depth.size());
    for (auto& slices : by_depth) entry.rows.emplace_back(*trace_, std::move(slices));
  });
  return entry.rows;
}

std::vector<CounterCell> LevelOfDetail::counter(TrackId track, const Viewport& port) const {
  std::vector<CounterCell> cells;
  const Track& info = trace_->tracks()[track];
  const int64_t width =
      std::max<int64_t>(1, (port.end - port.begin).value / std::max<uint32_t>(1, port.pixels));
  const uint32_t end = info.first_point + info.points;
  uint32_t low = info.first_point, high = end;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    (trace_->point_time(middle) < port.begin ? low : high) =
        trace_->point_time(middle) < port.begin ? middle + 1 : middle;
  }
  if (low > info.first_point) --low;  // the value that holds at the left border
  int64_t pixel = INT64_MIN;
  for (uint32_t i = low; i < end; ++i) {
    const Picos time = trace_->point_time(i);
    const double value = trace_->point_value(i);
    const int64_t here = (time - port.begin).value / width;
    if (!cells.empty() && here == pixel) {
      CounterCell& cell = cells.back();
      cell.min = std::min(cell.min, value);
      cell.max = std::max(cell.max, value);
      cell.last = value;
    } else {
      cells.push_back({time, value, value, value});
      pixel = here;
    }
    if (time >= port.end) break;
  }
  return cells;
}

}  // namespace sonde::trace
