#include "capture/export/chrome_writer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <tuple>

#include "codec/json.h"
#include "sonde/version.h"

namespace sonde::exports {
namespace {

using trace::SliceId;
using trace::TrackId;
using trace::TrackKind;

// Microseconds with as many decimals as the time has, exactly.
void append_micros(std::string& out, int64_t ns, int64_t ps) {
  ns += ps / 1000;
  ps %= 1000;
  if (ps < 0) {
    ps += 1000;
    --ns;
  }
  if (ns < 0) {  // written as a negative number of picoseconds; before the axis, so it is small
    out.push_back('-');
    ns = -ns;
    if (ps != 0) {
      --ns;
      ps = 1000 - ps;
    }
  }
  char digits[48];
  char* end = fmt::format_to(digits, "{}", ns / 1000);
  if (const int64_t part = ns % 1000 * 1000 + ps; part != 0) {
    end = fmt::format_to(end, ".{:06}", part);
    while (end[-1] == '0') --end;
  }
  out.append(digits, end);
}

struct FlowEnd {
  SliceId slice;
  uint64_t id;
  bool is_start;
};

class Writer {
 public:
  Writer(const Drawing& drawing, io::TextOut& out)
      : drawing_(drawing),
        options_(*drawing.options),
        out_(out),
        lanes_(lanes_of(drawing.runs, lane_options(drawing))) {
    for (const Run& run : drawing.runs) {
      filters_.emplace_back(drawing.filter, run);
      instant_key_.push_back(run.trace->key("phase"));
      std::vector<bool>& kept = kept_keys_.emplace_back();
      for (const std::string& key : options_.keep_args) {
        const trace::KeyId id = run.trace->key(key);
        if (id == trace::kNone) continue;
        if (kept.size() <= id) kept.resize(id + 1);
        kept[id] = true;
      }
    }
  }

  Written write() {
    head();
    names();
    if (drawing_.separates_runs) separators();
    if (!options_.hides_dataflow) number_flows();
    // Slices first come into order lane by lane, so memory is that of the longest lane.
    uint32_t pid = 0;
    for (const Process& process : lanes_.processes) {
      for (size_t i = 0; i < process.lanes.size(); ++i)
        lane(lanes_.lanes[process.lanes[i]], pid, static_cast<uint32_t>(i));
      ++pid;
    }
    out_.text() += "\n]}\n";
    if (aggregated_ != 0)
      written_.losses.push_back(
          fmt::format("{} sums without a start time have no place on a timeline", aggregated_));
    if (blobs_ != 0)
      written_.losses.push_back(
          fmt::format("{} arguments of raw bytes are written as their size only", blobs_));
    return std::move(written_);
  }

 private:
  std::string& begin_event() {
    std::string& text = out_.text();
    text += is_first_ ? "\n" : ",\n";
    is_first_ = false;
    return text;
  }

  void head() {
    std::string& text = out_.text();
    text += "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"generator\":\"sonde " SONDE_VERSION
            "\",\"sources\":[";
    for (size_t i = 0; i < drawing_.runs.size(); ++i) {
      const Run& run = drawing_.runs[i];
      if (i > 0) text += ',';
      JsonWriter json(text);
      json.object([&] {
        json.key("file").string(run.source);
        json.key("name").string(run.name);
        json.key("format").string(run.trace->format());
        if (run.step) json.key("step").number(*run.step);
      });
    }
    text += "]},\"traceEvents\":[";
  }

  void metadata(std::string_view name, uint32_t pid, const uint32_t* tid, std::string_view key,
                std::string_view value) {
    std::string& text = begin_event();
    text += fmt::format("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{}", name, pid);
    if (tid) text += fmt::format(",\"tid\":{}", *tid);
    text += fmt::format(",\"args\":{{\"{}\":", key);
    if (key == "sort_index") {
      text += value;
    } else {
      append_json_string(text, value);
    }
    text += "}}";
    out_.piece_done();
  }

