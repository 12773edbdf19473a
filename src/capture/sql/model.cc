#include "capture/sql/model.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "capture/analysis/arrows.h"

namespace sonde::capture::sql {

using trace::kNone;
using trace::SliceId;
using trace::TrackId;

namespace {
constexpr int64_t kTimeLimit = int64_t{1}
                               << 61;  // of a hostile file that takes off more than there is
}

const Model::Ranks& Model::ranks(By by) {
  Ranks& ranks = by == By::kName ? by_name_ : by_category_;
  const auto& labels = trace_.labels();
  if (!ranks.of_label.empty() || labels.empty()) return ranks;
  // SQLite sorts NULL before every text.
  const auto key = [&](uint32_t label) {
    const trace::StringId category = labels[label].category;
    const std::pair<bool, std::string_view> name{true, trace_.shown_name_of(labels[label])},
        group{category != kNone, category == kNone ? std::string_view() : trace_.text(category)};
    return by == By::kName ? std::pair(name, group) : std::pair(group, name);
  };
  std::vector<uint32_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  ranks.of_label.resize(labels.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || key(order[i - 1]) != key(order[i])) ranks.first.push_back(order[i]);
    ranks.of_label[order[i]] = static_cast<uint32_t>(ranks.first.size() - 1);
  }
  return ranks;
}

const std::vector<Model::NameSum>& Model::name_sums() {
  if (!name_sums_.empty()) return name_sums_;
  const Ranks& names = ranks(By::kName);
  name_sums_.resize(names.first.size());
  const auto add = [](int64_t a, int64_t b) {  // a file that lies about times must not overflow
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  };
  for (TrackId t = 0; t < trace_.tracks().size(); ++t) {
    const trace::Track& track = trace_.tracks()[t];
    if (track.slices == 0) continue;
    const std::vector<int64_t>& self = nesting(t).self;
    for (uint32_t i = 0; i < track.slices; ++i) {
      const SliceId s = track.first_slice + i;
      NameSum& sum = name_sums_[names.of_label[trace_.label_id(s)]];
      const int64_t duration = trace_.duration(s).value;
      ++sum.count;
      sum.dur = add(sum.dur, duration);
      sum.self = add(sum.self, std::max<int64_t>(0, self[i]));
      sum.shortest = std::min(sum.shortest, duration);
      sum.longest = std::max(sum.longest, duration);
    }
  }
  return name_sums_;
}

const Model::Nesting& Model::nesting(TrackId t) {
  if (nesting_.empty()) nesting_.resize(trace_.tracks().size());
  Nesting& out = nesting_[t];
  const trace::Track& track = trace_.tracks()[t];
  if (!out.parent.empty()) return out;
  out.parent.resize(track.slices, kNone);
  out.self.resize(track.slices);
  std::vector<SliceId> stack;
  for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
    out.self[s - track.first_slice] += trace_.duration(s).value;
    while (!stack.empty() && trace_.depth(stack.back()) >= trace_.depth(s)) stack.pop_back();
    if (!stack.empty()) {
      const SliceId above = stack.back();
      out.parent[s - track.first_slice] = above;
      const Picos shared = std::min(trace_.end(s), trace_.end(above)) - trace_.begin(s);
      int64_t& left = out.self[above - track.first_slice];
      left = std::max(left - std::max<int64_t>(0, shared.value), -kTimeLimit);
    }
    stack.push_back(s);
  }
  return out;
}

SliceId Model::parent(SliceId slice) {
  if (trace_.depth(slice) == 0) return kNone;
  const TrackId track = trace_.track_of(slice);
  return nesting(track).parent[slice - trace_.tracks()[track].first_slice];
}

int64_t Model::self_ps(SliceId slice) {
  const TrackId track = trace_.track_of(slice);
  return std::max<int64_t>(0, nesting(track).self[slice - trace_.tracks()[track].first_slice]);
}

const std::vector<trace::Flow>& Model::flows() {
  if (!std::exchange(has_flows_, true))
    for_each_arrow(host_, [&](const trace::Flow& flow) { flows_.push_back(flow); });
  return flows_;
}

const std::vector<uint32_t>& Model::flows_by_source() {
  if (by_source_.size() != flows().size()) {
    by_source_.resize(flows_.size());
    std::iota(by_source_.begin(), by_source_.end(), 0u);
    std::stable_sort(by_source_.begin(), by_source_.end(),
                     [&](uint32_t a, uint32_t b) { return flows_[a].from < flows_[b].from; });
  }
  return by_source_;
}

const std::vector<uint32_t>& Model::flows_by_target() {
  if (by_target_.size() != flows().size()) {
    by_target_.resize(flows_.size());
    std::iota(by_target_.begin(), by_target_.end(), 0u);
    std::stable_sort(by_target_.begin(), by_target_.end(),
                     [&](uint32_t a, uint32_t b) { return flows_[a].to < flows_[b].to; });
  }
  return by_target_;
}

}  // namespace sonde::capture::sql
