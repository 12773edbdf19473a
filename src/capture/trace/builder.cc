#include "capture/trace/builder.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sonde::trace {

Builder::Builder(std::string_view format) {
  trace_.format_ = format;
  trace_.strings_.id("");  // id 0 is the empty text
}

void Builder::reserve(size_t slices, size_t args) {
  trace_.begin_.reserve(slices);
  trace_.duration_.reserve(slices);
  trace_.label_.reserve(slices);
  trace_.first_arg_.reserve(slices + 1);
  slice_track_.reserve(slices);
  trace_.arg_key_.reserve(args);
  trace_.arg_bits_.reserve(args);
}

void Builder::reserve_names(size_t labels, size_t flows) {
  trace_.labels_.reserve(trace_.labels_.size() + labels);
  trace_.flows_.reserve(trace_.flows_.size() + flows);
}

void Builder::diagnose(Diagnostic::Severity severity, std::string text) {
  trace_.diagnostics_.push_back({severity, std::move(text)});
}

LabelId Builder::label(std::string_view name, std::string_view category) {
  const StringId name_id = string(name);
  const StringId category_id = category.empty() ? kNone : string(category);
  const uint64_t key = uint64_t{name_id} << 32 | category_id;
  const auto [found, added] =
      label_ids_.try_emplace(key, static_cast<LabelId>(trace_.labels_.size()));
  if (added) trace_.labels_.push_back({name_id, kNone, category_id, {}});
  return found->second;
}

LabelId Builder::own_label(StringId name, StringId display_name, ArgRange args, StringId category) {
  trace_.labels_.push_back({name, display_name, category, args});
  return static_cast<LabelId>(trace_.labels_.size() - 1);
}

uint64_t Builder::blob(std::string bytes) {
  trace_.blobs_.push_back(std::move(bytes));
  return trace_.blobs_.size() - 1;
}

TrackId Builder::process(std::string_view name, int64_t id) {
  return track(TrackKind::kProcess, kNone, name, id);
}

TrackId Builder::track(TrackKind kind, TrackId parent, std::string_view name, int64_t id) {
  Track track;
  track.kind = kind;
  track.parent = parent;
  track.name = string(name);
  track.id = id;
  trace_.tracks_.push_back(track);
  return static_cast<TrackId>(trace_.tracks_.size() - 1);
}

ArgRange Builder::add_args(std::span<const Arg> args) {
  const auto first = static_cast<uint32_t>(trace_.arg_key_.size());
  for (const Arg& arg : args) {
    trace_.arg_key_.push_back(packed_key(arg.key, arg.value.type));
    trace_.arg_bits_.push_back(arg.value.bits);
  }
  trace_.first_arg_.back() = static_cast<uint32_t>(trace_.arg_key_.size());
  return {first, static_cast<uint32_t>(args.size())};
}

SliceId Builder::slice(TrackId track, Picos begin, Picos duration, LabelId label) {
  trace_.begin_.push_back(clamped_begin(begin.value));
  trace_.duration_.push_back(clamped_duration(duration.value));
  trace_.label_.push_back(label);
  trace_.first_arg_.push_back(static_cast<uint32_t>(trace_.arg_key_.size()));
  slice_track_.push_back(track);
  return static_cast<SliceId>(trace_.begin_.size() - 1);
}

void Builder::arg(KeyId key, ArgValue value) {
  trace_.arg_key_.push_back(packed_key(key, value.type));
  trace_.arg_bits_.push_back(value.bits);
  trace_.first_arg_.back() = static_cast<uint32_t>(trace_.arg_key_.size());
}

void Builder::arg(std::string_view key_name, std::string_view text) {
  arg(key(key_name), {ArgType::kText, string(text)});
}
void Builder::arg(std::string_view key_name, int64_t value) {
  arg(key(key_name), {ArgType::kInt, static_cast<uint64_t>(value)});
}
void Builder::arg(std::string_view key_name, double value) {
  arg(key(key_name), {ArgType::kDouble, std::bit_cast<uint64_t>(value)});
}

