// A value of a tensor series as the TensorProto that TensorBoard's plug-ins expect, whatever form
// it was written in.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "log/event/value.h"

namespace sonde::api::provider {

// Tensors as they are, old histograms as [n, 3] doubles, a value that is only metadata as an empty
// tensor. kCorrupt when TensorBoard could not decode it, kUnsupported when it is no tensor.
Result<std::string> tensor_message(const event::ValueView& value, std::string_view plugin);

}  // namespace sonde::api::provider
