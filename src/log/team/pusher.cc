#include "log/team/pusher.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

namespace sonde::team {
namespace {

constexpr size_t kBatchBytes = size_t{32} << 20;

// Clocks of pushers differ; a row must beat the one before it all the same.
uint64_t next_version(uint64_t before) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  return std::max(before + 1, static_cast<uint64_t>(us));
}

EndPoint point_at(const store::Series& series, uint64_t n) {
  EndPoint point;
  for (const store::Range range : series.ranges(store::View::kNewest)) {
    const uint64_t size = range.end - range.begin;
    if (n >= size) {
      n -= size;
      continue;
    }
    const store::Range one{range.begin + n, range.begin + n + 1};
    if (series.is_scalar()) {
      series.blocks(one, [&](const store::ScalarBlock& block) {
        point = {block.steps[0], block.wall_times[0], block.value(0)};
      });
    } else {
      const auto& blob = series.points(one).front();
      point = {blob.step, blob.wall_time, 0};
    }
    break;
  }
  return point;
}

bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

bool same(const EndPoint& a, const EndPoint& b) {
  return a.step == b.step && same_bits(a.wall_time, b.wall_time) && same_bits(a.value, b.value);
}

// Whether what is there is the beginning of this series: both ends are where they were.
bool is_continued(const store::Series& series, const SeriesRow& there) {
  if (there.is_scalar != series.is_scalar()) return false;
  if (there.points == 0) return true;
  if (series.size(store::View::kNewest) < there.points) return false;
  return same(point_at(series, 0), there.first) &&
         same(point_at(series, there.points - 1), there.last);
}

}  // namespace

Result<void> Pusher::ask_what_is_there() {
  SONDE_TRY(series, tables_.series());
  for (SeriesRow& row : series) pushed_[{row.run, row.tag}] = std::move(row);
  SONDE_TRY(runs, tables_.runs());
  for (RunRow& row : runs) pushed_runs_[row.run] = std::move(row);
  return {};
}

Result<void> Pusher::flush() {
  for (auto& [table, rows] : {std::pair{"points", &points_}, std::pair{"blobs", &blobs_},
                              std::pair{"series", &series_}, std::pair{"runs", &runs_}}) {
    if (auto done = tables_.insert(table, *rows); !done) return done;
    rows->clear();
  }
  for (SeriesRow& row : waiting_) pushed_[{row.run, row.tag}] = std::move(row);
  waiting_.clear();
  return {};
}

// In the middle of a series: its row is not among those that wait yet.
Result<void> Pusher::send_full() {
  return points_.size() + blobs_.size() + series_.size() >= kBatchBytes ? flush() : Result<void>{};
}

Result<void> Pusher::send_numbers(const std::string& run, const store::Series& series,
                                  SeriesRow& row, uint64_t from) {
  uint64_t n = 0;
  Result<void> state;
  for (const store::Range range : series.ranges(store::View::kNewest)) {
    const uint64_t size = range.end - range.begin,
                   skipped = std::min(from > n ? from - n : 0, size);
    n += skipped;
    if (skipped == size) continue;
    series.blocks({range.begin + skipped, range.end}, [&](const store::ScalarBlock& block) {
      for (size_t i = 0; i < block.size() && state; ++i, ++n) {
        tables_.put_point(points_, run, row.tag, n,
                          {block.steps[i], block.wall_times[i], block.value(i)});
        ++sent_;
        if (points_.size() >= kBatchBytes) state = flush();
      }
    });
    if (!state) return state;
  }
  row.points = n;
  return {};
}

Result<void> Pusher::send_references(const std::string& run, const store::Series& series,
                                     SeriesRow& row, uint64_t from, const Paths& path_of) {
  uint64_t n = 0;
  for (const store::Range range : series.ranges(store::View::kNewest)) {
    for (const store::BlobPoint& point : series.points(range)) {
      if (n >= from) {
        tables_.put_blob(blobs_, run, row.tag, BlobKind::kValue,
                         {n, point, path_of(point.where.file), 0});
        ++sent_;
      }
      ++n;
    }
    if (auto done = send_full(); !done) return done;
  }
  row.points = n;
  return {};
}

