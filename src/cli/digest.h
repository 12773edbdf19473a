// `sonde --inspect`: the digest that `tensorboard --inspect` prints, line for line. It classes by
// the raw form of a value (scalars of TensorFlow 2 are tensors) and reads a file up to its first
// broken length, as the original does; `sonde inspect` is the command that shows everything.
#pragma once

#include <string>

#include "base/result.h"

namespace sonde::cli {

struct DigestRequest {
  std::string logdir, event_file;  // one of them
  std::string tag;                 // only this one, unless empty
};

// The whole text for stdout.
Result<std::string> digest(const DigestRequest& request);

}  // namespace sonde::cli
