// How far examples are from each other, and the nearest one with another answer. Numbers count in
// standard deviations, categories by how often two examples share a value, what is missing
// counts 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "whatif/dataset.h"
#include "whatif/predictions.h"

namespace sonde::whatif {

enum class Metric : uint8_t { kL1, kL2 };

// What a distance needs to know of a data set; made once.
struct DistanceModel {
  struct Feature {
    size_t column = 0;
    double scale = 0;       // numeric: 1 / deviation, 0 where all are equal
    double difference = 0;  // categorical: distance of two different values
  };
  std::vector<Feature> features;
};
// All features except `skip` (the label, predictions) and texts of which each occurs once.
DistanceModel distance_model(const Dataset& data, const std::vector<std::string>& skip);
// Only the named ones of them.
DistanceModel restricted(const DistanceModel& model, const Dataset& data,
                         const std::vector<std::string>& names);

// Distances of every example to example `row`. L2 is the root of the sum of squares.
std::vector<double> distances_to(const Dataset& data, const DistanceModel& model, size_t row,
                                 Metric metric, ThreadPool* pool = nullptr);
// To an example of its own, e.g. an edited one: `other` has one row and the same columns.
std::vector<double> distances_to(const Dataset& data, const DistanceModel& model,
                                 const Dataset& other, Metric metric, ThreadPool* pool = nullptr);

// The `count` nearest, without `except`; equal distances by index.
std::vector<uint32_t> nearest(const std::vector<double>& distances, size_t count,
                              std::optional<size_t> except);

struct Counterfactual {
  uint32_t row = 0;
  double distance = 0;
};
// The nearest example with another predicted label; for a regression, one whose prediction differs
// by at least `delta`. Nothing when there is none.
std::optional<Counterfactual> nearest_counterfactual(const std::vector<double>& distances,
                                                     const Predictions& predictions, size_t row,
                                                     double threshold, double delta);
// The standard deviation of a regression's predictions: the first value of delta.
double prediction_deviation(const Predictions& predictions);

}  // namespace sonde::whatif