Result<void> Pusher::push_series(const store::RunSnapshot& run, const store::Series& series,
                                 uint32_t position, const Paths& path_of) {
  const Key key{run.name, series.tag()};
  if (const auto done = revisions_.find(key);
      done != revisions_.end() && done->second == series.revision())
    return {};
  const auto found = pushed_.find(key);
  SeriesRow row;
  uint64_t from = 0;
  if (found != pushed_.end()) {
    const SeriesRow& there = found->second;
    row.layout = there.layout;
    row.version = there.version;
    from = there.points;
    if (!is_continued(series, there)) {
      if (!options_.replaces) {
        refused_.push_back("run '" + run.name + "', tag '" + series.tag() + "'");
        return {};
      }
      if (auto done = flush(); !done) return done;
      if (auto removed = tables_.remove_points(run.name, series.tag()); !removed) return removed;
      ++row.layout;
      from = 0;
    }
  }
  row.run = run.name;
  row.tag = series.tag();
  row.position = position;
  row.metadata = series.metadata();
  row.is_scalar = series.is_scalar();
  row.type = series.value_type();
  row.unreadable = series.unreadable();
  row.mistyped = series.strays().size();
  const uint64_t size = series.size(store::View::kNewest);
  const bool is_same = found != pushed_.end() && from == size &&
                       found->second.position == position && found->second.type == row.type &&
                       found->second.metadata == row.metadata &&
                       found->second.mistyped == row.mistyped;
  if (is_same) {
    revisions_[key] = series.revision();
    return {};
  }
  if (auto done = series.is_scalar() ? send_numbers(run.name, series, row, from)
                                     : send_references(run.name, series, row, from, path_of);
      !done)
    return done;
  uint64_t n = 0;
  for (const store::MistypedValue& value : series.strays())
    tables_.put_blob(blobs_, run.name, row.tag, BlobKind::kMistyped,
                     {n++, value.point, path_of(value.point.where.file), value.position});
  if (row.points > 0) {
    row.first = point_at(series, 0);
    row.last = point_at(series, row.points - 1);
  }
  row.version = next_version(row.version);
  tables_.put(series_, row);
  waiting_.push_back(std::move(row));
  revisions_[key] = series.revision();
  return send_full();
}

Result<void> Pusher::push_run(const store::RunSnapshot& run, const Paths& path_of) {
  RunRow row{
      run.name,   run.folder, run.first_wall_time, run.min_wall_time,      run.last_wall_time,
      run.points, run.bytes,  run.segments,        run.meta_graphs.size(), run.has_events,
      0};
  const auto found = pushed_runs_.find(run.name);
  if (found != pushed_runs_.end()) {
    const RunRow& there = found->second;
    row.version = there.version;
    if (there.points == row.points && there.bytes == row.bytes && there.folder == row.folder &&
        there.segments == row.segments && there.meta_graphs == row.meta_graphs &&
        there.has_events == row.has_events && same_bits(there.last_wall_time, row.last_wall_time))
      return {};
  }
  uint64_t n = 0;
  for (const store::BlobPoint& point : run.meta_graphs)
    tables_.put_blob(blobs_, run.name, "", BlobKind::kMetaGraph,
                     {n++, point, path_of(point.where.file), 0});
  row.version = next_version(row.version);
  tables_.put(runs_, row);
  pushed_runs_[run.name] = std::move(row);
  return {};
}

Result<void> Pusher::push(const store::Snapshot& snapshot, const Paths& path_of) {
  refused_.clear();
  for (const auto& run : snapshot.runs) {
    if (!options_.wants_run(run->name)) continue;
    for (uint32_t i = 0; i < run->series.size(); ++i) {
      const store::Series& series = *run->series[i];
      if (!options_.wants_tag(series.tag())) continue;
      if (auto done = push_series(*run, series, i, path_of); !done) return done;
    }
    if (auto done = push_run(*run, path_of); !done) return done;
  }
  return flush();
}

}  // namespace sonde::team
