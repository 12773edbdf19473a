// The two experiments of the demo. Each trains for real and logs what a training program would.
#pragma once

#include <cstdint>
#include <string>

namespace sonde::cli {

// Digits: a grid of learning rates and widths, one trial each with train and validation runs,
// hyperparameters, weight histograms, PR curves, confusion matrices, texts and an embedding.
void train_digits(const std::string& folder, uint32_t seed);

// Two moons: decision boundary as images and video, loss surface as mesh, training as sound.
void train_moons(const std::string& folder, uint32_t seed);

}  // namespace sonde::cli
