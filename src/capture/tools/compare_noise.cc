#include "capture/tools/compare_noise.h"

#include <algorithm>
#include <cstdint>

namespace sonde::capture {
namespace {

constexpr size_t kFewest = 3;  // steps: from fewer nothing is known about their spread
constexpr size_t kRounds = 2000;
constexpr size_t kMostSteps = 2000;  // of a long capture every n-th is drawn from

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// Numbers that look random and are the same on every machine.
class Dice {
 public:
  size_t below(size_t count) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<size_t>(state_ % count);
  }

 private:
  uint64_t state_ = 0x9e3779b97f4a7c15;
};

std::vector<double> at_most(const std::vector<double>& values) {
  if (values.size() <= kMostSteps) return values;
  std::vector<double> out;
  for (size_t i = 0; i < kMostSteps; ++i) out.push_back(values[i * values.size() / kMostSteps]);
  return out;
}

double drawn_mean(const std::vector<double>& values, Dice& dice) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += values[dice.below(values.size())];
  return sum / static_cast<double>(values.size());
}

}  // namespace

Change change_of(const std::vector<double>& before, const std::vector<double>& now) {
  Change out;
  const double first = mean(before), second = mean(now);
  if (first <= 0) return out;
  out.share = second / first - 1;
  out.low = out.high = out.share;
  if (before.size() < kFewest || now.size() < kFewest) return out;
  const std::vector<double> a = at_most(before), b = at_most(now);
  Dice dice;
  std::vector<double> shares;
  for (size_t round = 0; round < kRounds; ++round) {
    const double x = drawn_mean(a, dice), y = drawn_mean(b, dice);
    if (x > 0) shares.push_back(y / x - 1);
  }
  if (shares.size() < kRounds / 2) return out;
  std::sort(shares.begin(), shares.end());
  out.low = shares[shares.size() * 25 / 1000];
  out.high = shares[shares.size() * 975 / 1000];
  out.has_interval = true;
  return out;
}

}  // namespace sonde::capture