  void names() {
    for (uint32_t pid = 0; pid < lanes_.processes.size(); ++pid) {
      const Process& process = lanes_.processes[pid];
      metadata("process_name", pid, nullptr, "name", process.name);
      metadata("process_sort_index", pid, nullptr, "sort_index", fmt::format("{}", pid));
      if (!process.labels.empty())
        metadata("process_labels", pid, nullptr, "labels", process.labels);
      for (uint32_t tid = 0; tid < process.lanes.size(); ++tid) {
        const Lane& lane = lanes_.lanes[process.lanes[tid]];
        if (lane.kind == TrackKind::kCounter) continue;
        metadata("thread_name", pid, &tid, "name", lane.name);
        metadata("thread_sort_index", pid, &tid, "sort_index", fmt::format("{}", tid));
      }
    }
  }

  void separators() {
    const std::vector<RunFacts> facts = judge(drawing_.runs);
    for (size_t r = 0; r < drawing_.runs.size(); ++r) {
      const Run& run = drawing_.runs[r];
      std::string& text = begin_event();
      text += "{\"ph\":\"i\",\"s\":\"g\",\"cat\":\"Run\",\"name\":";
      append_json_string(text, separator_name(drawing_, r));
      text += ",\"pid\":0,\"tid\":0,\"ts\":";
      time(text, drawing_.axis.places[r].offset_ps + run.begin().value);
      text += ",\"args\":";
      JsonWriter json(text);
      json.object([&] {
        json.key("run").number(static_cast<uint64_t>(r));
        json.key("name").string(run.name);
        json.key("source").string(run.source);
        if (run.step) json.key("step").number(*run.step);
        json.key("span_us").number(static_cast<double>(run.span_ps()) / 1e6);
        if (facts[r].is_warmup) json.key("warm-up").boolean(true);
        if (run.clock_ns) json.key("clock_ns").number(*run.clock_ns);
      });
      text += '}';
      ++written_.instants;
    }
  }

  // Ids are unique over the file, whatever the producers wrote.
  void number_flows() {
    uint64_t next = 0;
    for (const Run& run : drawing_.runs) {
      std::vector<FlowEnd>& ends = flows_.emplace_back();
      for (const trace::Flow& flow : run.trace->flows()) {
        ends.push_back({flow.from, next, true});
        ends.push_back({flow.to, next, false});
        ++next;
      }
      std::stable_sort(ends.begin(), ends.end(), [](const FlowEnd& a, const FlowEnd& b) {
        return std::tie(a.slice, a.id) < std::tie(b.slice, b.id);
      });
    }
  }

  void time(std::string& text, int64_t ps) const {
    if (options_.time_unit == "ns") ps = (ps >= 0 ? ps + 500 : ps - 499) / 1000 * 1000;
    append_micros(text, drawing_.axis.base_ns, ps);
  }

  void lane(const Lane& lane, uint32_t pid, uint32_t tid) {
    if (lane.kind == TrackKind::kAggregate) {
      for (const LanePart& part : lane.parts)
        aggregated_ += drawing_.runs[part.run].trace->tracks()[part.track].slices;
      return;
    }
    if (lane.kind == TrackKind::kCounter) return counter(lane, pid);
    where_ = fmt::format(",\"pid\":{},\"tid\":{},\"ts\":", pid, tid);
    for (const Placed& placed : slices_of(drawing_, lane, filters_)) {
      event(lane, placed);
      out_.piece_done();
    }
    // A lane may hold samples beside its slices.
    counter(lane, pid);
  }

  void name_and_category(std::string& text, const Run& run, SliceId s) {
    text += ",\"name\":";
    append_json_string(text, run.trace->shown_name(s));
    if (const std::string_view category = run.category(s); !category.empty()) {
      text += ",\"cat\":";
      append_json_string(text, category);
    }
  }

