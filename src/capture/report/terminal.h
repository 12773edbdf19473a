// A Report for people at a terminal: figures, findings with the change to make, tables cut to what
// fits.
#pragma once

#include <string>

#include "capture/report/report.h"

namespace sonde::capture {

struct TerminalStyle {
  size_t width = 100;
  size_t rows = 15;  // a table
  bool colour = false;
};

std::string to_terminal(const Report& report, const TerminalStyle& style);

}  // namespace sonde::capture
