// slices: the large table. A scan goes track by track over the stretch that time and id leave, in
// a loop of ours; names and categories are tested once a label, not once a slice.
#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

#include "base/regex.h"
#include "capture/sql/tables.h"

namespace sonde::capture::sql {
namespace {

using trace::kNone;
using trace::LabelId;
using trace::SliceId;
using trace::Trace;
using trace::TrackId;

enum Column { kId, kTs, kDur, kTrack, kName, kCategory, kDepth, kParent, kSelf };
constexpr SourceColumn kColumns[] = {
    {"id", "INTEGER", Narrows::kKey},
    {"ts", "INTEGER", Narrows::kRange},
    {"dur", "INTEGER", Narrows::kRange},
    {"track", "INTEGER", Narrows::kRange},
    {"name", "TEXT", Narrows::kText},
    {"category", "TEXT", Narrows::kText},
    {"depth", "INTEGER", Narrows::kRange},
    {"parent", "INTEGER", Narrows::kFew},
    {"self", "INTEGER"},
};

constexpr Order kAsStored = 0;  // by track, then time, the longest first: ascending ids
constexpr Order kByName = 1;    // by name, then category
constexpr Order kByCategory = 2;
constexpr Order kDownwards = 4;  // added to the two above

// Whether a text fits a constraint; nothing when it cannot be told here.
std::optional<bool> fits(const Constraint& constraint, std::string_view text,
                         const std::optional<Regex>& regex) {
  if (sqlite3_value_type(constraint.value) != SQLITE_TEXT) return std::nullopt;
  const auto* pattern = reinterpret_cast<const char*>(sqlite3_value_text(constraint.value));
  if (!pattern) return std::nullopt;
  switch (constraint.comparison) {
    case Comparison::kEqual:
      return text ==
             std::string_view(pattern, static_cast<size_t>(sqlite3_value_bytes(constraint.value)));
    case Comparison::kLike:
      return sqlite3_strlike(pattern, std::string(text).c_str(), 0) == 0;
    case Comparison::kGlob:
      return sqlite3_strglob(pattern, std::string(text).c_str()) == 0;
    case Comparison::kRegexp:
      return regex ? std::optional(regex->found_in(text)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

class SliceCursor final : public Cursor {
 public:
  explicit SliceCursor(Model& model) : model_(model), trace_(model.trace()) {}

  void start(std::span<const Constraint> constraints, Order order) override {
    id_ = ts_ = dur_ = track_ = depth_ = {};
    wanted_.clear();
    sorted_.clear();
    is_sorted_ = false;
    for (const Constraint& constraint : constraints) take(constraint);
    at_track_ = 0;
    slice_ = stop_ = 0;
    if (id_.is_empty() || ts_.is_empty() || dur_.is_empty() || track_.is_empty() ||
        depth_.is_empty())
      at_track_ = trace_.tracks().size();
    find();
    if (order != kAsStored)
      sort_by(order & kByName ? Model::By::kName : Model::By::kCategory, order & kDownwards);
  }

  bool at_end() const override {
    return is_sorted_ ? at_sorted_ >= sorted_.size() : slice_ >= stop_;
  }
  void advance() override {
    if (is_sorted_) {
      ++at_sorted_;
      find_rank();
    } else {
      ++slice_;
      find();
    }
  }
  int64_t row() const override { return current(); }

  void column(sqlite3_context* out, int column) override {
    const SliceId s = current();
    switch (column) {
      case kId:
        return sqlite3_result_int64(out, s);
      case kTs:
        return sqlite3_result_int64(out, trace_.begin(s).value);
      case kDur:
        return sqlite3_result_int64(
            out, is_sorted_ ? sorted_durations_[at_sorted_] : trace_.duration(s).value);
      case kTrack:
        return sqlite3_result_int64(
            out, is_sorted_ ? trace_.track_of(s) : static_cast<TrackId>(at_track_ - 1));
      case kName:
        return put(out, trace_.shown_name_of(label()));
      case kCategory:
        if (label().category != kNone) put(out, trace_.text(label().category));
        return;
      case kDepth:
        return sqlite3_result_int64(out, trace_.depth(s));
      case kParent:
        if (const SliceId parent = model_.parent(s); parent != kNone)
          sqlite3_result_int64(out, parent);
        return;
      case kSelf:
        return sqlite3_result_int64(out, model_.self_ps(s));
      default:
        return;
    }
  }

 private:
  SliceId current() const { return is_sorted_ ? sorted_[at_sorted_] : slice_; }

  const trace::Label& label() const {
    return is_sorted_ ? trace_.labels()[ranks_->first[turned(at_rank_)]] : trace_.label(slice_);
  }

  void take(const Constraint& constraint) {
    switch (constraint.column) {
      case kId:
        return id_.narrow(constraint);
      case kTs:
        return ts_.narrow(constraint);
      case kDur:
        return dur_.narrow(constraint);
      case kTrack:
        return track_.narrow(constraint);
      case kDepth:
        return depth_.narrow(constraint);
      case kParent:
        return take_parent(constraint);
      case kName:
      case kCategory:
        return take_text(constraint);
      default:
        return;
    }
  }

  // What lies inside a slice follows it in its track, as long as it is deeper.
  void take_parent(const Constraint& constraint) {
    if (constraint.comparison != Comparison::kEqual) return;
    Bounds parent;
    parent.narrow(constraint);
    if (parent.low != parent.high) {
      if (parent.is_empty()) id_ = parent;
      return;
    }
    if (parent.low < 0 || parent.low >= trace_.slice_count()) {
      id_ = {1, 0};
      return;
    }
    const auto above = static_cast<SliceId>(parent.low);
    const TrackId t = trace_.track_of(above);
    const SliceId end = trace_.tracks()[t].first_slice + trace_.tracks()[t].slices;
    SliceId last = above;
    while (last + 1 < end && trace_.depth(last + 1) > trace_.depth(above)) ++last;
    id_.low = std::max<int64_t>(id_.low, int64_t{above} + 1);
    id_.high = std::min<int64_t>(id_.high, last);
  }

  void take_text(const Constraint& constraint) {
    std::optional<Regex> regex;
    if (constraint.comparison == Comparison::kRegexp &&
        sqlite3_value_type(constraint.value) == SQLITE_TEXT) {
      const auto* pattern = reinterpret_cast<const char*>(sqlite3_value_text(constraint.value));
      // One that is not understood is an error of the function regexp, which sees it next.
      if (auto compiled = Regex::compile(pattern ? pattern : "")) regex = std::move(*compiled);
    }
    const auto& labels = trace_.labels();
    if (wanted_.empty()) wanted_.assign(labels.size(), 1);
    for (LabelId l = 0; l < labels.size(); ++l) {
      if (!wanted_[l]) continue;
      if (constraint.column == kCategory && labels[l].category == kNone) {
        wanted_[l] = 0;  // NULL fits nothing
        continue;
      }
      const std::string_view text = constraint.column == kName ? trace_.shown_name_of(labels[l])
                                                               : trace_.text(labels[l].category);
      if (!fits(constraint, text, regex).value_or(true)) wanted_[l] = 0;
    }
  }

  bool is_wanted(SliceId s) const {
    if (!wanted_.empty() && !wanted_[trace_.label_id(s)]) return false;
    const int64_t duration = trace_.duration(s).value;
    return duration >= dur_.low && duration <= dur_.high && trace_.depth(s) >= depth_.low &&
           trace_.depth(s) <= depth_.high;
  }

  // Moves to the next slice that fits, at or behind slice_.
  void find() {
    for (;;) {
      for (; slice_ < stop_; ++slice_) {
        if (is_wanted(slice_)) return;
      }
      if (!next_track()) return;
    }
  }

  // The stretch of the next track that id and time leave.
  bool next_track() {
    while (at_track_ < trace_.tracks().size()) {
      const auto t = static_cast<TrackId>(at_track_++);
      const trace::Track& track = trace_.tracks()[t];
      if (track.slices == 0 || int64_t{t} < track_.low || int64_t{t} > track_.high) continue;
      const int64_t first = std::max<int64_t>(track.first_slice, id_.low);
      const int64_t last =
          std::min<int64_t>(int64_t{track.first_slice} + track.slices - 1, id_.high);
      if (first > last) continue;
      slice_ = static_cast<SliceId>(first);
      stop_ = static_cast<SliceId>(last + 1);
      if (ts_.low != INT64_MIN) slice_ = first_from(slice_, stop_, ts_.low);
      if (ts_.high != INT64_MAX) stop_ = first_from(slice_, stop_, ts_.high + 1);
      if (slice_ < stop_) return true;
    }
    slice_ = stop_ = 0;
    return false;
  }

  SliceId first_from(SliceId low, SliceId high, int64_t time) const {
    while (low < high) {
      const SliceId middle = low + (high - low) / 2;
      if (trace_.begin(middle).value < time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // A counting sort: much cheaper than SQLite comparing texts. Durations go along, since a sum
  // over slices in this order would wait for memory at every one.
  void sort_by(Model::By by, int downwards) {
    const Model::Ranks& ranks = model_.ranks(by);
    ranks_ = &ranks;
    is_downwards_ = downwards != 0;
    const Walk first{at_track_, slice_, stop_};
    sorted_ends_.assign(ranks.first.size() + 1, 0);
    for (; slice_ < stop_; ++slice_, find()) ++sorted_ends_[rank(slice_) + 1];
    for (size_t i = 1; i < sorted_ends_.size(); ++i) sorted_ends_[i] += sorted_ends_[i - 1];
    sorted_.resize(sorted_ends_.back());
    sorted_durations_.resize(sorted_.size());
    std::tie(at_track_, slice_, stop_) = std::tie(first.track, first.slice, first.stop);
    for (; slice_ < stop_; ++slice_, find()) {
      const uint32_t place = sorted_ends_[rank(slice_)]++;  // its start becomes its end
      sorted_[place] = slice_;
      sorted_durations_[place] = trace_.duration(slice_).value;
    }
    is_sorted_ = true;
    at_sorted_ = 0;
    at_rank_ = 0;
    find_rank();
  }
  // Names from the last to the first when they are asked for downwards.
  size_t turned(size_t rank) const {
    return is_downwards_ ? ranks_->first.size() - 1 - rank : rank;
  }
  size_t rank(SliceId s) const { return turned(ranks_->of_label[trace_.label_id(s)]); }
  void find_rank() {
    while (at_rank_ < ranks_->first.size() && at_sorted_ >= sorted_ends_[at_rank_]) ++at_rank_;
  }

  struct Walk {
    size_t track;
    SliceId slice, stop;
  };

  Model& model_;
  const Trace& trace_;
  Bounds id_, ts_, dur_, track_, depth_;
  std::vector<uint8_t> wanted_;  // by label; empty: all
  size_t at_track_ = 0;          // the next one
  SliceId slice_ = 0, stop_ = 0;
  bool is_sorted_ = false, is_downwards_ = false;
  const Model::Ranks* ranks_ = nullptr;
  std::vector<SliceId> sorted_;
  std::vector<int64_t> sorted_durations_;
  std::vector<uint32_t> sorted_ends_;  // by rank
  size_t at_sorted_ = 0, at_rank_ = 0;
};

class SlicesTable final : public Source {
 public:
  explicit SlicesTable(Model& model) : model_(model) {}
  const char* name() const override { return "slices"; }
  std::span<const SourceColumn> columns() const override { return kColumns; }
  double rows() const override { return model_.trace().slice_count(); }
  std::unique_ptr<Cursor> open() const override { return std::make_unique<SliceCursor>(model_); }

  Order order_for(std::span<const SortTerm> terms) const override {
    // Stored by track, time, the longest first; ids say the same in one number.
    constexpr SortTerm kStored[] = {{kTrack, false}, {kTs, false}, {kDur, true}, {kId, false}};
    if (terms.size() == 1 && terms[0].column == kId && !terms[0].descending) return kAsStored;
    const auto is_prefix = [&](std::span<const SortTerm> whole, bool turned) {
      return terms.size() <= whole.size() &&
             std::equal(terms.begin(), terms.end(), whole.begin(),
                        [&](const SortTerm& a, const SortTerm& b) {
                          return a.column == b.column && a.descending == (b.descending != turned);
                        });
    };
    if (is_prefix(kStored, false)) return kAsStored;
    constexpr SortTerm kNames[] = {{kName, false}, {kCategory, false}};
    constexpr SortTerm kCategories[] = {{kCategory, false}, {kName, false}};
    for (const bool turned : {false, true}) {
      const Order direction = turned ? kDownwards : 0;
      if (is_prefix(kNames, turned)) return kByName | direction;
      if (is_prefix(kCategories, turned)) return kByCategory | direction;
    }
    return -1;
  }

 private:
  Model& model_;
};

}  // namespace

std::unique_ptr<Source> slices_table(Model& model) { return std::make_unique<SlicesTable>(model); }

}  // namespace sonde::capture::sql