  void event(const Lane& lane, const Placed& placed) {
    const Run& run = drawing_.runs[placed.run];
    const bool is_instant =
        placed.duration == 0 && instant_key_[placed.run] != trace::kNone &&
        run.trace->text_of(
            run.trace->find(run.trace->args(placed.slice), instant_key_[placed.run])) == "instant";
    const bool is_async = lane.kind == TrackKind::kAsync && !is_instant;
    std::string& text = begin_event();
    text += is_instant ? "{\"ph\":\"i\",\"s\":\"t\"" : is_async ? "{\"ph\":\"b\"" : "{\"ph\":\"X\"";
    name_and_category(text, run, placed.slice);
    if (is_async) text += fmt::format(",\"id\":{}", ++async_);
    text += where_;
    time(text, placed.begin);
    if (!is_instant && !is_async) {
      text += ",\"dur\":";
      append_micros(
          text, 0,
          options_.time_unit == "ns" ? (placed.duration + 500) / 1000 * 1000 : placed.duration);
    }
    if (!options_.drops_args) arguments(text, placed, is_instant);
    text += '}';
    if (is_async) {
      std::string& end = begin_event();
      end += "{\"ph\":\"e\"";
      name_and_category(end, run, placed.slice);
      end += fmt::format(",\"id\":{}", async_) + where_;
      time(end, placed.begin + placed.duration);
      end += '}';
    }
    ++written_.slices;
    written_.total_ps += static_cast<uint64_t>(placed.duration);
    if (!flows_.empty()) flow_ends(placed);
  }

  void arguments(std::string& text, const Placed& placed, bool is_instant) {
    const trace::Trace& trace = *drawing_.runs[placed.run].trace;
    const trace::ArgRange range = trace.args(placed.slice);
    const std::vector<bool>& kept = kept_keys_[placed.run];
    bool any = false;
    for (uint32_t a = range.first; a < range.first + range.count; ++a) {
      const trace::Arg arg = trace.arg(a);
      if (is_instant && arg.key == instant_key_[placed.run]) continue;
      if (!options_.keep_args.empty() && !(arg.key < kept.size() && kept[arg.key])) continue;
      text += any ? "," : ",\"args\":{";
      any = true;
      append_json_string(text, trace.key_name(arg.key));
      text += ':';
      value(text, trace, arg.value);
    }
    if (any) text += '}';
  }

  void value(std::string& text, const trace::Trace& trace, const trace::ArgValue& value) {
    switch (value.type) {
      case trace::ArgType::kInt:
        fmt::format_to(std::back_inserter(text), "{}", static_cast<int64_t>(value.bits));
        return;
      case trace::ArgType::kUint:
        fmt::format_to(std::back_inserter(text), "{}", value.bits);
        return;
      case trace::ArgType::kBool:
        text += value.bits != 0 ? "true" : "false";
        return;
      case trace::ArgType::kDouble:
        append_json_number(text, value.as_double());
        return;
      case trace::ArgType::kText:
        append_json_string(text, trace.text(static_cast<trace::StringId>(value.bits)));
        return;
      case trace::ArgType::kBytes:
        ++blobs_;
        append_json_string(text, fmt::format("{} bytes", trace.bytes_of(value).size()));
        return;
    }
  }

  void flow_ends(const Placed& placed) {
    const auto& ends = flows_[placed.run];
    const trace::Trace& trace = *drawing_.runs[placed.run].trace;
    auto at = std::lower_bound(ends.begin(), ends.end(), placed.slice,
                               [](const FlowEnd& e, SliceId s) { return e.slice < s; });
    for (; at != ends.end() && at->slice == placed.slice; ++at) {
      const trace::Flow& flow = trace.flows()[at->id - first_flow(placed.run)];
      const std::string_view kind =
          flow.kind == trace::kNone ? std::string_view("flow") : trace.text(flow.kind);
      std::string& text = begin_event();
      text += at->is_start ? "{\"ph\":\"s\",\"name\":" : "{\"ph\":\"f\",\"bp\":\"e\",\"name\":";
      append_json_string(text, kind);
      text += ",\"cat\":";
      append_json_string(text, kind);
      text += fmt::format(",\"id\":{}", at->id) + where_;
      time(text, placed.begin);
      text += '}';
      written_.flows += at->is_start;
    }
  }

