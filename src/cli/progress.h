// The one line on a terminal that says how far loading is, and disappears when it is done. Without
// a terminal nothing is printed.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "log/store/store.h"

namespace sonde::cli {

// "loading 12 of 120 files, 1.20 of 10.4 GB, 34 000 000 points, 1.10 GB/s, 8 s left"
std::string progress_text(const store::LoadProgress& progress, std::chrono::duration<double> spent);

// Watches a store until its first pass is over, then calls `done` once with its state. The line is
// drawn on stderr, and only if that is a terminal.
class ProgressLine {
 public:
  ProgressLine(const store::Store& store, std::function<void(const store::Snapshot&)> done);

 private:
  std::jthread thread_;
};

}  // namespace sonde::cli
