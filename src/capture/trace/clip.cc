#include "capture/trace/clip.h"

#include <algorithm>

#include "capture/trace/builder.h"

namespace sonde::trace {
namespace {

class Clipper {
 public:
  Clipper(const Trace& whole, Picos begin, Picos end)
      : whole_(whole), begin_(begin), end_(end), builder_(whole.format()) {}

  Trace run() {
    builder_.set_host(whole_.host());
    if (whole_.start_ns()) builder_.set_start_ns(*whole_.start_ns());
    for (const auto& [key, value] : whole_.metadata()) builder_.add_metadata(key, value);
    for (const Diagnostic& d : whole_.diagnostics()) builder_.diagnose(d.severity, d.text);
    // In their old order, so that every id stays what it was.
    for (StringId s = 0; s < whole_.string_count(); ++s) builder_.string(whole_.text(s));
    copy_tables();
    new_id_.assign(whole_.slice_count(), kNone);
    for (TrackId t = 0; t < whole_.tracks().size(); ++t) {
      if (whole_.tracks()[t].kind == TrackKind::kAggregate) continue;
      copy_slices(t);
      copy_points(t);
    }
    for (const Flow& flow : whole_.flows()) {
      if (new_id_[flow.from] != kNone && new_id_[flow.to] != kNone)
        builder_.flow(new_id_[flow.from], new_id_[flow.to], flow.kind);
    }
    return std::move(builder_).finish();
  }

 private:
  Arg copied(Arg arg) {
    if (arg.value.type == ArgType::kBytes)
      arg.value.bits = builder_.blob(std::string(as_text(whole_.bytes_of(arg.value))));
    return arg;
  }

  ArgRange copied(ArgRange range) {
    std::vector<Arg> args;
    for (uint32_t i = 0; i < range.count; ++i) args.push_back(copied(whole_.arg(range.first + i)));
    return builder_.add_args(args);
  }

  void copy_tables() {
    for (const Track& track : whole_.tracks()) {
      const ArgRange args = copied(track.args);
      const TrackId t = builder_.track(track.kind, track.parent, whole_.text(track.name), track.id);
      Track& made = builder_.edit(t);
      made.display_name = track.display_name;
      made.order = track.order;
      made.args = args;
    }
    for (const Label& label : whole_.labels())
      builder_.own_label(label.name, label.display_name, copied(label.args), label.category);
  }

  bool is_inside(Picos from, Picos to) const {
    return from < end_ && (to > begin_ || (from == to && from == begin_));
  }

  void copy_slices(TrackId t) {
    const Track& track = whole_.tracks()[t];
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      if (!is_inside(whole_.begin(s), whole_.end(s))) continue;
      const Picos from = std::max(whole_.begin(s), begin_), to = std::min(whole_.end(s), end_);
      new_id_[s] = builder_.slice(t, from, to - from, whole_.label_id(s));
      const ArgRange args = whole_.args(s);
      for (uint32_t i = 0; i < args.count; ++i) {
        const Arg arg = copied(whole_.arg(args.first + i));
        builder_.arg(arg.key, arg.value);
      }
    }
  }

  void copy_points(TrackId t) {
    const Track& track = whole_.tracks()[t];
    const uint32_t last = track.first_point + track.points;
    for (uint32_t p = track.first_point; p < last; ++p) {
      const Picos time = whole_.point_time(p);
      if (time >= end_) break;
      const bool is_passed = p + 1 < last && whole_.point_time(p + 1) <= begin_;
      if (!is_passed) builder_.point(t, std::max(time, begin_), whole_.point_value(p));
    }
  }

  const Trace& whole_;
  const Picos begin_, end_;
  Builder builder_;
  std::vector<SliceId> new_id_;  // of a slice of the whole; kNone outside
};

}  // namespace

Trace clipped(const Trace& whole, Picos begin, Picos end) {
  return Clipper(whole, begin, end).run();
}

}  // namespace sonde::trace
