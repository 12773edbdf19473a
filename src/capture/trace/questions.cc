#include "capture/trace/questions.h"

#include <algorithm>
#include <optional>

#include "base/regex.h"
#include "capture/trace/selected.h"

namespace sonde::trace {
namespace {

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
    SONDE_TRY(regex, compiled(pattern));
    if (matcher.key_ == kNone) matcher.labels_ = labels_of(trace, regex);
    matcher.regex_ = std::move(regex);
    return matcher;
  }

  static Result<std::vector<bool>> labels(const Trace& trace, const std::string& text) {
    SONDE_TRY(regex, compiled(text));
    return labels_of(trace, regex);
  }

  bool matches(const Trace& trace, SliceId s) const {
    if (key_ == kNone) return labels_[trace.label_id(s)];
    const auto value = trace.find(s, key_);
    return value && regex_->found_in(trace.printed(*value));
  }

 private:
  static Result<Regex> compiled(std::string_view pattern) {
    if (pattern.size() > 2 && pattern.front() == '/' && pattern.back() == '/')
      return Regex::compile(std::string(pattern.substr(1, pattern.size() - 2)));
    return Regex::compile("(?i)" + quoted(pattern));
  }

  static std::vector<bool> labels_of(const Trace& trace, const Regex& regex) {
    std::vector<bool> fits;
    for (const Label& label : trace.labels()) {
      fits.push_back(regex.found_in(trace.text(label.name)) ||
                     regex.found_in(trace.shown_name_of(label)));
    }
    return fits;
  }

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
  uint16_t shallowest = UINT16_MAX;  // of those inside: what lies deeper than one before it is its
  for (SliceId s = slice + 1;
       s < track.first_slice + track.slices && trace.begin(s) < trace.end(slice); ++s) {
    if (trace.depth(s) <= trace.depth(slice)) break;  // beside it: what follows is not inside
    if (trace.depth(s) > shallowest) continue;
    shallowest = trace.depth(s);
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
  for (const SelectedTrack& part : selected_tracks(trace, question.where)) {
    const Track& track = trace.tracks()[part.track];
    const Picos end = part.stretches.back().end;
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      if (trace.begin(s) >= end) break;
      if (!part.touches(trace, s) || !matcher.matches(trace, s)) continue;
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

Result<std::vector<bool>> labels_matching(const Trace& trace, const std::string& text) {
  return Matcher::labels(trace, text);
}

}  // namespace sonde::trace
