// The text of `sonde --help`: what the program is for, examples first, then commands and flags. Two
// screens of 24 lines and 80 columns hold it; a test counts.
#pragma once

#include <string>

namespace sonde::cli {

std::string help();

}  // namespace sonde::cli