void Builder::point(TrackId counter, Picos time, double value) {
  points_.push_back({counter, time.value, value});
}

std::vector<Builder::Block> Builder::blocks(std::span<const BlockSize> sizes) {
  sizes_.assign(sizes.begin(), sizes.end());
  size_t slices = trace_.begin_.size(), args = trace_.arg_key_.size();
  const size_t old_slices = slices, old_args = args;
  for (const BlockSize& size : sizes) slices += size.slices, args += size.args;
  trace_.begin_.resize(slices);
  trace_.duration_.resize(slices);
  trace_.label_.resize(slices);
  trace_.first_arg_.resize(slices + 1);
  trace_.arg_key_.resize(args);
  trace_.arg_bits_.resize(args);
  std::vector<Block> blocks;
  size_t slice = old_slices, arg = old_args;
  for (const BlockSize& size : sizes) {
    Block block;
    block.begin = {trace_.begin_.data() + slice, size.slices};
    block.duration = {trace_.duration_.data() + slice, size.slices};
    block.label = {trace_.label_.data() + slice, size.slices};
    block.arg_end = {trace_.first_arg_.data() + slice + 1, size.slices};
    block.first_arg = static_cast<uint32_t>(arg);
    block.arg_key = {trace_.arg_key_.data() + arg, size.args};
    block.arg_bits = {trace_.arg_bits_.data() + arg, size.args};
    slice += size.slices;
    arg += size.args;
    blocks.push_back(block);
  }
  return blocks;
}

// Moves blocks together so that the columns hold used entries only.
void Builder::drop_unused_block_room() {
  if (blocks_.empty()) return;
  size_t slice = trace_.begin_.size();
  for (const Block& block : blocks_) slice -= block.begin.size();
  size_t arg = blocks_.front().first_arg;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    const auto shift = static_cast<uint32_t>(block.first_arg - arg);
    if (block.begin.data() != trace_.begin_.data() + slice || shift != 0) {
      std::move(block.begin.begin(), block.begin.begin() + block.used,
                trace_.begin_.begin() + slice);
      std::move(block.duration.begin(), block.duration.begin() + block.used,
                trace_.duration_.begin() + slice);
      std::move(block.label.begin(), block.label.begin() + block.used,
                trace_.label_.begin() + slice);
      for (uint32_t k = 0; k < block.used; ++k)
        trace_.first_arg_[slice + k + 1] = block.arg_end[k] - shift;
      std::move(block.arg_key.begin(), block.arg_key.begin() + block.used_args,
                trace_.arg_key_.begin() + arg);
      std::move(block.arg_bits.begin(), block.arg_bits.begin() + block.used_args,
                trace_.arg_bits_.begin() + arg);
    }
    for (uint32_t k = 0; k < block.used; ++k) slice_track_.push_back(sizes_[i].track);
    slice += block.used;
    arg += block.used_args;
  }
  trace_.begin_.resize(slice);
  trace_.duration_.resize(slice);
  trace_.label_.resize(slice);
  trace_.first_arg_.resize(slice + 1);
  trace_.arg_key_.resize(arg);
  trace_.arg_bits_.resize(arg);
}

