// TensorBoard's data provider service (tensorboard.data.TensorBoardDataProvider) as a function from
// a message to messages: TensorBoard's own front end asks its data server these questions over
// gRPC. Knows no socket; http/grpc_server.h carries it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"

namespace sonde::api::provider {

// The answer to one call: a message each, several only for ReadBlob, or why there is none.
// `path` is gRPC's: "/tensorboard.data.TensorBoardDataProvider/ListRuns".
Result<std::vector<std::string>> call(const Context& context, std::string_view path, Bytes message);

}  // namespace sonde::api::provider
