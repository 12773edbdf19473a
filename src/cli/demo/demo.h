#pragma once

#include "cli/commands.h"

namespace sonde::cli {

int demo(const Args& args);

}  // namespace sonde::cli
