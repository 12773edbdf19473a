// Host ops that belong to the input pipeline, with their category and time.
#pragma once

#include <string>
#include <vector>

#include "capture/analysis/ops/ops.h"
#include "capture/analysis/session_steps.h"

namespace sonde::capture {

struct InputOp {
  std::string name,
      category;  // Enqueue, Demanded file read, Advanced file read, Preprocessing, Unknown
  int64_t count = 0, time_ps = 0, self_ps = 0;
};

struct InputOps {
  std::vector<InputOp> ops;  // by self time, longest first
  int64_t self_ps = 0;
  // How the input time splits, in microseconds.
  double enqueue_us = 0, demanded_us = 0, advanced_us = 0, preprocessing_us = 0,
         unclassified_us = 0;
};

InputOps input_ops(const HostOps& host, const SessionSteps& steps);

}  // namespace sonde::capture