// Slices by track, then by time, the longest first; empty when they are in that order already.
// Producers write a thread's slices nearly in order, so tracks are dealt out first and only those
// that need it are sorted.
std::vector<uint32_t> Builder::sorted_order() const {
  const auto n = static_cast<uint32_t>(trace_.begin_.size());
  const auto earlier = [&](uint32_t a, uint32_t b) {
    if (trace_.begin_[a] != trace_.begin_[b]) return trace_.begin_[a] < trace_.begin_[b];
    return trace_.duration_[a] > trace_.duration_[b];
  };
  bool sorted = true;
  for (uint32_t i = 1; i < n && sorted; ++i) {
    const TrackId last = slice_track_[i - 1], track = slice_track_[i];
    sorted = last < track || (last == track && !earlier(i, i - 1));
  }
  if (sorted) return {};
  std::vector<uint32_t> end(trace_.tracks_.size() + 1, 0);  // of each track's part, once filled
  for (const TrackId track : slice_track_) ++end[track + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<uint32_t> order(n);
  for (uint32_t i = 0; i < n; ++i) order[end[slice_track_[i]]++] = i;
  auto from = order.begin();
  for (size_t track = 0; track < trace_.tracks_.size(); ++track) {
    const auto to = order.begin() + end[track];
    if (!std::is_sorted(from, to, earlier)) std::stable_sort(from, to, earlier);
    from = to;
  }
  return order;
}

void Builder::sort_slices() {
  const size_t n = trace_.begin_.size();
  const std::vector<uint32_t> order = sorted_order();
  if (!order.empty()) {
    // One column after the other: at most one is there twice.
    const auto permute = [&](auto& column) {
      std::remove_reference_t<decltype(column)> sorted;
      sorted.reserve(n);
      for (const uint32_t s : order) sorted.push_back(column[s]);
      column = std::move(sorted);
    };
    const auto permute_args = [&](auto& column) {
      std::remove_reference_t<decltype(column)> sorted;
      sorted.reserve(column.size());
      sorted.assign(column.begin(), column.begin() + trace_.first_arg_.front());  // of no slice
      for (const uint32_t s : order) {
        sorted.insert(sorted.end(), column.begin() + trace_.first_arg_[s],
                      column.begin() + trace_.first_arg_[s + 1]);
      }
      column = std::move(sorted);
    };
    permute_args(trace_.arg_key_);
    permute_args(trace_.arg_bits_);
    std::vector<uint32_t> first_arg{trace_.first_arg_.front()};
    first_arg.reserve(n + 1);
    for (const uint32_t s : order) {
      first_arg.push_back(first_arg.back() + trace_.first_arg_[s + 1] - trace_.first_arg_[s]);
    }
    trace_.first_arg_ = std::move(first_arg);
    permute(trace_.begin_);
    permute(trace_.duration_);
    permute(trace_.label_);
    permute(slice_track_);
    if (!trace_.flows_.empty()) {
      std::vector<uint32_t> place(n);
      for (uint32_t i = 0; i < n; ++i) place[order[i]] = i;
      for (Flow& flow : trace_.flows_) {
        flow.from = flow.from < n ? place[flow.from] : kNone;
        flow.to = flow.to < n ? place[flow.to] : kNone;
      }
    }
  }
  std::erase_if(trace_.flows_, [&](const Flow& f) { return f.from >= n || f.to >= n; });
}

namespace {

struct OpenSlice {
  int64_t begin, end;
  bool is_frame;  // of the Python tracer
};

// The row of a slice that sticks out of the innermost one around it. Two things look like that.
// An annotation that begins inside the function that enters it: it stands in what contains it
// whole, beside that function, and the few microseconds they share are drawn over each other.
// Work that truly overlaps: it takes the first row that is free, so that nothing is covered.
size_t row_beside(std::vector<OpenSlice>& open, const OpenSlice& slice, bool is_thread) {
  constexpr size_t kMostRows = 256;  // looked at; a staircase of a hostile file stays linear
  size_t row = open.size(), looked = 0;
  while (row > 0 && open[row - 1].end < slice.end) {
    if (++looked > kMostRows) return open.size();
    --row;
  }
  const auto is_beside = [&](const OpenSlice& other) {
    if (other.end <= slice.begin || other.is_frame || slice.is_frame) return true;
    const int64_t longer = std::max(other.end - other.begin, slice.end - slice.begin);
    return (other.end - slice.begin) <= longer / 8;
  };
  const auto first = open.begin() + static_cast<ptrdiff_t>(row);
  if (is_thread && std::all_of(first, open.end(), is_beside)) {
    open.erase(first, open.end());
    return row;
  }
  while (row < open.size() && open[row].end > slice.begin) ++row;
  return row;
}

}  // namespace

// Ranges, depths and the extent of the whole.
void Builder::nest() {
  const size_t n = trace_.begin_.size();
  trace_.depth_.assign(n, 0);
  int64_t first = std::numeric_limits<int64_t>::max(), last = std::numeric_limits<int64_t>::min();
  const StringId python = trace_.strings_.find("python_function");
  std::vector<OpenSlice> open;  // by row
  uint32_t at = 0;
  for (TrackId t = 0; t < trace_.tracks_.size(); ++t) {
    Track& track = trace_.tracks_[t];
    track.first_slice = at;
    open.clear();
    for (; at < n && slice_track_[at] == t; ++at) {
      const int64_t begin = trace_.begin_[at], end = begin + trace_.duration_[at];
      while (!open.empty() && open.back().end <= begin) open.pop_back();
      const bool is_frame = python != kNone && trace_.labels_[trace_.label_[at]].category == python;
      const OpenSlice slice{begin, end, is_frame};
      size_t row = open.size();
      if (end > begin && row > 0 && open.back().end < end)
        row = row_beside(open, slice, track.kind == TrackKind::kThread);
      trace_.depth_[at] = static_cast<uint16_t>(std::min<size_t>(row, UINT16_MAX - 1));
      track.depth = std::max<uint16_t>(track.depth, trace_.depth_[at] + 1);
      if (row < open.size()) {
        open[row] = slice;
      } else if (end > begin) {
        open.push_back(slice);
      }
      if (track.kind == TrackKind::kAggregate) continue;
      first = std::min(first, begin);
      last = std::max(last, end);
    }
    track.slices = at - track.first_slice;
  }
  const auto take = [&](int64_t time) {
    first = std::min(first, time);
    last = std::max(last, time);
  };
  for (const Point& point : points_) take(point.time);
  for (const int64_t time : trace_.point_time_) take(time);
  if (first <= last) {
    trace_.first_begin_ = first;
    trace_.last_end_ = last;
  }
}

void Builder::sort_points() {
  std::stable_sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
    return std::tie(a.track, a.time) < std::tie(b.track, b.time);
  });
  trace_.point_time_.reserve(trace_.point_time_.size() + points_.size());
  trace_.point_value_.reserve(trace_.point_time_.capacity());
  for (const Point& point : points_) {
    Track& track = trace_.tracks_[point.track];
    if (track.points++ == 0) track.first_point = static_cast<uint32_t>(trace_.point_time_.size());
    trace_.point_time_.push_back(point.time);
    trace_.point_value_.push_back(point.value);
  }
  points_ = {};
}

const Trace& Builder::settle() {
  drop_unused_block_room();
  if (origin_.value != 0) {
    for (int64_t& begin : trace_.begin_) begin = clamped_begin(begin - origin_.value);
    for (Point& point : points_) point.time = clamped_begin(point.time - origin_.value);
    for (int64_t& time : trace_.point_time_) time = clamped_begin(time - origin_.value);
  }
  sort_slices();
  nest();
  is_settled_ = true;
  return trace_;
}

void Builder::index_children() {
  const auto& tracks = trace_.tracks_;
  std::vector<uint32_t>& first = trace_.first_child_;
  first.assign(tracks.size() + 1, 0);
  const auto has_parent = [&](const Track& track) { return track.parent < tracks.size(); };
  for (const Track& track : tracks) {
    if (has_parent(track)) ++first[track.parent + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  trace_.children_.resize(first.back());
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  for (TrackId t = 0; t < tracks.size(); ++t) {
    if (has_parent(tracks[t])) trace_.children_[next[tracks[t].parent]++] = t;
  }
}

Trace Builder::finish() && {
  if (!is_settled_) settle();
  sort_points();
  index_children();
  return std::move(trace_);
}

}  // namespace sonde::trace
