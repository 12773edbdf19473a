#include "capture/analysis/loop/rows.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

namespace sonde::capture::loop {
namespace {

// A call that takes longer is work, not the cost of handing it over; calls further apart do not
// belong to one row. What a call costs in Python differs.
struct RowLimits {
  int64_t call_ps, gap_ps;
};
constexpr RowLimits kTorchRow{150'000'000, 200'000'000}, kTensorFlowRow{400'000'000, 1'500'000'000},
    kJaxRow{500'000'000, 1'000'000'000};
constexpr uint32_t kRowCalls = 20;
// The thread may lose its core in the middle of a row, inside a call or between two. What a call or
// a gap usually takes tells that apart from work and from Python that is always there.
constexpr int64_t kPausePs = 5'000'000'000;       // 5 ms
constexpr int64_t kLongPausePs = 60'000'000'000;  // 60 ms: where next to none of the kind is long
constexpr double kNextToNone = 0.03;
constexpr size_t kEnoughToJudge = 3;

class Usual {
 public:
  void add(uint64_t key, int64_t ps) { all_[key].push_back(static_cast<double>(ps)); }
  void close() {
    for (auto& [key, list] : all_) {
      if (list.size() < kEnoughToJudge) continue;
      const auto held = std::count_if(
          list.begin(), list.end(), [](double ps) { return ps >= static_cast<double>(kPausePs); });
      held_[key] = static_cast<double>(held) / static_cast<double>(list.size());
      median_[key] = median(std::move(list));
    }
  }
  // Whether something of this kind, which usually takes less than `limit`, was held up.
  bool is_pause(uint64_t key, int64_t ps, int64_t limit) const {
    if (ps >= kLongPausePs || !below(key, limit)) return false;
    return ps < kPausePs || held_.at(key) <= kNextToNone;
  }
  // Whether things of this kind usually take less; what is rare is not known.
  bool below(uint64_t key, int64_t limit) const {
    const auto at = median_.find(key);
    return at != median_.end() && at->second < static_cast<double>(limit);
  }

 private:
  boost::unordered_flat_map<uint64_t, std::vector<double>> all_;
  boost::unordered_flat_map<uint64_t, double> median_, held_;
};

class Finder {
 public:
  Finder(const std::vector<Call>& calls, const std::vector<Period>& periods, RowKind kind)
      : calls_(calls), periods_(periods), kind_(kind) {
    limits_ = kind == RowKind::kPyTorch ? kTorchRow
              : kind == RowKind::kJax   ? kJaxRow
                                        : kTensorFlowRow;
  }

  std::vector<Chain> run() {
    measure();
    Chain chain;
    const Call* last = nullptr;
    const auto close = [&] {
      if (chain.calls >= kRowCalls) {
        chain.end = last->end;
        out_.push_back(chain);
      }
      chain = {};
    };
    for (const Call& call : calls_) {
      if (!is_small(call)) {
        close();
        continue;
      }
      if (chain.calls > 0 && !belongs(*last, call)) close();
      if (chain.calls == 0) chain.begin = call.begin;
      ++chain.calls;
      chain.operations += call.operations;
      last = &call;
    }
    close();
    return std::move(out_);
  }

 private:
  static uint64_t pair(const Call& a, const Call& b) { return uint64_t{a.label} << 32 | b.label; }

  static bool is_other(const Call& call) {
    return call.function || call.other || call.checkpoint || call.compile_end != 0;
  }

  void measure() {
    size_t small = 0;
    for (size_t i = 0; i < calls_.size(); ++i) {
      const Call& call = calls_[i];
      if (is_other(call)) continue;
      lengths_.add(call.label, call.end - call.begin);
      small += call.end - call.begin < limits_.call_ps;
      if (i > 0 && !is_other(calls_[i - 1]))
        gaps_.add(pair(calls_[i - 1], call), call.begin - calls_[i - 1].end);
    }
    lengths_.close();
    gaps_.close();
    // A program of TensorFlow that runs no compiled function at all runs eagerly.
    eager_ =
        kind_ == RowKind::kTensorFlow && small >= 50 * periods_.size() &&
        std::none_of(calls_.begin(), calls_.end(), [](const Call& call) { return call.function; });
  }

  bool is_small(const Call& call) const {
    if (is_other(call)) return false;
    const int64_t length = call.end - call.begin;
    // A call of many small ones is small, too: a backward pass is made of such.
    const bool of_small = call.longest_ps < limits_.call_ps * 2 / 3 && length < 7 * limits_.call_ps;
    return length < limits_.call_ps || of_small ||
           lengths_.is_pause(call.label, length, limits_.call_ps / 2);
  }

  bool belongs(const Call& before, const Call& call) const {
    const int64_t gap = call.begin - before.end;
    if (gap <= limits_.gap_ps) return true;
    if (a_step_begins(before.end, call.begin)) return false;
    return (eager_ && gap <= kPausePs) || gaps_.is_pause(pair(before, call), gap, limits_.gap_ps);
  }

  bool a_step_begins(int64_t begin, int64_t end) const {
    const auto next = std::partition_point(periods_.begin(), periods_.end(),
                                           [&](const Period& p) { return p.begin <= begin; });
    return next != periods_.end() && next->begin < end;
  }

  const std::vector<Call>& calls_;
  const std::vector<Period>& periods_;
  RowKind kind_;
  RowLimits limits_;
  Usual lengths_, gaps_;  // by name, by pair of names
  bool eager_ = false;
  std::vector<Chain> out_;
};

}  // namespace

std::vector<Chain> rows_of(const std::vector<Call>& calls, const std::vector<Period>& periods,
                           RowKind kind) {
  return Finder(calls, periods, kind).run();
}

}  // namespace sonde::capture::loop
