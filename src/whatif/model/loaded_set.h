// One set of examples in memory with the predictions of its models. The examples never change after
// loading; predictions of live models are filled in batch by batch. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "codec/json_read.h"
#include "whatif/attributions.h"
#include "whatif/dataset.h"
#include "whatif/distance.h"
#include "whatif/model/ask.h"
#include "whatif/model/config.h"
#include "whatif/predictions.h"

namespace sonde::whatif {

// How a path of whatif.json is opened: confined to where files may lie.
using Resolve = std::function<Result<std::string>(std::string_view path)>;

struct StepFile {
  int64_t step = 0;
  std::string path;
};

// What is known about a model at one moment.
struct ModelStatus {
  ModelConfig config;
  std::shared_ptr<const Predictions> predictions;    // null: not asked yet, or a problem
  std::shared_ptr<const Attributions> attributions;  // null: it gives none
  std::vector<StepFile> steps;                       // rising
  std::string problem;
  bool is_live = false;        // has an endpoint that may be asked
  bool needs_consent = false;  // has an endpoint that a user has not allowed yet
  size_t asked = 0;            // examples answered so far
  bool is_asking = false, is_stopping = false;
};

// What makes one set out of another.
struct SetEdits {
  std::vector<uint32_t> rows;            // which examples, in their new order; twice: a copy
  std::vector<const JsonValue*> values;  // of each of them: an object of changed values, or null
  std::vector<std::string> features;     // new columns
};

class LoadedSet {
 public:
  // `may_call` says which endpoints were allowed on the command line.
  static Result<std::shared_ptr<LoadedSet>> load(
      SetConfig config, const Resolve& resolve, ThreadPool* pool,
      const std::function<bool(const std::string& url)>& may_call);
  // Examples that were dropped on the page.
  static std::shared_ptr<LoadedSet> of(SetConfig config, Dataset data);
  // This set with examples changed, copied or left out. Live models that have predicted are asked
  // about the changed ones; what a table said about them is unknown.
  Result<std::shared_ptr<LoadedSet>> edited(const SetEdits& edits) const;
  ~LoadedSet();

  const Dataset& data() const { return data_; }
  const SetConfig& config() const { return config_; }
  const Column* label() const {
    return config_.label.empty() ? nullptr : data_.find(config_.label);
  }
  // Columns that are features: not the label, not predictions, not ignored.
  const std::vector<size_t>& features() const { return features_; }
  std::vector<std::string> non_features() const;
  const DistanceModel& distances() const { return distances_; }
  // Whether the set has a distance of its own that the command line allows to ask for.
  bool has_custom_distance() const { return may_measure_; }
  // What it says about every example and example `row`.
  Result<std::vector<double>> custom_distances(size_t row) const;

  std::vector<ModelStatus> models() const;
  // "name", or "name@step" of an evaluation logged during training. Empty: the first model.
  Result<std::shared_ptr<const Predictions>> predictions(std::string_view name) const;
  // kNotFound when the model gives none. Empty: the first model.
  Result<std::shared_ptr<const Attributions>> attributions(std::string_view name) const;
  // kConflict when the model has no endpoint or no user has allowed it.
  Result<ModelConfig> live_model(std::string_view name) const;
  // kConflict when the name is taken.
  Result<void> add_model(ModelConfig model);
  // A user allows the endpoint that a file names, inside the limits of `policy`.
  void allow(std::string_view name, const io::AddressPolicy& policy);

  // What a live model says about some examples. `rows` has the columns of data().
  Result<RawScores> ask(const ModelConfig& model, const Dataset& rows) const;
  // Asks about every example on a thread of its own; status shows how far it is.
  Result<void> start_asking(std::string_view name);
  // Gives up what has been answered so far.
  void stop_asking(std::string_view name);

 private:
  LoadedSet(SetConfig config, Dataset data);
  void find_features();
  void prepare(const Resolve& resolve, const std::function<bool(const std::string&)>& may_call);
  Result<Predictions> static_predictions(const ModelConfig& model, const Resolve& resolve) const;
  // A second file with its rows in the order of the examples.
  Result<Dataset> joined_file(const std::string& file, const std::string& key,
                              const Resolve& resolve) const;
  void ask_all(std::stop_token stop, const std::string& name);
  // A model that names its labels keeps the order of its first answer.
  Result<void> align(const std::string& model, RawScores& raw) const;
  ModelStatus* find(std::string_view name);
  const ModelStatus* find(std::string_view name) const;
  std::vector<size_t> columns_for(const ModelConfig& model) const;

  SetConfig config_;
  Dataset data_;
  std::vector<size_t> features_;
  DistanceModel distances_;
  bool may_measure_ = false;
  mutable std::mutex mutex_;  // guards: models_, by_step_, asking_, label_order_
  std::vector<ModelStatus> models_;
  mutable std::map<std::string, std::shared_ptr<const Predictions>> by_step_;
  mutable std::map<std::string, std::vector<std::string>> label_order_;  // by model
  std::vector<std::jthread> asking_;
};

}  // namespace sonde::whatif
