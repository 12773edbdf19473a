// `sonde serve`, the default command: loads a log directory and answers over HTTP until a signal.
#pragma once

#include "cli/commands.h"

namespace sonde::cli {

int serve(const Args& args);

}  // namespace sonde::cli
