// Rows of named values, as CSV and JSON line files hold them: which column is the step, which the
// time, and whether a file looks like a training log at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json_read.h"

namespace sonde::trackers {

// The fields of one line; quotes around a field go, doubled quotes become one.
std::vector<std::string> csv_fields(std::string_view line);

bool is_step_name(std::string_view name);
bool is_time_name(std::string_view name);

enum class LooksLike : uint8_t { kLog, kOther, kTooShort };
// By the first bytes of the file. A log has a step (or epoch) and a number beside it; samples and
// rollouts, which have long texts or lists, are tables and not logs.
LooksLike csv_looks_like(std::string_view head);
LooksLike json_lines_look_like(std::string_view head);

}  // namespace sonde::trackers
