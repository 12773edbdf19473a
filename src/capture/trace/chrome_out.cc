// Writes a selection in the Chrome trace format: names of processes and threads first, then
// complete events and counters, about 256 kB a piece.
#include <algorithm>
#include <cmath>
#include <memory>

#include "capture/trace/questions.h"
#include "codec/json.h"

namespace sonde::trace {
namespace {

constexpr size_t kPiece = 256 << 10;

class Writer {
 public:
  Writer(std::shared_ptr<const Trace> trace, Selection selection)
      : trace_(std::move(trace)), selection_(std::move(selection)) {
    if (selection_.tracks.empty()) {
      for (TrackId t = 0; t < trace_->tracks().size(); ++t) selection_.tracks.push_back(t);
    }
  }

  std::optional<std::string> next() {
    if (done_) return std::nullopt;
    std::string out;
    if (track_ == 0 && slice_ == kNone) {
      out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
      for (TrackId t = 0; t < trace_->tracks().size(); ++t) name(out, t);
    }
    while (out.size() < kPiece && track_ < selection_.tracks.size()) step(out);
    if (track_ == selection_.tracks.size()) {
      done_ = true;
      out += "\n]}\n";
    }
    return out;
  }

 private:
  TrackId process_of(TrackId t) const {
    for (int depth = 0; trace_->tracks()[t].parent != kNone && depth < 64; ++depth)
      t = trace_->tracks()[t].parent;
    return t;
  }

  void begin_event(std::string& out) {
    if (!first_) out += ",\n";
    first_ = false;
  }

  void name(std::string& out, TrackId t) {
    begin_event(out);
    JsonWriter json(out);
    const bool is_process = trace_->tracks()[t].parent == kNone;
    json.object([&] {
      json.key("ph").string("M");
      json.key("name").string(is_process ? "process_name" : "thread_name");
      json.key("pid").number(static_cast<uint64_t>(process_of(t)));
      if (!is_process) json.key("tid").number(static_cast<uint64_t>(t));
      json.key("args").object([&] { json.key("name").string(trace_->shown_track_name(t)); });
    });
  }

  void step(std::string& out) {
    const TrackId t = selection_.tracks[track_];
    if (t >= trace_->tracks().size()) {
      ++track_;
      return;
    }
    const Track& track = trace_->tracks()[t];
    if (slice_ == kNone) {
      slice_ = track.first_slice;
      for (uint32_t p = track.first_point; p < track.first_point + track.points; ++p)
        point(out, t, p);
    }
    const SliceId end = track.first_slice + track.slices;
    for (; slice_ < end && out.size() < kPiece; ++slice_) {
      if (trace_->begin(slice_) < selection_.end && trace_->end(slice_) >= selection_.begin)
        event(out, t, slice_);
    }
    if (slice_ < end) return;
    ++track_;
    slice_ = kNone;
  }

  void event(std::string& out, TrackId t, SliceId s) {
    begin_event(out);
    JsonWriter json(out);
    json.object([&] {
      json.key("ph").string("X");
      json.key("name").string(trace_->shown_name(s));
      if (trace_->label(s).category != kNone)
        json.key("cat").string(trace_->text(trace_->label(s).category));
      json.key("pid").number(static_cast<uint64_t>(process_of(t)));
      json.key("tid").number(static_cast<uint64_t>(t));
      json.key("ts").number(to_micros(trace_->begin(s)));
      json.key("dur").number(to_micros(trace_->duration(s)));
      const ArgRange range = trace_->args(s);
      if (range.count == 0) return;
      json.key("args").object([&] {
        for (uint32_t a = range.first; a < range.first + range.count; ++a) {
          const Arg arg = trace_->arg(a);
          json.key(trace_->key_name(arg.key));
          if (arg.value.is_number() && std::isfinite(arg.value.as_double())) {
            json.number(arg.value.as_double());
          } else {
            json.string(trace_->printed(arg.value));
          }
        }
      });
    });
  }

  void point(std::string& out, TrackId t, uint32_t p) {
    const Picos time = trace_->point_time(p);
    if (time < selection_.begin || time >= selection_.end) return;
    begin_event(out);
    JsonWriter json(out);
    json.object([&] {
      json.key("ph").string("C");
      json.key("name").string(trace_->shown_track_name(t));
      json.key("pid").number(static_cast<uint64_t>(process_of(t)));
      json.key("ts").number(to_micros(time));
      json.key("args").object([&] { json.key("value").number(trace_->point_value(p)); });
    });
  }

  std::shared_ptr<const Trace> trace_;
  Selection selection_;
  size_t track_ = 0;
  SliceId slice_ = kNone;
  bool first_ = true, done_ = false;
};

}  // namespace

std::function<std::optional<std::string>()> chrome_json(std::shared_ptr<const Trace> trace,
                                                        Selection selection) {
  const auto writer = std::make_shared<Writer>(std::move(trace), std::move(selection));
  return [writer] { return writer->next(); };
}

}  // namespace sonde::trace
