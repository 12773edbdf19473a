#include "capture/export/perfetto_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "base/intern.h"
#include "codec/wire.h"

namespace sonde::exports {
namespace {

using trace::TrackKind;
using wire::Encoder;

constexpr uint64_t kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;
constexpr uint64_t kSequence = 1, kClears = 1, kNeeds = 2;

// Names already told to the reader, by number; new ones go into the next packet.
class Interned {
 public:
  explicit Interned(uint32_t field) : field_(field) {}
  uint64_t id(std::string_view text) {
    const size_t before = texts_.size();
    const uint64_t id = texts_.id(text) + 1;
    if (texts_.size() > before) fresh_.emplace_back(id, text);
    return id;
  }
  void tell(Encoder& interned) {
    for (const auto& [id, text] : fresh_) {
      interned.message(field_, [&](Encoder& entry) {
        entry.varint(1, id);
        entry.bytes(2, text);
      });
    }
    fresh_.clear();
  }
  bool has_news() const { return !fresh_.empty(); }

 private:
  uint32_t field_;
  StringTable texts_;
  std::vector<std::pair<uint64_t, std::string>> fresh_;
};

class Writer {
 public:
  Writer(const Drawing& drawing, io::TextOut& out)
      : drawing_(drawing),
        out_(out),
        lanes_(lanes_of(drawing.runs, lane_options(drawing))),
        base_ns_(drawing.axis.base_ns) {
    for (const Run& run : drawing.runs) {
      filters_.emplace_back(drawing.filter, run);
      instant_key_.push_back(run.trace->key("phase"));
    }
    // Times are unsigned: an axis that begins before 0 is moved.
    for (size_t r = 0; r < drawing.runs.size(); ++r)
      earliest_ = std::min(
          earliest_, drawing.axis.places[r].offset_ps + drawing.runs[r].trace->first_begin().value);
    if (base_ns_ + earliest_ / 1000 < 0) base_ns_ = -(earliest_ / 1000) + 1;
  }

  Written write() {
    number_flows();
    for (size_t p = 0; p < lanes_.processes.size(); ++p) describe(p);
    if (drawing_.separates_runs) separators();
    for (const Process& process : lanes_.processes) {
      for (const uint32_t l : process.lanes) lane(l);
    }
    if (aggregated_ != 0)
      written_.losses.push_back(
          fmt::format("{} sums without a start time have no place on a timeline", aggregated_));
    return std::move(written_);
  }

 private:
  uint64_t time(int64_t ps) const {
    return static_cast<uint64_t>(base_ns_ + (ps >= 0 ? ps + 500 : ps - 499) / 1000);
  }

  template <class Fn>
  void packet(const Fn& fill) {
    packet_.clear();
    Encoder packet(packet_);
    fill(packet);
    packet.varint(10, kSequence);
    packet.varint(13, is_first_ ? kClears : kNeeds);
    is_first_ = false;
    Encoder(out_.text()).bytes(1, packet_);
    out_.piece_done();
  }

  void descriptor(uint64_t uuid, uint64_t parent, std::string_view name, uint64_t rank,
                  const std::function<void(Encoder&)>& kind) {
    packet([&](Encoder& packet) {
      packet.message(60, [&](Encoder& track) {
        track.varint(1, uuid);
        track.bytes(2, name);
        if (parent != 0) track.varint(5, parent);
        kind(track);
        track.varint(12, rank);
      });
    });
  }

  uint64_t lane_id(uint32_t lane, uint32_t row) const {
    return 1'000'000 + uint64_t{row} * 1'000'000'000 + lane;
  }

  void describe(size_t p) {
    const Process& process = lanes_.processes[p];
    const std::string name =
        process.labels.empty() ? process.name : process.name + ": " + process.labels;
    descriptor(p + 1, 0, name, p, [&](Encoder& track) {
      track.message(3, [&](Encoder& described) {
        described.varint(1, p + 1);
        described.bytes(6, name);
      });
    });
    for (const uint32_t l : process.lanes) {
      const Lane& lane = lanes_.lanes[l];
      descriptor(lane_id(l, 0), p + 1, lane.name, l, [&](Encoder& track) {
        if (lane.kind == TrackKind::kCounter) track.message(8, [](Encoder&) {});
      });
    }
  }

  void separators() {
    descriptor(kRuns, 0, "runs", 0, [](Encoder&) {});
    for (size_t r = 0; r < drawing_.runs.size(); ++r) {
      const int64_t at =
          drawing_.axis.places[r].offset_ps + drawing_.runs[r].trace->first_begin().value;
      event(kRuns, kInstant, at, [&](Encoder& e) { e.bytes(23, separator_name(drawing_, r)); });
      ++written_.instants;
    }
  }

  void number_flows() {
    uint64_t next = 1;
    for (const Run& run : drawing_.runs) {
      auto& ends = flows_.emplace_back();
      if (drawing_.options->hides_dataflow) continue;
      for (const trace::Flow& flow : run.trace->flows()) {
        ends.emplace_back(flow.from, next, false);
        ends.emplace_back(flow.to, next, true);
        ++next;
        ++written_.flows;
      }
      std::sort(ends.begin(), ends.end());
    }
  }

  template <class Fn>
  void event(uint64_t track, uint64_t type, int64_t ps, const Fn& fill) {
    event_.clear();
    Encoder body(event_);
    body.varint(9, type);
    body.varint(11, track);
    fill(body);
    packet([&](Encoder& packet) {
      packet.varint(8, time(ps));
      if (names_.has_news() || categories_.has_news() || keys_.has_news()) {
        packet.message(12, [&](Encoder& interned) {
          categories_.tell(interned);
          names_.tell(interned);
          keys_.tell(interned);
        });
      }
      packet.bytes(11, event_);
    });
  }

