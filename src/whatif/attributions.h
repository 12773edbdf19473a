// How much each feature moved a model's answer about each example, as the model itself or a file
// says: a column for each feature, and what a distance between two examples' attributions needs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "whatif/dataset.h"
#include "whatif/distance.h"
#include "whatif/slices.h"

namespace sonde::whatif {

struct Attributions {
  Dataset values;
  DistanceModel distances;
};

// Columns of numbers; `key` joined a file and is no feature.
std::shared_ptr<const Attributions> attributions_of(Dataset values, const std::string& key);
// One JSON object an example: {"feature": number or list of numbers}.
Result<std::shared_ptr<const Attributions>> attributions_in(const std::vector<std::string>& rows);

// Of a list the sum, which is what its feature moved the answer by; NaN when there is none.
double attribution(const Column& column, size_t row);

// By slice, then column: the mean over the examples that have one, NaN where none has.
std::vector<std::vector<double>> mean_attributions(const Attributions& attributions,
                                                   const Slicing& slicing);

}  // namespace sonde::whatif
