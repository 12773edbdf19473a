// The flags of `sonde timeline COMMAND`.
#pragma once

#include "base/result.h"
#include "capture/export/options.h"
#include "cli/commands.h"

namespace sonde::cli::timeline {

using namespace sonde::exports;

// kInvalid when the flags of the command are not understood.
Result<Options> parse(std::string_view command, const Args& args);

}  // namespace sonde::cli::timeline
