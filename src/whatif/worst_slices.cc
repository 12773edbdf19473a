#include "whatif/worst_slices.h"

#include <algorithm>
#include <functional>
#include <map>

namespace sonde::whatif {
namespace {

constexpr size_t kMaxValues = 64;  // a feature with more groups names examples, not groups
constexpr size_t kMaxFeatures = 200;
constexpr size_t kBeam = 60;  // pairs that are looked into for triples

struct Condition {
  uint32_t feature = 0, group = 0;
  friend auto operator<=>(const Condition&, const Condition&) = default;
};

struct Sum {
  double n = 0, loss = 0, squares = 0;
  void add(double v) {
    ++n;
    loss += v;
    squares += v * v;
  }
  double mean() const { return n > 0 ? loss / n : 0; }
  double variance() const {
    return n > 1 ? std::max(0.0, (squares - loss * loss / n) / (n - 1)) : 0;
  }
};

struct Candidate {
  std::vector<Condition> conditions;  // sorted
  Sum sum;
  double excess = 0;
};

class Finder {
 public:
  Finder(const Dataset& data, const std::vector<double>& loss, const WorstOptions& options)
      : options_(options), loss_(loss) {
    for (const Column& column : data.columns) {
      if (std::ranges::find(options.skip, column.name) != options.skip.end()) continue;
      if (column.kind == Kind::kText || column.kind == Kind::kImage) continue;
      Groups groups = groups_of(column, options.buckets, Cut::kEqualFrequency);
      if (groups.names.size() < 2 || groups.names.size() > kMaxValues) continue;
      features_.push_back(std::move(groups));
      if (features_.size() >= kMaxFeatures) break;
    }
    is_binary_ = true;
    for (const double v : loss_) {
      if (std::isnan(v)) continue;
      all_.add(v);
      is_binary_ = is_binary_ && (v == 0 || v == 1);
    }
  }

  std::vector<Candidate> find() {
    std::vector<Candidate> found = level({{}});
    std::vector<Candidate> last = found;
    if (options_.depth >= 2) {
      // All pairs: a group may be bad although neither of its halves is.
      last = pairs();
      found.insert(found.end(), last.begin(), last.end());
    }
    if (options_.depth >= 3) {
      std::ranges::sort(last, [](const Candidate& a, const Candidate& b) { return before(a, b); });
      std::vector<std::vector<Condition>> from;
      for (size_t i = 0; i < std::min(kBeam, last.size()); ++i) from.push_back(last[i].conditions);
      const std::vector<Candidate> triples = level(from);
      found.insert(found.end(), triples.begin(), triples.end());
    }
    return best(std::move(found));
  }

  WorstSlice described(const Candidate& candidate) const {
    WorstSlice out;
    for (const Condition& c : candidate.conditions) {
      out.features.push_back(features_[c.feature].feature);
      out.values.push_back(features_[c.feature].names[c.group]);
    }
    out.support = static_cast<uint32_t>(candidate.sum.n);
    out.loss = candidate.sum.mean();
    out.interval = interval_of(candidate.sum);
    out.rest = rest_of(candidate.sum);
    out.excess = candidate.excess;
    return out;
  }

 private:
  static bool before(const Candidate& a, const Candidate& b) {
    return a.excess != b.excess ? a.excess > b.excess : a.conditions < b.conditions;
  }
  Interval interval_of(const Sum& sum) const {
    return is_binary_ ? wilson(sum.loss, sum.n) : mean_interval(sum.mean(), sum.variance(), sum.n);
  }
  double rest_of(const Sum& sum) const { return share_of(all_.loss - sum.loss, all_.n - sum.n); }

  bool accept(Candidate& candidate) const {
    if (candidate.sum.n < static_cast<double>(options_.min_support) || candidate.sum.n >= all_.n)
      return false;
    const Interval interval = interval_of(candidate.sum);
    candidate.excess = interval.low - rest_of(candidate.sum);
    return candidate.excess > 0;
  }

  void each(size_t count, const std::function<void(size_t)>& fn) const {
    if (options_.pool) return options_.pool->for_each(count, fn);
    for (size_t i = 0; i < count; ++i) fn(i);
  }

  static std::vector<Candidate> joined(std::vector<std::vector<Candidate>>& parts) {
    std::vector<Candidate> out;
    for (auto& part : parts) out.insert(out.end(), part.begin(), part.end());
    return out;
  }

