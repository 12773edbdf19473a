// A Keras model's JSON (`model.to_json()`, Keras 2 and 3) as a GraphDef: one node a layer, named by
// the models around it, with the edges the model states.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sonde::graph {

// A serialized GraphDef. kInvalid when the text is no Keras model.
Result<std::string> keras_to_graph(std::string_view model_json);

}  // namespace sonde::graph
