// What the routes of What-If share: opening the set of a request, finding predictions and truth.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/services/whatif_sets.h"
#include "api/v1/support.h"
#include "whatif/intervals.h"
#include "whatif/slices.h"

namespace sonde::api::v1 {

using whatif::LoadedSet;

inline constexpr std::string_view kWhatIfPrefix = "/api/v1/whatif/";

// A set, a model's predictions about it and the truth, as a body or the parameters name them.
struct Judged {
  std::shared_ptr<const whatif::Predictions> predictions;
  const whatif::Column* label = nullptr;
  whatif::Truth truth;
};
Result<Judged> judged(const LoadedSet& set, std::string_view model, std::string_view label);
// From the members model and label of a body.
Result<Judged> judged_by(const LoadedSet& set, const JsonValue& body);

// From the member slices of a body: names, or {feature, buckets, cut}.
Result<std::vector<whatif::SliceBy>> slices_in(const JsonValue& body);
Result<std::vector<std::string>> texts_in(const JsonValue& body, std::string_view name);

// What the model got wrong about each example: 0 or 1, an absolute error, NaN where unknown.
std::vector<double> losses_of(const Judged& judged, double threshold);

void write_interval(JsonWriter& json, double value, const whatif::Interval& interval);

// Handlers of POST whatif/<set>/<what> and GET whatif/<set>/<what>.
using SetHandler = Answer (*)(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);

Answer whatif_columns(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_rows(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_image(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_sprite(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_features(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_performance(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_worst(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_nearest(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_dependence(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_pair(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_predict(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_counterfactual(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_models(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_ask(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_training(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_edited(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);
Answer whatif_export(const Context&, const Request&, const std::shared_ptr<LoadedSet>&);

// The set's examples with edits of a body applied: {"edits": [{"row": 3, "values": {...}}]}.
struct Edited {
  std::vector<uint32_t> rows;  // which examples, in the order of the edits
  whatif::Dataset data;        // only these, changed
};
Result<Edited> edits_in(const LoadedSet& set, const JsonValue& body);

}  // namespace sonde::api::v1
