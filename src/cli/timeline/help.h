// `sonde timeline --help` and that of each of its commands.
#pragma once

#include <string>
#include <string_view>

namespace sonde::cli::timeline {

// Of one command, or of all when the name is empty or unknown.
std::string help(std::string_view command);

}  // namespace sonde::cli::timeline
