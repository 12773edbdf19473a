// Protobuf's text format back to wire bytes, by the same tables of fields that pbtxt.h prints with.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/pbtxt.h"

namespace sonde::graph {

// kInvalid with line and field when the text is not such a message. Unknown fields are skipped, as
// a newer TensorFlow may have written them.
Result<std::string> from_pbtxt(std::string_view text, const MessageSchema& schema);

}  // namespace sonde::graph
