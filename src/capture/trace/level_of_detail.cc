#include "capture/trace/level_of_detail.h"

#include <algorithm>

namespace sonde::trace {
namespace {

constexpr size_t kFirst = 16;  // slices in a block of the finest level
constexpr size_t kFactor = 4;  // blocks of a level in one of the next
constexpr size_t kCoarse = 4;  // a cell of more blocks than this may end at a block's edge

}  // namespace

void Row::Block::add(const Block& later) {
  busy += later.busy;
  end = std::max(end, later.end);  // a frame may reach into what stands beside it
  if (later.longest_duration > longest_duration) {
    longest_duration = later.longest_duration;
    longest = later.longest;
    label = later.label;
  }
}

Row::Block Row::block_of(size_t position) const {
  const SliceId slice = slices_[position];
  const int64_t duration = trace_.duration(slice).value;
  return {duration, duration, trace_.end(slice).value, slice, trace_.label_id(slice)};
}

Row::Row(const Trace& trace, std::vector<SliceId> slices)
    : trace_(trace), slices_(std::move(slices)) {
  std::vector<Block> level((slices_.size() + kFirst - 1) / kFirst);
  block_begin_.reserve(level.size());
  for (size_t i = 0; i < slices_.size(); ++i) {
    if (i % kFirst == 0) block_begin_.push_back(trace_.begin(slices_[i]).value);
    level[i / kFirst].add(block_of(i));
  }
  while (level.size() > 1) {
    std::vector<Block> above((level.size() + kFactor - 1) / kFactor);
    for (size_t i = 0; i < level.size(); ++i) above[i / kFactor].add(level[i]);
    levels_.push_back(std::move(level));
    level = std::move(above);
  }
  if (!level.empty()) levels_.push_back(std::move(level));
}

// The slices of [first, last) as one: the ragged ends slice by slice, the middle by ever larger
// blocks.
Row::Block Row::summary(size_t first, size_t last) const {
  Block total;
  const size_t final = last - 1;
  while (first < last && first % kFirst != 0) total.add(block_of(first++));
  while (first < last && last % kFirst != 0) total.add(block_of(--last));
  first /= kFirst;
  last /= kFirst;
  for (const auto& level : levels_) {
    if (first >= last) break;
    while (first < last && first % kFactor != 0) total.add(level[first++]);
    while (first < last && last % kFactor != 0) total.add(level[--last]);
    first /= kFactor;
    last /= kFactor;
  }
  // Of the largest block that ends there: it has just been read.
  if ((final + 1) % kFirst != 0) {
    total.end = trace_.end(slices_[final]).value;
    return total;
  }
  size_t level = 0, after = (final + 1) / kFirst;
  for (; after % kFactor == 0 && level + 1 < levels_.size(); after /= kFactor) ++level;
  total.end = levels_[level][after - 1].end;
  return total;
}

// How many blocks begin before the time, at least `from_block`. Galloping from where the answer is
// likely to be: the next pixel is near, and about as full as the last one.
size_t Row::blocks_before(Picos time, size_t from_block, size_t likely) const {
  const size_t size = block_begin_.size();
  size_t low = from_block, high = std::min(size, from_block + likely);
  if (high < size && high > low && block_begin_[high] >= time.value) {
    for (size_t step = 1; high > low; step *= 2) {
      const size_t probe = high - low > step ? high - step : low;
      if (block_begin_[probe] < time.value) {
        low = probe + 1;
        break;
      }
      high = probe;
    }
  } else {
    for (size_t step = 1; high < size && block_begin_[high] < time.value; step *= 2) {
      low = high + 1;
      high += step;
    }
    high = std::min(high, size);
  }
  const auto begin = block_begin_.begin();
  return static_cast<size_t>(std::lower_bound(begin + static_cast<ptrdiff_t>(low),
                                              begin + static_cast<ptrdiff_t>(high), time.value) -
                             begin);
}

size_t Row::first_at_or_after(Picos time, size_t from) const {
  // It lies in the last block that begins before the time, or is the first slice behind it.
  const size_t blocks = blocks_before(time, from / kFirst);
  const size_t low = std::max(from, blocks == 0 ? 0 : (blocks - 1) * kFirst);
  const size_t high = std::max(low, std::min(blocks * kFirst, slices_.size()));
  const auto found = std::partition_point(slices_.begin() + static_cast<ptrdiff_t>(low),
                                          slices_.begin() + static_cast<ptrdiff_t>(high),
                                          [&](SliceId s) { return trace_.begin(s) < time; });
  return static_cast<size_t>(found - slices_.begin());
}

// Where a pixel holds many slices its cell ends at the last block's edge before the boundary, so
// that no single slice is looked at; 0 where it holds few. The more there are, the larger the
// blocks: never more than a quarter of the cell goes to its neighbour, and a cell is the sum of
// few blocks however many slices it has.
size_t Row::coarse_end(size_t first, size_t last, Picos boundary, size_t likely) const {
  const size_t blocks = blocks_before(boundary, first / kFirst, likely / kFirst);
  size_t edge = blocks == 0 ? 0 : (blocks - 1) * kFirst;
  if (edge <= first + kCoarse * kFirst) return 0;
  for (size_t size = kFirst * kFactor; edge / size * size > first + kCoarse * size; size *= kFactor)
    edge = edge / size * size;
  return std::min(last, edge);
}

size_t Row::position_of(SliceId slice, size_t from) const {
  size_t at = first_at_or_after(trace_.begin(slice), from);
  while (slices_[at] != slice) ++at;  // several may begin together
  return at;
}

std::pair<size_t, size_t> Row::range(Picos begin, Picos end) const {
  size_t first = first_at_or_after(begin, 0);
  if (first > 0 && trace_.end(slices_[first - 1]) > begin) --first;  // one that reaches in
  return {first, first_at_or_after(end, first)};
}

bool Row::view(const Viewport& port, std::vector<Cell>& out) const {
  const int64_t width =
      std::max<int64_t>(1, (port.end - port.begin).value / std::max<uint32_t>(1, port.pixels));
  bool is_exact = true;
  auto [i, last] = range(port.begin, port.end);
  int64_t boundary = port.begin.value;  // the right edge of the last cell's pixel
  size_t likely = 0;                    // slices in the next cell, as in the last one
  while (i < last) {
    const int64_t begin =
        i % kFirst == 0 ? block_begin_[i / kFirst] : trace_.begin(slices_[i]).value;
    size_t end = i + 1;
    Block block;
    if (begin >= port.begin.value) {
      // What the last cell left of its pixel goes with the next one.
      boundary = std::max(boundary + (begin < boundary ? width : 0),
                          port.begin.value + ((begin - port.begin.value) / width + 1) * width);
      end = coarse_end(i, last, {boundary}, likely);
      likely = end == 0 ? 0 : end - i;
      if (end == 0) end = std::min(last, first_at_or_after({boundary}, i + 1));
      block = summary(i, end);
      // A slice that is a pixel wide stands alone, and what follows it begins a new cell.
      while (block.longest_duration >= width && end > i + 1) {
        end = std::max(i + 1, position_of(block.longest, i));
        block = summary(i, end);
      }
    }
    if (end == i + 1) {
      const SliceId slice = slices_[i];
      out.push_back({{begin}, trace_.duration(slice), trace_.label_id(slice), slice, 255});
    } else {
      const double span = static_cast<double>(std::max<int64_t>(1, block.end - begin));
      const double share = std::clamp(static_cast<double>(block.busy) / span, 0.0, 1.0);
      out.push_back({{begin},
                     {block.end - begin},
                     block.label,
                     kNone,
                     static_cast<uint8_t>(std::max(1.0, share * 255))});
      is_exact = false;
    }
    i = end;
  }
  return is_exact;
}

size_t Row::cells_about(const Viewport& port) const {
  constexpr uint32_t kStrips = 4, kStripPixels = 24;
  const auto [first, last] = range(port.begin, port.end);
  const int64_t span = (port.end - port.begin).value;
  if (last - first <= kStrips * kStripPixels || port.pixels <= kStrips * kStripPixels)
    return std::min<size_t>(last - first, 2 * size_t{port.pixels});
  // Strips are drawn as the whole would be: how slices wider than a pixel break up the cells around
  // them is hard to foresee.
  const int64_t width = std::max<int64_t>(1, span / port.pixels);
  std::vector<Cell> drawn;
  for (uint32_t strip = 0; strip < kStrips; ++strip) {
    const Picos from{port.begin.value + span / (2 * kStrips) * (2 * strip + 1)};
    view({from, {from.value + width * kStripPixels}, kStripPixels}, drawn);
  }
  return std::min(last - first, drawn.size() * port.pixels / (kStrips * kStripPixels));
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

void LevelOfDetail::prepare(ThreadPool& pool) const {
  pool.for_each(trace_->tracks().size(), [&](size_t track) { rows(static_cast<TrackId>(track)); });
}

Picos LevelOfDetail::busy(TrackId track) const {
  const auto all = rows(track);
  return all.empty() ? Picos{0} : all[0].busy();
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