  void lane(uint32_t l) {
    const Lane& lane = lanes_.lanes[l];
    if (lane.kind == TrackKind::kAggregate) {
      for (const LanePart& part : lane.parts)
        aggregated_ += drawing_.runs[part.run].trace->tracks()[part.track].slices;
      return;
    }
    samples(lane, l);
    // Slices that overlap without nesting go to sibling rows of the same name.
    struct Row {
      std::vector<int64_t> open;  // ends, outermost first
    };
    std::vector<Row> rows;
    const auto close_until = [&](uint32_t row, int64_t until) {
      while (!rows[row].open.empty() && rows[row].open.back() <= until) {
        event(lane_id(l, row), kEnd, rows[row].open.back(), [](Encoder&) {});
        rows[row].open.pop_back();
      }
    };
    for (const Placed& placed : slices_of(drawing_, lane, filters_)) {
      const int64_t end = placed.begin + placed.duration;
      uint32_t row = 0;
      for (; row < rows.size() && row < kMostRows; ++row) {
        close_until(row, placed.begin);
        if (rows[row].open.empty() || end <= rows[row].open.back()) break;
      }
      row = std::min(row, kMostRows);
      if (row == rows.size()) {
        rows.emplace_back();
        if (row > 0) descriptor(lane_id(l, row), lane.process + 1, lane.name, l, [](Encoder&) {});
      }
      slice(placed, lane_id(l, row));
      if (!is_instant(placed)) rows[row].open.push_back(end);
    }
    for (uint32_t row = 0; row < rows.size(); ++row) close_until(row, INT64_MAX);
  }

  bool is_instant(const Placed& placed) const {
    const trace::KeyId key = instant_key_[placed.run];
    if (placed.duration != 0 || key == trace::kNone) return false;
    const trace::Trace& trace = *drawing_.runs[placed.run].trace;
    return trace.text_of(trace.find(trace.args(placed.slice), key)) == "instant";
  }

  void slice(const Placed& placed, uint64_t track) {
    const Run& run = drawing_.runs[placed.run];
    const trace::Trace& trace = *run.trace;
    event(track, is_instant(placed) ? kInstant : kBegin, placed.begin, [&](Encoder& e) {
      e.varint(10, names_.id(trace.shown_name(placed.slice)));
      if (const std::string_view category = run.category(placed.slice); !category.empty())
        e.varint(3, categories_.id(category));
      if (!drawing_.options->drops_args) arguments(e, placed);
      const auto& ends = flows_[placed.run];
      auto at = std::lower_bound(ends.begin(), ends.end(), std::tuple(placed.slice, 0, false));
      for (; at != ends.end() && std::get<0>(*at) == placed.slice; ++at)
        e.fixed64(std::get<2>(*at) ? 48 : 47, std::get<1>(*at));
    });
    ++written_.slices;
    written_.total_ps += static_cast<uint64_t>(placed.duration);
  }

  void arguments(Encoder& e, const Placed& placed) {
    const trace::Trace& trace = *drawing_.runs[placed.run].trace;
    const trace::ArgRange range = trace.args(placed.slice);
    const auto& kept = drawing_.options->keep_args;
    for (uint32_t a = range.first; a < range.first + range.count; ++a) {
      const trace::Arg arg = trace.arg(a);
      const std::string_view key = trace.key_name(arg.key);
      if (!kept.empty() && std::find(kept.begin(), kept.end(), key) == kept.end()) continue;
      e.message(4, [&](Encoder& annotation) {
        annotation.varint(1, keys_.id(key));
        switch (arg.value.type) {
          case trace::ArgType::kInt:
            return annotation.varint(4, arg.value.bits);
          case trace::ArgType::kUint:
            return annotation.varint(3, arg.value.bits);
          case trace::ArgType::kBool:
            return annotation.varint(2, arg.value.bits != 0);
          case trace::ArgType::kDouble:
            return annotation.real(5, arg.value.as_double());
          default:
            return annotation.bytes(6, trace.printed(arg.value));
        }
      });
    }
  }

  void samples(const Lane& lane, uint32_t l) {
    for (const LanePart& part : lane.parts) {
      const trace::Trace& trace = *drawing_.runs[part.run].trace;
      const trace::Track& track = trace.tracks()[part.track];
      if (lane.kind != TrackKind::kCounter) continue;
      const int64_t offset = drawing_.axis.places[part.run].offset_ps;
      for (uint32_t p = track.first_point; p < track.first_point + track.points; ++p) {
        const int64_t at = trace.point_time(p).value + offset;
        if (at < drawing_.window.begin || at > drawing_.window.end) continue;
        event(lane_id(l, 0), kCounter, at, [&](Encoder& e) { e.real(44, trace.point_value(p)); });
        ++written_.points;
      }
    }
  }

  static constexpr uint64_t kRuns = 999'999;
  static constexpr uint32_t kMostRows =
      1000;  // of one lane; more overlap than that shares the last
  const Drawing& drawing_;
  io::TextOut& out_;
  Lanes lanes_;
  int64_t base_ns_, earliest_ = INT64_MAX / 2;
  std::vector<Filter::ForRun> filters_;
  std::vector<trace::KeyId> instant_key_;
  std::vector<std::vector<std::tuple<trace::SliceId, uint64_t, bool>>> flows_;
  Interned categories_{1}, names_{2}, keys_{3};
  std::string packet_, event_;
  bool is_first_ = true;
  uint64_t aggregated_ = 0;
  Written written_;
};

}  // namespace

Written write_perfetto(const Drawing& drawing, io::TextOut& out) {
  return Writer(drawing, out).write();
}

}  // namespace sonde::exports
