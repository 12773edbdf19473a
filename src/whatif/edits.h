// Examples with some values replaced by those of JSON objects, as the page and its users send them.
#pragma once

#include <vector>

#include "codec/json_read.h"
#include "whatif/dataset.h"

namespace sonde::whatif {

// `values[i]` is an object of feature and value for row i, or null: nothing changes there. A value
// is a number, a text, null (missing), a list of them, or {"b64": …}. Members that are no column
// are left out.
Dataset with_values(Dataset rows, const std::vector<const JsonValue*>& values);

}  // namespace sonde::whatif
