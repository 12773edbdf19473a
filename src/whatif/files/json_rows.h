// Rows as JSON: an object a line, or one array of objects. Nested objects are flattened with a dot,
// arrays of numbers or texts are lists, {"b64": …} holds bytes.
#pragma once

#include <optional>
#include <string>

#include "codec/json_read.h"
#include "whatif/files/csv.h"

namespace sonde::whatif {

Result<Dataset> read_json_rows(std::string_view text, const ReadOptions& options);

// Adds one object as a row; kInvalid naming the member that is no value of a feature.
Result<void> add_json_row(const JsonValue& object, DatasetBuilder& into);
// {"b64": "…"}: bytes, as TensorFlow Serving's JSON has them; nothing for any other value.
std::optional<std::string> bytes_in_json(const JsonValue& value);

}  // namespace sonde::whatif
