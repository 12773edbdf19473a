// A policy that learns to add two digits: it answers at once or asks a calculator first. Trained by
// policy gradients with groups of completions for one prompt (GRPO), so that the demo's rollouts
// are what such a training really makes.
#pragma once

#include <array>
#include <random>
#include <string>
#include <vector>

namespace sonde::cli {

struct Rollout {
  int a = 0, b = 0;
  bool asked = false;  // the calculator
  int answer = 0;
  std::vector<std::string> tokens;
  std::vector<double> log_probs, entropies;  // one a token
  double correct = 0, brevity = 0;           // parts of the reward
  double advantage = 0;

  double reward() const { return correct + brevity; }
  std::string prompt() const { return std::to_string(a) + " + " + std::to_string(b) + " = ?"; }
};

class AddingPolicy {
 public:
  static constexpr int kDigits = 6;                 // 0 … 5
  static constexpr int kAnswers = 2 * kDigits - 1;  // 0 … 10
  static constexpr int kGroup = 4;                  // completions a prompt

  Rollout roll_out(int a, int b, std::mt19937& random) const;
  // Advantages within the group, then one step up their gradient.
  void learn(std::vector<Rollout>& group, double rate);
  // Of the first decision and of the answer, on average over the prompts.
  double mean_entropy() const;

 private:
  using Answers = std::array<double, kAnswers>;
  std::array<double, 2> ask_ = {1, 0};  // logits of: answer at once, ask
  std::array<std::array<Answers, kDigits>, kDigits> answers_ = {};
};

}  // namespace sonde::cli
