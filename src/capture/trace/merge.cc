#include "capture/trace/merge.h"

#include <algorithm>
#include <string>
#include <vector>

#include "capture/trace/builder.h"

namespace sonde::trace {
namespace {

// One host's texts, labels and tracks as those of the whole.
struct Part {
  std::vector<StringId> strings;  // kNone: not looked up yet
  std::vector<LabelId> labels;
  TrackId first_track = 0;
  SliceId first_slice = 0;
};

class Merger {
 public:
  Merger(Builder& builder, const Host& host) : builder_(builder), host_(host), from_(*host.trace) {
    part_.strings.assign(from_.string_count(), kNone);
  }

  // Labels and tracks hold arguments of their own, which come before those of slices.
  void add_tables(size_t place) {
    for (const Label& label : from_.labels()) {
      const bool is_plain = label.display_name == kNone && label.args.count == 0;
      part_.labels.push_back(
          is_plain ? builder_.label(from_.text(label.name), label.category == kNone
                                                                ? std::string_view()
                                                                : from_.text(label.category))
                   : builder_.own_label(string(label.name), string(label.display_name),
                                        args(label.args), string(label.category)));
    }
    bool is_first = true;
    for (const Track& track : from_.tracks()) {
      const std::string name = track.parent == kNone
                                   ? host_.name + " · " + std::string(from_.text(track.name))
                                   : std::string(from_.text(track.name));
      const TrackId parent = track.parent == kNone ? kNone : part_.first_track + track.parent;
      const TrackId id = builder_.track(track.kind, parent, name, track.id);
      if (is_first) part_.first_track = id;
      is_first = false;
      const ArgRange own = args(track.args);
      Track& made = builder_.edit(id);
      made.order = track.parent == kNone ? static_cast<int64_t>(place) * 1'000'000 +
                                               std::clamp<int64_t>(track.order, 0, 999'999)
                                         : track.order;
      made.args = own;
      if (track.display_name != kNone && track.parent != kNone)
        made.display_name = string(track.display_name);
    }
  }

  void add_slices(int64_t offset_ps, const std::vector<Flow>& arrows) {
    part_.first_slice = static_cast<SliceId>(builder_.slice_count());
    for (TrackId t = 0; t < from_.tracks().size(); ++t) {
      const Track& track = from_.tracks()[t];
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        const int64_t shift = track.kind == TrackKind::kAggregate ? 0 : offset_ps;
        builder_.slice(part_.first_track + t, {clamped_begin(from_.begin(s).value + shift)},
                       from_.duration(s), part_.labels[from_.label_id(s)]);
        const ArgRange range = from_.args(s);
        for (uint32_t i = range.first; i < range.first + range.count; ++i) {
          const Arg arg = translated(from_.arg(i));
          builder_.arg(arg.key, arg.value);
        }
      }
      for (uint32_t p = track.first_point; p < track.first_point + track.points; ++p)
        builder_.point(part_.first_track + t,
                       {clamped_begin(from_.point_time(p).value + offset_ps)},
                       from_.point_value(p));
    }
    // Slices of a track are neighbours and tracks come in order, so ids move by one number.
    for (const Flow& flow : arrows)
      builder_.flow(part_.first_slice + flow.from, part_.first_slice + flow.to,
                    flow.kind == kNone ? kNone : string(flow.kind));
  }

 private:
  StringId string(StringId id) {
    if (id == kNone) return kNone;
    StringId& known = part_.strings[id];
    if (known == kNone) known = builder_.string(from_.text(id));
    return known;
  }
  Arg translated(Arg arg) {
    arg.key = string(arg.key);
    if (arg.value.type == ArgType::kText)
      arg.value.bits = string(static_cast<StringId>(arg.value.bits));
    if (arg.value.type == ArgType::kBytes)
      arg.value.bits = builder_.blob(std::string(as_text(from_.bytes_of(arg.value))));
    return arg;
  }
  ArgRange args(ArgRange range) {
    std::vector<Arg> list;
    for (uint32_t i = range.first; i < range.first + range.count; ++i)
      list.push_back(translated(from_.arg(i)));
    return builder_.add_args(list);
  }

  Builder& builder_;
  const Host& host_;
  const Trace& from_;
  Part part_;
};

}  // namespace

Trace merged(std::span<const MergedPart> parts, std::string_view rule) {
  Builder builder(kMergedFormat);
  std::vector<Merger> mergers;
  size_t slices = 0;
  for (const MergedPart& part : parts) {
    mergers.emplace_back(builder, *part.host);
    slices += part.host->trace->slice_count();
  }
  for (size_t i = 0; i < mergers.size(); ++i) mergers[i].add_tables(i);
  builder.reserve(slices, 4 * slices);
  for (size_t i = 0; i < mergers.size(); ++i)
    mergers[i].add_slices(parts[i].offset_ps, parts[i].arrows);
  if (!parts.empty() && parts[0].host->trace->start_ns())
    builder.set_start_ns(*parts[0].host->trace->start_ns());
  builder.diagnose(
      Diagnostic::Severity::kInfo,
      std::to_string(parts.size()) + " hosts on one axis, aligned by " + std::string(rule));
  return std::move(builder).finish();
}

}  // namespace sonde::trace
