// The experiments of the demo. Each trains for real and logs what a training program would.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace sonde::cli {

// Digits: a grid of learning rates and widths, one trial each with train and validation runs,
// hyperparameters, weight histograms, PR curves, confusion matrices, texts and an embedding.
void train_digits(const std::string& folder, uint32_t seed);

// Two moons: decision boundary as images and video, loss surface as mesh, training as sound.
void train_moons(const std::string& folder, uint32_t seed);

// Two moons again, with a loss that cannot stand a probability of zero and a learning rate
// that grows: it goes wrong on purpose, and its tensors are recorded (page Numerics).
void train_wrongly(const std::string& folder, uint32_t seed);

// Loans: a table of applicants with what a model says about each at several steps (page What-If). The
// model is trained without one group and fails it: region south with plan family.
void train_loans(const std::string& folder, uint32_t seed);

// Adding digits by reinforcement: a table of rollouts with their groups, rewards and tokens, and
// what the program printed.
void train_rollouts(const std::string& folder, uint32_t seed);

// Logs what this process uses, ten times a second, until its end.
class ProcessMetrics {
 public:
  explicit ProcessMetrics(const std::string& folder);
  ~ProcessMetrics();

 private:
  struct Sampler;
  std::unique_ptr<Sampler> sampler_;
};

// alerts.yaml, unless there is one.
void write_alert_rules(const std::string& folder);

}  // namespace sonde::cli
