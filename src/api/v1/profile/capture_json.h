// Capture files and what is wrong with them, as the routes of profile/ write them.
#pragma once

#include <span>
#include <string_view>

#include "api/services/captures.h"
#include "codec/json.h"

namespace sonde::api::v1 {

std::string_view file_format(imports::FileKind kind);
// "diagnostics": [{severity, text}], of the session and of every trace in it.
void write_diagnostics(JsonWriter& json, const Capture& capture);

// profile/information, profile/progress; part of profile_routes().
std::span<const Route> session_routes();

}  // namespace sonde::api::v1
