#include "capture/analysis/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace sonde::capture {
namespace {

// Dense operations a multiprocessor does in a cycle.
struct Generation {
  int major, minor;
  double fp32, fp16, tf32, tensor16, tensor8;
};
constexpr Generation kNvidia[] = {
    {2, 0, 64, 0, 0, 0, 0},
    {3, 0, 384, 0, 0, 0, 0},
    {5, 0, 256, 0, 0, 0, 0},
    {6, 0, 128, 256, 0, 0, 0},
    {6, 1, 256, 4, 0, 0, 0},
    {7, 0, 128, 256, 0, 1024, 0},
    {7, 5, 128, 256, 0, 1024, 2048},
    {8, 0, 128, 512, 1024, 2048, 4096},
    {8, 6, 256, 256, 256, 1024, 2048},
    {8, 9, 256, 256, 512, 1024, 2048},
    {9, 0, 256, 512, 2048, 4096, 8192},
    {10, 0, 296, 592, 4096, 8192, 16384},
};

struct AmdGeneration {
  std::string_view name;
  double fp32, fp16, matrix32, tf32, matrix16, matrix8;
  double shared_bytes;
};
constexpr AmdGeneration kAmd[] = {
    {"gfx908", 128, 0, 256, 0, 1024, 0, 128},
    {"gfx90a", 128, 0, 256, 0, 1024, 0, 128},
    {"gfx942", 256, 256, 256, 1024, 2048, 4096, 128},
    {"gfx950", 256, 256, 256, 0, 4096, 8192, 256},
};

std::string nvidia_name(int64_t major, int64_t minor) {
  std::string_view name;
  switch (major) {
    case 2:
      name = "Fermi";
      break;
    case 3:
      name = "Kepler";
      break;
    case 5:
      name = "Maxwell";
      break;
    case 6:
      name = "Pascal";
      break;
    case 7:
      name = minor < 5 ? "Volta" : "Turing";
      break;
    case 8:
      name = minor < 9 ? "Ampere" : "Ada Lovelace";
      break;
    case 9:
      name = "Hopper";
      break;
    case 10:
      name = "Blackwell";
      break;
    default:
      return "Nvidia GPU";
  }
  return fmt::format("Nvidia GPU ({})", name);
}

std::string gfx_of(std::string_view device_name, int64_t major, int64_t minor) {
  const size_t at = device_name.find("gfx");
  if (at != std::string_view::npos) {
    size_t end = at + 3;
    while (end < device_name.size() && std::isxdigit(static_cast<unsigned char>(device_name[end])))
      ++end;
    if (end - at >= 6) return std::string(device_name.substr(at, end - at));
  }
  if (major == 9 && minor == 4) return "gfx942";
  if (major == 9 && minor == 5) return "gfx950";
  return {};
}

class Properties {
 public:
  Properties(const trace::Trace& trace, trace::TrackId plane) : trace_(trace), plane_(plane) {}
  double number(std::string_view key) const {
    const auto value = trace_.find(trace_.tracks()[plane_].args, trace_.key(key));
    return value && value->is_number() ? value->as_double() : 0;
  }
  std::string_view text(std::string_view key) const {
    return trace_.text_of(trace_.find(trace_.tracks()[plane_].args, trace_.key(key)));
  }