  uint64_t first_flow(uint32_t run) const {
    uint64_t first = 0;
    for (uint32_t r = 0; r < run; ++r) first += drawing_.runs[r].trace->flows().size();
    return first;
  }

  void counter(const Lane& lane, uint32_t pid) {
    for (const LanePart& part : lane.parts) {
      const trace::Trace& trace = *drawing_.runs[part.run].trace;
      const trace::Track& track = trace.tracks()[part.track];
      const int64_t offset = drawing_.axis.places[part.run].offset_ps;
      for (uint32_t p = track.first_point; p < track.first_point + track.points; ++p) {
        const int64_t at = trace.point_time(p).value + offset;
        if (at < drawing_.window.begin || at > drawing_.window.end) continue;
        std::string& text = begin_event();
        text += "{\"ph\":\"C\",\"name\":";
        append_json_string(text, lane.name);
        text += fmt::format(",\"pid\":{},\"ts\":", pid);
        time(text, at);
        text += ",\"args\":{\"value\":";
        append_json_number(text, trace.point_value(p));
        text += "}}";
        ++written_.points;
        out_.piece_done();
      }
    }
  }

  const Drawing& drawing_;
  const Options& options_;
  io::TextOut& out_;
  Lanes lanes_;
  std::vector<Filter::ForRun> filters_;       // by run
  std::vector<trace::KeyId> instant_key_;     // by run
  std::vector<std::vector<bool>> kept_keys_;  // by run and key
  std::vector<std::vector<FlowEnd>> flows_;   // by run, in order of slice
  std::string where_;
  uint64_t async_ = 0, aggregated_ = 0, blobs_ = 0;
  bool is_first_ = true;
  Written written_;
};

}  // namespace

LaneOptions lane_options(const Drawing& drawing) {
  LaneOptions options;
  options.one_group_a_run = drawing.options->layout == "stack" && drawing.separates_runs;
  options.labels_runs = drawing.separates_runs;
  options.hides_memory = !drawing.options->shows_memory;
  options.keeps_empty = drawing.options->lane_rule() == imports::Lanes::kTensorFlow;
  return options;
}

std::string separator_name(const Drawing& drawing, size_t run) {
  const Run& r = drawing.runs[run];
  if (drawing.options->layout != "sequence") return fmt::format("run {}", run);
  std::string name = fmt::format("run {}", run);
  if (r.step) name += fmt::format(" · step {}", *r.step);
  constexpr int64_t k2001 = 978'307'200'000'000'000;
  if (r.clock_ns && *r.clock_ns > k2001) {
    const auto seconds = static_cast<std::time_t>(*r.clock_ns / 1'000'000'000);
    name += fmt::format(" · {:%Y-%m-%d %H:%M:%S}", fmt::gmtime(seconds));
  }
  return name + " · " + human_time(static_cast<double>(r.span_ps()));
}

std::vector<Placed> slices_of(const Drawing& drawing, const Lane& lane,
                              std::span<const Filter::ForRun> filters) {
  std::vector<Placed> placed;
  for (const LanePart& part : lane.parts) {
    const trace::Trace& trace = *drawing.runs[part.run].trace;
    const trace::Track& track = trace.tracks()[part.track];
    const int64_t offset = drawing.axis.places[part.run].offset_ps;
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      const int64_t begin = trace.begin(s).value + offset, duration = trace.duration(s).value;
      if (begin > drawing.window.end || begin + duration < drawing.window.begin) continue;
      if (!drawing.filter.keeps_all() && !filters[part.run].keeps(part.track, s)) continue;
      placed.push_back({begin, duration, part.run, part.track, s});
    }
  }
  if (lane.parts.size() > 1) {
    std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
      if (a.begin != b.begin) return a.begin < b.begin;
      return a.duration > b.duration;
    });
  }
  return placed;
}

Written write_chrome(const Drawing& drawing, io::TextOut& out) {
  return Writer(drawing, out).write();
}

}  // namespace sonde::exports
