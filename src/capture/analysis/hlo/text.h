// HLO as text, in the syntax XLA prints: what op tables, the graph viewer and searches show.
#pragma once

#include <string>

#include "capture/analysis/hlo/module.h"

namespace sonde::capture::hlo {

enum class TextStyle : uint8_t {
  kOneLine,  // with operand shapes, without metadata: the expression of op tables
  kShort,    // a module to read: no operand shapes, no metadata
  kLong,     // everything
};

std::string instruction_text(const Module& module, const Instruction& instruction, TextStyle style);
std::string module_text(const Module& module, TextStyle style);

}  // namespace sonde::capture::hlo
