// tf.train.Example and SequenceExample as protobuf's JSON: what the routes of the What-If plug-in
// speak. Whole numbers are texts and bytes are base64 there.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "whatif/files/examples.h"

namespace sonde::whatif {

// kCorrupt when the bytes are no such message.
Result<std::string> example_to_json(Bytes message, Message kind);
// kInvalid naming the feature.
Result<std::string> example_from_json(std::string_view json, Message kind);

}  // namespace sonde::whatif
