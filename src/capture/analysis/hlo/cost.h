// What an HLO instruction costs: floating-point operations and bytes moved. Matrix products and
// convolutions are exact; element-wise work counts one operation an element, which is what a person
// means by FLOP/s (clock-cycle tables, as some tools use, inflate element-wise programs by orders
// of magnitude).
#pragma once

#include "capture/analysis/hlo/module.h"

namespace sonde::capture::hlo {

struct Cost {
  double flops = 0;            // model operations
  double transcendentals = 0;  // exp, tanh …: counted apart, not part of flops
  double bytes = 0;            // operands read and results written
  double hbm_bytes = 0;        // the part that goes through device memory
  int operand_bits = 32;       // narrowest operand of a product: 8 and 4 bit run faster
};

Cost cost_of(const Module& module, const Instruction& instruction);

// Category of an op on GPU and CPU: the opcode, or "<kind> fusion".
std::string category_of(const Instruction& instruction);

}  // namespace sonde::capture::hlo
