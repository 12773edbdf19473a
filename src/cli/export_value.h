// What one point says that is no number, as JSON.
#pragma once

#include <string>

#include "log/event/value.h"
#include "log/model/snapshot.h"

namespace sonde::cli {

// Histograms as rows of [left, right, count], texts as text, images by their size; null when the
// value cannot be told.
void append_value_json(std::string& out, const event::ValueView& value,
                       const store::Series& series);

}  // namespace sonde::cli