 private:
  const trace::Trace& trace_;
  trace::TrackId plane_;
};

void set_gpu_peaks(Machine& machine, const Properties& plane, const std::string& gfx, int64_t major,
                   int64_t minor) {
  Peaks& peaks = machine.peaks;
  const double units = plane.number("core_count");
  const double ghz = plane.number("clock_rate") / 1e6;  // recorded in kHz
  const double scale = units * ghz;
  double shared_bytes = major <= 2 ? 64 : 256;
  if (machine.is_amd) {
    shared_bytes = 128;
    for (const AmdGeneration& g : kAmd) {
      if (g.name != gfx) continue;
      shared_bytes = g.shared_bytes;
      peaks.gflops_fp32 = g.fp32 * scale;
      peaks.gflops_tf32 = std::max(g.tf32, g.matrix32) * scale;
      peaks.gflops_fp16 = g.matrix16 * scale;
      peaks.gflops_fp8 = g.matrix8 * scale;
    }
  } else {
    const Generation* best = nullptr;
    for (const Generation& g : kNvidia) {
      if (std::pair<int64_t, int64_t>(g.major, g.minor) <= std::pair(major, minor)) best = &g;
    }
    if (best) {
      peaks.gflops_fp32 = best->fp32 * scale;
      peaks.gflops_tf32 = std::max(best->tf32, best->fp32) * scale;
      peaks.gflops_fp16 = std::max(best->tensor16, best->fp16) * scale;
      peaks.gflops_fp8 = best->tensor8 * scale;
    }
  }
  peaks.gflops = std::max({peaks.gflops_fp32, peaks.gflops_tf32, peaks.gflops_fp16});
  peaks.hbm_gb_per_s = plane.number("memory_bandwidth") / 1e9;
  peaks.shared_gb_per_s = scale * shared_bytes;
}

void apply_recorded_peaks(Machine& machine, const Properties& plane) {
  Peaks& peaks = machine.peaks;
  const auto take = [&](double& value, std::string_view key, double factor = 1.0) {
    if (const double recorded = plane.number(key); recorded > 0) value = recorded * factor;
  };
  take(peaks.gflops, "peak_teraflops_per_second", 1000.0);
  take(peaks.hbm_gb_per_s, "peak_hbm_bw_gigabytes_per_second");
  take(peaks.vmem_read, "peak_sram_rd_bw_gigabytes_per_second");
  take(peaks.vmem_write, "peak_sram_wr_bw_gigabytes_per_second");
  take(peaks.vmem_read, "peak_vmem_rd_bw_gigabytes_per_second");
  take(peaks.vmem_write, "peak_vmem_wr_bw_gigabytes_per_second");
  take(peaks.cmem_read, "peak_cmem_rd_bw_gigabytes_per_second");
  take(peaks.cmem_write, "peak_cmem_wr_bw_gigabytes_per_second");
}

}  // namespace

Machine machine_of(const trace::Trace& trace, const Vocabulary& words) {
  Machine machine;
  machine.device_type = "CPU";
  machine.hardware_type = "CPU_ONLY";
  if (!words.tpu_planes.empty()) {
    machine.hardware_type = "TPU";
    for (const trace::TrackId plane : words.tpu_planes)
      machine.device_count += trace.track_name(plane).find("SparseCore") == std::string_view::npos;
    const Properties plane(trace, words.tpu_planes.front());
    machine.device_type = plane.text("device_type_string");
    if (machine.device_type.empty()) machine.device_type = "TPU";
    apply_recorded_peaks(machine, plane);
  } else if (!words.gpu_planes.empty()) {
    machine.hardware_type = "GPU";
    machine.device_count = static_cast<uint32_t>(words.gpu_planes.size());
    const Properties plane(trace, words.gpu_planes.front());
    const auto major = static_cast<int64_t>(plane.number("compute_cap_major"));
    const auto minor = static_cast<int64_t>(plane.number("compute_cap_minor"));
    const std::string_view vendor = plane.text("device_vendor");
    machine.has_vendor = !vendor.empty();
    machine.is_amd = vendor == "AMD";
    machine.multiprocessors = static_cast<int64_t>(plane.number("core_count"));
    machine.memory_bytes = static_cast<uint64_t>(plane.number("memory_size"));
    std::string gfx;
    if (machine.is_amd) {
      gfx = gfx_of(plane.text("gpu_device_name"), major, minor);
      machine.device_type = gfx.empty() ? "AMD GPU" : "AMD GPU - " + gfx;
    } else {
      machine.device_type = nvidia_name(major, minor);
      machine.compute_major = major;
      machine.compute_minor = minor;
    }
    set_gpu_peaks(machine, plane, gfx, major, minor);
    apply_recorded_peaks(machine, plane);
  }
  return machine;
}

}  // namespace sonde::capture
