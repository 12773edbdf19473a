// The Chrome trace that TensorFlow's own timeline module writes for a StepStats, byte for byte:
// field order, four blanks of indent, `t` as the end of a flow, lanes packed its way. Several runs
// are written one after the other; devices keep one number over all of them and ids are unique,
// where the well-known recipe of appending files repeats both.
#pragma once

#include <span>

#include "capture/export/sources.h"
#include "io/text_out.h"

namespace sonde::exports {

struct TfOptions {
  bool shows_dataflow = true;
  bool shows_memory = false;
};

// Every run must have `stats`.
void write_tf(std::span<const Run> runs, const TfOptions& options, io::TextOut& out);

}  // namespace sonde::exports
