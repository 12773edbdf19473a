// What the capture says about the hardware: kind of device, its peaks, how many. Peaks the
// producer did not record are computed from units × clock × a table of what each generation does a
// cycle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/analysis/vocabulary.h"

namespace sonde::capture {

struct Peaks {
  double gflops = 0;       // the fastest dense rate of the device, GFLOP/s
  double gflops_fp32 = 0;  // vector units
  double gflops_tf32 = 0, gflops_fp16 = 0, gflops_fp8 = 0;
  double hbm_gb_per_s = 0;  // decimal GB/s, as all of these
  double shared_gb_per_s = 0;
  double cmem_read = 0, cmem_write = 0, vmem_read = 0, vmem_write = 0;  // TPU
};

struct Machine {
  std::string device_type;    // "Nvidia GPU (Turing)", "AMD GPU - gfx942", "TPU v6 Lite", "CPU"
  std::string hardware_type;  // GPU, TPU or CPU_ONLY
  uint32_t device_count = 0;
  bool is_amd = false, has_vendor = false;
  int64_t multiprocessors = 0;
  int64_t compute_major = -1, compute_minor = -1;  // of an NVIDIA GPU
  uint64_t memory_bytes = 0;
  Peaks peaks;
  std::string memory_note;  // set when the recorded bandwidth was replaced by the data sheet's
};

Machine machine_of(const trace::Trace& trace, const Vocabulary& words);

inline constexpr double kGibPerGb = 1.073741824;  // GB/s ÷ this = GiB/s

}  // namespace sonde::capture
