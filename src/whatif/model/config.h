// whatif.json: names a file of examples, the column with the truth, and where predictions come
// from. Nothing in it is believed: paths are confined by whoever opens them, endpoints are called
// only when a user says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json_read.h"
#include "io/address_policy.h"

namespace sonde::whatif {

struct ModelConfig {
  std::string name = "model";
  std::string task, positive;        // see PredictionColumns
  std::vector<std::string> columns;  // of the data, or of `file`
  std::vector<std::string> labels;
  std::string vocabulary;    // a text file of labels, one a line, in the order of the scores
  std::string file, key;     // a second file; joined by `key`, by order when empty
  std::string attributions;  // a file with a column for each feature, joined like `file`
  std::string steps;         // a pattern of files with one * for the step: logged during training
  std::string url;           // an endpoint that answers predictions
  std::string protocol;      // "tfserving", "kserve" or "template"
  std::string request,
      scores;         // template: the body with {{instances}}, a JSON pointer into the answer
  std::string input;  // name of the input tensor; "examples" sends serialised tf.train.Example
  std::string tensor, output;  // tfserving :predict: names of the input and the output tensor
  std::string signature;       // tfserving: signature_name; empty: the server's default
  std::string token;           // sent as a bearer token
  std::vector<std::string>
      features;  // columns to send, in order; empty: all but label and predictions
  // Where its endpoint may lie when a user of the page named or allowed it; none: the command line
  // lists it.
  std::optional<io::AddressPolicy> policy = {};
};

struct SetConfig {
  std::string name, data, label, positive;
  std::string distance, token;  // an endpoint that knows distances of its own, and its bearer token
  std::vector<std::string> ignore;  // columns that are no features, e.g. a row number
  std::vector<ModelConfig> models;
  uint64_t max_examples = 100'000;
  double sampling_odds = 1;
};

// kInvalid naming the member.
Result<SetConfig> set_config(std::string_view json);
Result<ModelConfig> model_config(const JsonValue& value);

}  // namespace sonde::whatif
