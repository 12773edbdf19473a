#include "trace/questions.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>

#include "base/regex.h"

namespace sonde::trace {
namespace {

std::vector<TrackId> tracks_of(const Trace& trace, const Selection& selection) {
  std::vector<TrackId> tracks;
  if (selection.tracks.empty()) {
    for (TrackId t = 0; t < trace.tracks().size(); ++t) {
      if (trace.tracks()[t].slices > 0 && trace.tracks()[t].kind != TrackKind::kAggregate)
        tracks.push_back(t);
    }
  } else {
    for (const TrackId t : selection.tracks) {
      if (t < trace.tracks().size()) tracks.push_back(t);
    }
  }
  return tracks;
}

Picos clipped(const Trace& trace, SliceId s, const Selection& selection) {
  return std::max(
      Picos{0}, std::min(trace.end(s), selection.end) - std::max(trace.begin(s), selection.begin));
}

bool overlaps(const Trace& trace, SliceId s, const Selection& selection) {
  const bool instant = trace.duration(s).value == 0;
  return trace.begin(s) < selection.end &&
         (trace.end(s) > selection.begin || (instant && trace.begin(s) >= selection.begin));
}

// Calls fn(slice, stack of the slices around it, innermost last) for each slice of the selection.
template <class Fn>
void for_each_nested(const Trace& trace, const Selection& selection, Fn&& fn) {
  std::vector<SliceId> stack;
  for (const TrackId t : tracks_of(trace, selection)) {
    const Track& track = trace.tracks()[t];
    stack.clear();
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      if (trace.begin(s) >= selection.end) break;
      stack.resize(std::min<size_t>(stack.size(), trace.depth(s)));
      if (overlaps(trace, s, selection)) fn(s, stack);
      stack.push_back(s);
    }
  }
}

// What the search text asks for, prepared once: which labels match and, for key=value, which
// arguments.
class Matcher {
 public:
  static Result<Matcher> make(const Trace& trace, const std::string& text) {
    Matcher matcher;
    std::string_view pattern = text;
    if (const size_t at = text.find('=');
        at != std::string::npos && at > 0 && trace.key(text.substr(0, at)) != kNone) {
      matcher.key_ = trace.key(text.substr(0, at));
      pattern.remove_prefix(at + 1);
    }
    std::string expression;
    if (pattern.size() > 2 && pattern.front() == '/' && pattern.back() == '/') {
      expression = pattern.substr(1, pattern.size() - 2);
    } else {
      expression = "(?i)" + quoted(pattern);
    }
    SONDE_TRY(regex, Regex::compile(expression));
    if (matcher.key_ == kNone) {
      for (const Label& label : trace.labels()) {
        matcher.labels_.push_back(regex.found_in(trace.text(label.name)) ||
                                  regex.found_in(trace.shown_name_of(label)));
      }
    }
    matcher.regex_ = std::move(regex);
    return matcher;
  }

  bool matches(const Trace& trace, SliceId s) const {
    if (key_ == kNone) return labels_[trace.label_id(s)];
    const auto value = trace.find(s, key_);
    return value && regex_->found_in(trace.printed(*value));
  }

 private:
  static std::string quoted(std::string_view text) {
    std::string out;
    for (const char c : text) {
      const bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
                         c == '_' || static_cast<unsigned char>(c) >= 0x80;
      if (!plain) out.push_back('\\');
      out.push_back(c);
    }
    return out;
  }

  KeyId key_ = kNone;
  std::vector<bool> labels_;
  std::optional<Regex> regex_;
};

}  // namespace

std::vector<NameTotal> totals(const Trace& trace, const Selection& selection) {
  std::vector<uint32_t> row_of(trace.labels().size(), kNone);
  std::vector<NameTotal> rows;
  std::vector<std::vector<int64_t>> durations;
  const auto row = [&](LabelId label) -> uint32_t {
    if (row_of[label] == kNone) {
      row_of[label] = static_cast<uint32_t>(rows.size());
      rows.push_back({});
      rows.back().label = label;
      durations.emplace_back();
    }
    return row_of[label];
  };
  for_each_nested(trace, selection, [&](SliceId s, const std::vector<SliceId>& stack) {
    const Picos inside = clipped(trace, s, selection);
    const uint32_t at = row(trace.label_id(s));
    NameTotal& total = rows[at];
    ++total.count;
    total.total = total.total + inside;
    total.self = total.self + inside;
    total.longest = std::max(total.longest, trace.duration(s));
    durations[at].push_back(trace.duration(s).value);
    if (!stack.empty() && overlaps(trace, stack.back(), selection)) {
      const SliceId above = stack.back();
      const Picos shared =
          std::min(trace.end(s), trace.end(above)) - std::max(trace.begin(s), selection.begin);
      NameTotal& parent = rows[row(trace.label_id(above))];
      parent.self = parent.self - std::clamp(shared, Picos{0}, inside);
    }
  });
  for (size_t i = 0; i < rows.size(); ++i) {
    auto& values = durations[i];
    const auto percentile = [&](size_t rank) {
      std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(rank), values.end());
      return Picos{values[rank]};
    };
    rows[i].p50 = percentile(values.size() / 2);
    rows[i].p99 = percentile(std::min(values.size() - 1, values.size() * 99 / 100));
  }
  std::sort(rows.begin(), rows.end(), [](const NameTotal& a, const NameTotal& b) {
    return a.total != b.total ? a.total > b.total : a.label < b.label;
  });
  return rows;
}

