// counters and flows.
#include <algorithm>

#include "capture/sql/tables.h"

namespace sonde::capture::sql {
namespace {

using trace::kNone;
using trace::Trace;
using trace::TrackId;

class CounterCursor final : public Cursor {
 public:
  explicit CounterCursor(const Trace& trace) : trace_(trace) {}

  void start(std::span<const Constraint> constraints, Order) override {
    track_ = ts_ = {};
    for (const Constraint& constraint : constraints) {
      if (constraint.column == 0) track_.narrow(constraint);
      if (constraint.column == 1) ts_.narrow(constraint);
    }
    at_track_ = ts_.is_empty() ? trace_.tracks().size() : 0;
    point_ = stop_ = 0;
    next_track();
  }
  bool at_end() const override { return point_ >= stop_; }
  void advance() override {
    if (++point_ >= stop_) next_track();
  }
  int64_t row() const override { return point_; }
  void column(sqlite3_context* out, int column) override {
    const auto track = static_cast<TrackId>(at_track_ - 1);
    if (column == 0) return sqlite3_result_int64(out, track);
    if (column == 1) return sqlite3_result_int64(out, trace_.point_time(point_).value);
    if (column == 2) return sqlite3_result_double(out, trace_.point_value(point_));
    put(out, trace_.shown_track_name(track));
  }

 private:
  void next_track() {
    while (at_track_ < trace_.tracks().size()) {
      const size_t t = at_track_++;
      const trace::Track& track = trace_.tracks()[t];
      if (track.points == 0 || static_cast<int64_t>(t) < track_.low ||
          static_cast<int64_t>(t) > track_.high)
        continue;
      point_ = track.first_point;
      stop_ = track.first_point + track.points;
      if (ts_.low != INT64_MIN) point_ = first_from(point_, stop_, ts_.low);
      if (ts_.high != INT64_MAX) stop_ = first_from(point_, stop_, ts_.high + 1);
      if (point_ < stop_) return;
    }
    point_ = stop_ = 0;
  }
  uint32_t first_from(uint32_t low, uint32_t high, int64_t time) const {
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (trace_.point_time(middle).value < time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  const Trace& trace_;
  Bounds track_, ts_;
  size_t at_track_ = 0;
  uint32_t point_ = 0, stop_ = 0;
};

class CountersTable final : public Source {
 public:
  explicit CountersTable(Model& model) : trace_(model.trace()) {}
  const char* name() const override { return "counters"; }
  std::span<const SourceColumn> columns() const override {
    static constexpr SourceColumn kColumns[] = {{"track", "INTEGER", Narrows::kRange},
                                                {"ts", "INTEGER", Narrows::kRange},
                                                {"value", "REAL"},
                                                {"name", "TEXT"}};
    return kColumns;
  }
  double rows() const override {
    double points = 0;
    for (const trace::Track& track : trace_.tracks()) points += track.points;
    return points;
  }
  std::unique_ptr<Cursor> open() const override { return std::make_unique<CounterCursor>(trace_); }

 private:
  const Trace& trace_;
};

class FlowCursor final : public Cursor {
 public:
  explicit FlowCursor(Model& model) : model_(model) {}

  void start(std::span<const Constraint> constraints, Order) override {
    Bounds from, to;
    for (const Constraint& constraint : constraints) {
      if (constraint.column == 0) from.narrow(constraint);
      if (constraint.column == 1) to.narrow(constraint);
    }
    const bool by_target = to.low != INT64_MIN || to.high != INT64_MAX;
    order_ = by_target ? &model_.flows_by_target() : &model_.flows_by_source();
    const Bounds& bounds = by_target ? to : from;
    const auto end_of = [&](const trace::Flow& flow) -> int64_t {
      return by_target ? flow.to : flow.from;
    };
    const auto& flows = model_.flows();
    const auto first = std::partition_point(
        order_->begin(), order_->end(), [&](uint32_t f) { return end_of(flows[f]) < bounds.low; });
    const auto last = std::partition_point(
        first, order_->end(), [&](uint32_t f) { return end_of(flows[f]) <= bounds.high; });
    at_ = static_cast<size_t>(first - order_->begin());
    end_ = static_cast<size_t>(last - order_->begin());
  }
  bool at_end() const override { return at_ >= end_; }
  void advance() override { ++at_; }
  int64_t row() const override { return (*order_)[at_]; }
  void column(sqlite3_context* out, int column) override {
    const trace::Flow& flow = model_.flows()[(*order_)[at_]];
    if (column == 0) return sqlite3_result_int64(out, flow.from);
    if (column == 1) return sqlite3_result_int64(out, flow.to);
    if (flow.kind != kNone) put(out, model_.trace().text(flow.kind));
  }

 private:
  Model& model_;
  const std::vector<uint32_t>* order_ = nullptr;
  size_t at_ = 0, end_ = 0;
};

class FlowsTable final : public Source {
 public:
  explicit FlowsTable(Model& model) : model_(model) {}
  const char* name() const override { return "flows"; }
  std::span<const SourceColumn> columns() const override {
    static constexpr SourceColumn kColumns[] = {{"from_slice", "INTEGER", Narrows::kFew},
                                                {"to_slice", "INTEGER", Narrows::kFew},
                                                {"kind", "TEXT"}};
    return kColumns;
  }
  // Not asked for their number: finding arrows may take an analysis.
  double rows() const override { return 0.3 * model_.trace().slice_count(); }
  std::unique_ptr<Cursor> open() const override { return std::make_unique<FlowCursor>(model_); }

 private:
  Model& model_;
};

}  // namespace

std::unique_ptr<Source> counters_table(Model& model) {
  return std::make_unique<CountersTable>(model);
}
std::unique_ptr<Source> flows_table(Model& model) { return std::make_unique<FlowsTable>(model); }

}  // namespace sonde::capture::sql
