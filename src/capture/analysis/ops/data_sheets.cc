#include "capture/analysis/ops/data_sheets.h"

#include <algorithm>

namespace sonde::capture {
namespace {

// TFLOP/s without sparsity, 16-bit products summed in 32 bits; GB/s. Of boards with two dies: one.
struct Sheet {
  std::string_view name;  // found in the device's name; the first that is
  double fp32, tf32, fp16, fp8, gb_per_s;
};
constexpr Sheet kSheets[] = {
    {"B200", 75, 1125, 2250, 4500, 8000},
    {"H200", 66.9, 494.7, 989.4, 1978.9, 4800},
    {"H100 NVL", 60, 417.5, 835.5, 1671, 3938},
    {"H100 PCIe", 51.2, 378, 756, 1513, 2039},
    {"H100", 66.9, 494.7, 989.4, 1978.9, 3352},
    {"H800", 66.9, 494.7, 989.4, 1978.9, 3352},
    {"H20", 44, 74, 148, 296, 4000},
    {"A100-PCIE-40GB", 19.5, 156, 312, 0, 1555},
    {"A100 80GB PCIe", 19.5, 156, 312, 0, 1935},
    {"A100-SXM4-80GB", 19.5, 156, 312, 0, 2039},
    {"A100", 19.5, 156, 312, 0, 1555},
    {"A800", 19.5, 156, 312, 0, 2039},
    {"A30", 10.3, 82, 165, 0, 933},
    {"A40", 37.4, 74.8, 149.7, 0, 696},
    {"RTX A6000", 38.7, 77.4, 154.8, 0, 768},
    {"L40S", 91.6, 183, 362, 733, 864},
    {"L40", 90.5, 90.5, 181, 362, 864},
    {"L4", 30.3, 60, 121, 242, 300},
    {"GeForce RTX 4090", 82.6, 82.6, 165.2, 330.3, 1008},
    {"GeForce RTX 3090", 35.6, 35.6, 71, 0, 936},
    {"V100-PCIE", 14, 0, 112, 0, 900},
    {"V100", 15.7, 0, 125, 0, 900},
    {"Tesla T4", 8.1, 0, 65, 0, 320},
    {"MI355X", 157.3, 0, 2516, 5033, 8000},
    {"MI325X", 163.4, 653.7, 1307.4, 2614.9, 6000},
    {"MI300X", 163.4, 653.7, 1307.4, 2614.9, 5300},
    {"MI300A", 122.6, 490.3, 980.6, 1961.2, 5300},
    {"MI250X", 47.9, 0, 191.5, 0, 1638},
    {"MI250", 45.3, 0, 181, 0, 1638},
    {"MI210", 45.3, 0, 181, 0, 1638},
};

// "A30" is in "A3000", "L4" in "L40": a name ends where its letters and digits do.
bool names(std::string_view device, std::string_view model) {
  const auto is_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  for (size_t at = 0; (at = device.find(model, at)) != device.npos; ++at) {
    const size_t end = at + model.size();
    if ((at == 0 || !is_word(device[at - 1])) && (end == device.size() || !is_word(device[end])))
      return true;
  }
  return false;
}

}  // namespace

Peaks data_sheet_peaks(std::string_view device_name) {
  Peaks peaks;
  const auto sheet =
      std::ranges::find_if(kSheets, [&](const Sheet& one) { return names(device_name, one.name); });
  if (sheet == std::end(kSheets)) return peaks;
  peaks.gflops_fp32 = 1000 * sheet->fp32;
  peaks.gflops_tf32 = 1000 * std::max(sheet->tf32, sheet->fp32);
  peaks.gflops_fp16 = 1000 * sheet->fp16;
  peaks.gflops_fp8 = 1000 * sheet->fp8;
  peaks.gflops = peaks.gflops_fp16;
  peaks.hbm_gb_per_s = sheet->gb_per_s;
  return peaks;
}

}  // namespace sonde::capture