SliceId parent_of(const Trace& trace, SliceId slice) {
  if (trace.depth(slice) == 0) return kNone;
  const SliceId first = trace.tracks()[trace.track_of(slice)].first_slice;
  for (SliceId s = slice; s > first;) {
    --s;
    if (trace.depth(s) < trace.depth(slice)) return s;
  }
  return kNone;
}

Picos self_time(const Trace& trace, SliceId slice) {
  const Track& track = trace.tracks()[trace.track_of(slice)];
  Picos self = trace.duration(slice);
  for (SliceId s = slice + 1;
       s < track.first_slice + track.slices && trace.begin(s) < trace.end(slice); ++s) {
    if (trace.depth(s) == trace.depth(slice) + 1)
      self = self - (std::min(trace.end(s), trace.end(slice)) - trace.begin(s));
  }
  return std::max(self, Picos{0});
}

Result<Hits> search(const Trace& trace, const Search& question) {
  SONDE_TRY(matcher, Matcher::make(trace, question.text));
  Hits hits;
  hits.per_pixel.resize(question.pixels);
  const double scale =
      static_cast<double>(question.pixels) /
      static_cast<double>(std::max<int64_t>(1, (question.where.end - question.where.begin).value));
  std::vector<SliceId> found;
  for (const TrackId t : tracks_of(trace, question.where)) {
    const Track& track = trace.tracks()[t];
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      if (trace.begin(s) >= question.where.end) break;
      if (!overlaps(trace, s, question.where) || !matcher.matches(trace, s)) continue;
      found.push_back(s);
      if (question.pixels == 0) continue;
      const double pixel =
          static_cast<double>((trace.begin(s) - question.where.begin).value) * scale;
      ++hits.per_pixel[static_cast<size_t>(
          std::clamp(pixel, 0.0, static_cast<double>(question.pixels - 1)))];
    }
  }
  hits.total = found.size();
  const auto earlier = [&](SliceId a, SliceId b) {
    return trace.begin(a) != trace.begin(b) ? trace.begin(a) < trace.begin(b) : a < b;
  };
  if (question.after != kNone && question.after < trace.slice_count()) {
    std::erase_if(found, [&](SliceId s) { return !earlier(question.after, s); });
  }
  const size_t wanted = std::min<size_t>(question.limit, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<ptrdiff_t>(wanted), found.end(),
                    earlier);
  found.resize(wanted);
  hits.slices = std::move(found);
  return hits;
}

std::vector<FlameNode> flame(const Trace& trace, const Selection& selection) {
  std::vector<FlameNode> nodes(1);
  boost::unordered_flat_map<uint64_t, uint32_t> known;  // parent << 32 | label
  std::vector<uint32_t> path;                           // flame nodes of the stack
  for_each_nested(trace, selection, [&](SliceId s, const std::vector<SliceId>& stack) {
    // The stack may hold slices outside the selection; they are the path all the same.
    path.assign(1, 0);
    for (const SliceId above : stack) {
      const auto [at, is_new] = known.emplace(uint64_t{path.back()} << 32 | trace.label_id(above),
                                              static_cast<uint32_t>(nodes.size()));
      if (is_new) nodes.push_back({trace.label_id(above), path.back(), 0, {}, {}});
      path.push_back(at->second);
    }
    const auto [at, is_new] = known.emplace(uint64_t{path.back()} << 32 | trace.label_id(s),
                                            static_cast<uint32_t>(nodes.size()));
    if (is_new) nodes.push_back({trace.label_id(s), path.back(), 0, {}, {}});
    FlameNode& node = nodes[at->second];
    const Picos inside = clipped(trace, s, selection);
    ++node.count;
    node.total = node.total + inside;
    node.self = node.self + inside;
    FlameNode& parent = nodes[path.back()];
    if (path.size() == 1) {
      parent.total = parent.total + inside;
    } else {
      parent.self = std::max(Picos{0}, parent.self - inside);
    }
  });
  return nodes;
}

}  // namespace sonde::trace
