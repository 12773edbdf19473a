#include "cli/demo/demo_policy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde::cli {
namespace {

constexpr double kCallCost = 0.6;  // of asking the calculator
// The first decision is shared by all prompts and learns that much slower.
constexpr double kAskShare = 0.02;

template <size_t N>
std::array<double, N> softmax(const std::array<double, N>& logits) {
  std::array<double, N> out{};
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (size_t i = 0; i < N; ++i) sum += out[i] = std::exp(logits[i] - top);
  for (double& p : out) p /= sum;
  return out;
}

template <size_t N>
double entropy(const std::array<double, N>& probabilities) {
  double sum = 0;
  for (const double p : probabilities) sum -= p > 0 ? p * std::log(p) : 0;
  return sum;
}

template <size_t N>
int draw(const std::array<double, N>& probabilities, std::mt19937& random) {
  double left = std::uniform_real_distribution<double>(0, 1)(random);
  for (size_t i = 0; i + 1 < N; ++i) {
    if (left < probabilities[i]) return static_cast<int>(i);
    left -= probabilities[i];
  }
  return static_cast<int>(N - 1);
}

// One step up `gain` times the gradient of the log probability of `chosen`.
template <size_t N>
void reinforce(std::array<double, N>& logits, int chosen, double gain) {
  const auto probabilities = softmax(logits);
  for (size_t i = 0; i < N; ++i)
    logits[i] += gain * ((static_cast<int>(i) == chosen ? 1 : 0) - probabilities[i]);
}

}  // namespace

Rollout AddingPolicy::roll_out(int a, int b, std::mt19937& random) const {
  Rollout made;
  made.a = a;
  made.b = b;
  const auto add = [&made](std::string token, double probability, double uncertainty) {
    made.tokens.push_back(std::move(token));
    made.log_probs.push_back(std::log(probability));
    made.entropies.push_back(uncertainty);
  };
  const auto ask = softmax(ask_);
  made.asked = draw(ask, random) == 1;
  add(made.asked ? "<call>" : "<answer>", ask[made.asked ? 1 : 0], entropy(ask));
  if (made.asked) {
    made.answer = a + b;  // the calculator is right
    add(" " + std::to_string(made.answer), 1, 0);
  } else {
    const auto answers = softmax(answers_[static_cast<size_t>(a)][static_cast<size_t>(b)]);
    made.answer = draw(answers, random);
    add(" " + std::to_string(made.answer), answers[static_cast<size_t>(made.answer)],
        entropy(answers));
  }
  made.correct = made.answer == a + b ? 1 : 0;
  made.brevity = made.asked ? -kCallCost : 0;
  return made;
}

void AddingPolicy::learn(std::vector<Rollout>& group, double rate) {
  const auto n = static_cast<double>(group.size());
  double mean = 0, square = 0;
  for (const Rollout& one : group) mean += one.reward() / n;
  for (const Rollout& one : group) square += (one.reward() - mean) * (one.reward() - mean) / n;
  for (Rollout& one : group) one.advantage = (one.reward() - mean) / (std::sqrt(square) + 1e-4);
  for (const Rollout& one : group) {
    reinforce(ask_, one.asked ? 1 : 0, kAskShare * rate * one.advantage);
    if (!one.asked)
      reinforce(answers_[static_cast<size_t>(one.a)][static_cast<size_t>(one.b)], one.answer,
                rate * one.advantage);
  }
}

double AddingPolicy::mean_entropy() const {
  double sum = 0;
  for (const auto& row : answers_)
    for (const Answers& logits : row) sum += entropy(softmax(logits));
  return entropy(softmax(ask_)) + sum / (kDigits * kDigits);
}

}  // namespace sonde::cli
