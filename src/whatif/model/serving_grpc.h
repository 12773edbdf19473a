// TensorFlow Serving over gRPC: Predict with serialised examples in one input tensor, Classify and
// Regress. The address is grpc://HOST:PORT/v1/models/NAME[/versions/N|/labels/L]:METHOD, as REST
// writes it.
#pragma once

#include "base/bytes.h"
#include "whatif/model/ask.h"

namespace sonde::whatif {

bool is_grpc(std::string_view url);
// kInvalid naming what is missing.
Result<void> check_grpc(const ModelConfig& model);
// The model's answers to the rows begin … end.
Result<RawScores> ask_serving(const ModelConfig& model, const Dataset& data, size_t begin,
                              size_t end);
// Of one answer; for tests and ask_serving.
Result<RawScores> read_serving(std::string_view method, std::string_view output, Bytes answer,
                               size_t rows);

}  // namespace sonde::whatif