  // Every group of every feature inside each of the given ones.
  std::vector<Candidate> level(const std::vector<std::vector<Condition>>& from) const {
    std::vector<std::vector<Candidate>> parts(from.size());
    each(from.size(), [&](size_t i) {
      std::vector<uint32_t> rows;
      for (uint32_t row = 0; row < loss_.size(); ++row) {
        const bool inside =
            !std::isnan(loss_[row]) && std::ranges::all_of(from[i], [&](const Condition& c) {
              return features_[c.feature].group[row] == c.group;
            });
        if (inside) rows.push_back(row);
      }
      for (uint32_t f = 0; f < features_.size(); ++f) {
        if (std::ranges::any_of(from[i], [&](const Condition& c) { return c.feature == f; }))
          continue;
        std::vector<Sum> sums(features_[f].names.size());
        for (const uint32_t row : rows) sums[features_[f].group[row]].add(loss_[row]);
        for (uint32_t g = 0; g < sums.size(); ++g) {
          Candidate next{from[i], sums[g], 0};
          next.conditions.push_back({f, g});
          std::ranges::sort(next.conditions);
          if (accept(next)) parts[i].push_back(std::move(next));
        }
      }
    });
    return joined(parts);
  }

  std::vector<Candidate> pairs() const {
    std::vector<std::vector<Candidate>> parts(features_.size());
    each(features_.size(), [&](size_t a) {
      std::vector<Sum> sums;
      for (size_t b = a + 1; b < features_.size(); ++b) {
        const size_t width = features_[b].names.size();
        sums.assign(features_[a].names.size() * width, {});
        for (size_t row = 0; row < loss_.size(); ++row)
          if (!std::isnan(loss_[row]))
            sums[features_[a].group[row] * width + features_[b].group[row]].add(loss_[row]);
        for (size_t i = 0; i < sums.size(); ++i) {
          Candidate next{{{static_cast<uint32_t>(a), static_cast<uint32_t>(i / width)},
                          {static_cast<uint32_t>(b), static_cast<uint32_t>(i % width)}},
                         sums[i],
                         0};
          if (accept(next)) parts[a].push_back(std::move(next));
        }
      }
    });
    return joined(parts);
  }

  // Best first, without groups that only repeat a better or larger one.
  std::vector<Candidate> best(std::vector<Candidate> found) const {
    std::ranges::sort(found, [](const Candidate& a, const Candidate& b) { return before(a, b); });
    found.erase(std::unique(found.begin(), found.end(),
                            [](const Candidate& a, const Candidate& b) {
                              return a.conditions == b.conditions;
                            }),
                found.end());
    std::map<std::vector<Condition>, const Sum*> by_conditions;
    for (const Candidate& c : found) by_conditions[c.conditions] = &c.sum;
    std::vector<Candidate> kept;
    for (const Candidate& c : found) {
      if (kept.size() >= options_.count) break;
      if (adds_nothing(c, by_conditions)) continue;
      // A part of a group that is listed already says the same again.
      const bool is_part = std::ranges::any_of(kept, [&](const Candidate& k) {
        return std::ranges::includes(c.conditions, k.conditions);
      });
      if (!is_part) kept.push_back(c);
    }
    return kept;
  }

  // With one condition less the group is about as bad, only larger: that one says it.
  bool adds_nothing(const Candidate& c,
                    const std::map<std::vector<Condition>, const Sum*>& known) const {
    if (c.conditions.size() < 2) return false;
    for (size_t skip = 0; skip < c.conditions.size(); ++skip) {
      std::vector<Condition> parent;
      for (size_t i = 0; i < c.conditions.size(); ++i)
        if (i != skip) parent.push_back(c.conditions[i]);
      const auto found = known.find(parent);
      if (found != known.end() && found->second->mean() >= interval_of(c.sum).low) return true;
    }
    return false;
  }

  const WorstOptions& options_;
  const std::vector<double>& loss_;
  std::vector<Groups> features_;
  Sum all_;
  bool is_binary_ = true;
};

}  // namespace

std::vector<WorstSlice> worst_slices(const Dataset& data, const std::vector<double>& loss,
                                     const WorstOptions& options) {
  Finder finder(data, loss, options);
  std::vector<WorstSlice> out;
  for (const Candidate& candidate : finder.find()) out.push_back(finder.described(candidate));
  return out;
}

}  // namespace sonde::whatif
