// What the device does badly or waits for: copies, launches, kernels, precision.
#include <fmt/format.h>

#include <algorithm>

#include "capture/findings/rules.h"

namespace sonde::capture::findings {

void host_to_device(Rules& r) {
  if (!r.gpu) return;
  double exposed = 0, bytes = 0, copies = 0, copy_ms = 0;
  for (const SessionStep& step : r.steps.steps) {
    const Step& s = step.slowest();
    exposed += static_cast<double>(s.work[static_cast<size_t>(Work::kHostToDevice)]) / 1e9;
    bytes += static_cast<double>(s.copy_bytes[0]);
    copies += s.copies[0];
    copy_ms += static_cast<double>(s.copy_ps[0]) / 1e9;
  }
  const double n = std::max<double>(1, static_cast<double>(r.average.steps));
  exposed /= n, bytes /= n, copies /= n, copy_ms /= n;
  const double percent = 100.0 * ratio(exposed, r.average.step_ms);
  Finding f = make("H2D", r.enough && percent >= 5, Severity::kMajor);
  f.text = fmt::format(
      "{:.2f} ms of each step copy {:.1f} MB from host to device without other "
      "device work running ({:.1f} GB/s).",
      exposed, bytes / 1e6, ratio(bytes / 1e6, copy_ms));
  f.action =
      "Copy ahead of time and from pinned memory, or send a smaller type (uint8 images, "
      "converted on the device).";
  f.diff =
      r.jax
          ? "+batch = jax.device_put(next_batch)   # one step ahead: the copy runs beside the step"
          : "+dataset = dataset.apply(tf.data.experimental.prefetch_to_device('/gpu:0'))";
  f.numbers = {{"exposed_ms", exposed}, {"bytes", bytes}, {"copies", copies}};
  f.evidence = {{"trace_viewer", "MemcpyH2D"}};
  gain(f, exposed, r.average.step_ms);
  r.found.push_back(std::move(f));
  Finding small =
      make("H2D-SMALL", r.enough && copies > 50 && ratio(bytes, copies) < 65536, Severity::kMinor);
  small.text = fmt::format("{:.0f} copies of {:.1f} kB on average go to the device in each step.",
                           copies, ratio(bytes, copies) / 1e3);
  small.action = "Merge them: keep constants on the device, pass one packed tensor.";
  small.numbers = {{"copies", copies}};
  r.found.push_back(std::move(small));
}

void output(Rules& r) {
  if (!r.gpu) return;
  const double percent = r.average.percent(Part::kOutput), ms = r.average.of(Part::kOutput);
  Finding f = make("D2H-SYNC", r.enough && percent >= 3, Severity::kMajor);
  f.text =
      fmt::format("{:.2f} ms of each step ({:.0f}%) copy results back to the host.", ms, percent);
  f.action =
      "Read metrics back every few steps instead of every step, and keep them on the device "
      "in between.";
  f.diff = r.jax ? "-log(float(loss))\n+if step % 100 == 0: log(float(loss))"
                 : "-log(loss.numpy())\n+if step % 100 == 0: log(loss.numpy())";
  f.numbers = {{"output_ms", ms}, {"percent", percent}};
  f.evidence = {{"trace_viewer", "MemcpyD2H"}};
  gain(f, ms, r.average.step_ms);
  r.found.push_back(std::move(f));
}

void launch(Rules& r) {
  if (!r.gpu) return;
  const double percent = r.average.percent(Part::kLaunch), ms = r.average.of(Part::kLaunch);
  Finding f = make("LAUNCH", r.enough && percent >= 3,
                   percent >= 15 ? Severity::kCritical : Severity::kMajor);
  f.text = fmt::format(
      "{:.1f} of {:.1f} ms of each step ({:.0f}%) go into launching kernels while the "
      "device waits.",
      ms, r.average.step_ms, percent);
  f.action =
      r.jax ? "Do more in one program (several steps in a jax.lax.scan), and use a larger batch."
            : "Let the compiler fuse and launch in one go, use a larger batch, and keep tf.data "
              "from taking the launching thread's core (TF_GPU_THREAD_MODE=gpu_private).";
  f.diff = r.jax ? "+state, losses = jax.lax.scan(train_step, state, batches)"
                 : "-@tf.function\n+@tf.function(jit_compile=True)\n def train_step(...):";
  f.numbers = {{"launch_ms", ms}, {"percent", percent}};
  f.evidence = {{"kernel_stats", ""}, {"trace_viewer", ""}};
  gain(f, ms, r.average.step_ms);
  r.found.push_back(std::move(f));
}

void kernels(Rules& r) {
  if (!r.gpu) return;
  const auto list = merged_kernels(r.hosts);
  double total = 0, tiny = 0, low = 0, small_grid = 0, unused = 0, layout = 0, copies = 0;
  int64_t count = 0, tiny_count = 0;
  const Machine& machine = main_machine(r.hosts);
  const Kernel* worst_occupancy = nullptr;
  const Kernel* worst_unused = nullptr;
  for (const Kernel& k : list) {
    const double us = static_cast<double>(k.total_ns) / 1e3;
    total += us;
    count += k.occurrences;
    if (static_cast<double>(k.total_ns) / static_cast<double>(k.occurrences) < 5000) {
      tiny += us;
      tiny_count += k.occurrences;
    }
    if (k.launch.has_occupancy && k.launch.occupancy_percent < 25) {
      low += us;
      if (!worst_occupancy) worst_occupancy = &k;
    }
    const uint64_t blocks = uint64_t{k.launch.grid[0]} * k.launch.grid[1] * k.launch.grid[2];
    if (machine.multiprocessors > 0 && blocks < static_cast<uint64_t>(machine.multiprocessors))
      small_grid += us;
    const bool rearranges = std::ranges::any_of(
        std::initializer_list<std::string_view>{"nchwToNhwc", "nhwcToNchw", "transpose",
                                                "Transpose", "SwapDimension"},
        [&](std::string_view word) { return k.name.find(word) != std::string::npos; });
    // A kernel is counted by one rule: one that only moves has nothing to multiply.
    if (rearranges) {
      layout += us;
    } else if (k.eligible && !k.uses_tensor_cores) {
      unused += us;
      if (!worst_unused) worst_unused = &k;
    }
    if (k.name.find("copyBuffer") != std::string::npos ||
        k.name.find("concat") != std::string::npos)
      copies += us;
  }
  if (count == 0) return;
  const double tiny_share = 100.0 * ratio(tiny, total);
  const double per_step =
      ratio(1.0, 1e3 * std::max<double>(1, static_cast<double>(r.average.steps)));
  Finding f = make("TINY-KERNELS", tiny_count * 2 >= count && tiny_share >= 20, Severity::kMinor);
  f.text = fmt::format(
      "{:.0f}% of {} kernels run for less than 5 us; together they are {:.0f}% of kernel time.",
      100.0 * ratio(static_cast<double>(tiny_count), static_cast<double>(count)), count,
      tiny_share);
  f.action = r.jax ? "Put the whole step into one jax.jit, so that XLA can fuse them."
                   : "Fuse them: jit_compile=True (XLA).";
  f.diff =
      r.jax ? "+@jax.jit\n def train_step(...):" : "-@tf.function\n+@tf.function(jit_compile=True)";
  f.evidence = {{"kernel_stats", ""}};
  f.numbers = {{"tiny_percent", tiny_share}};
  r.found.push_back(std::move(f));

  f = make("LOW-OCC", 100.0 * ratio(low, total) >= 10, Severity::kMinor);
  f.text = fmt::format("{:.0f}% of kernel time runs at less than 25% occupancy.",
                       100.0 * ratio(low, total));
  if (worst_occupancy) {
    f.text +=
        fmt::format(" The longest is {} ({} registers a thread, {} bytes of shared memory).",
                    worst_occupancy->name.substr(0, 80), worst_occupancy->launch.registers,
                    worst_occupancy->launch.static_shared + worst_occupancy->launch.dynamic_shared);
  }
  f.action =
      "Registers or shared memory limit how many blocks run at once: smaller tiles or another "
      "block size, where the kernel is yours.";
  f.evidence = {{"kernel_stats", ""}};
  r.found.push_back(std::move(f));

  f = make("GRID-SMALL", 100.0 * ratio(small_grid, total) >= 10, Severity::kMinor);
  f.text = fmt::format(
      "{:.0f}% of kernel time is in launches with fewer blocks than the device has "
      "multiprocessors ({}).",
      100.0 * ratio(small_grid, total), machine.multiprocessors);
  f.action = "The work per launch is too small for this device: a larger batch fills it.";
  f.evidence = {{"kernel_stats", ""}};
  r.found.push_back(std::move(f));

  const double unused_percent = 100.0 * ratio(unused, total);
  f = make("TC-UNUSED", unused_percent >= 10, Severity::kMajor);
  const std::string_view units = machine.is_amd ? "Matrix Cores" : "Tensor Cores";
  f.text = fmt::format("{:.0f}% of kernel time is in ops that could use {} and do not",
                       unused_percent, units);
  f.text += worst_unused ? fmt::format("; the longest is {}.", worst_unused->op_name) : ".";
  f.action =
      "Use mixed precision, and keep channel and matrix sizes multiples of 8 (16-bit) or 16 "
      "(8-bit).";
  f.diff = r.jax ? "+params = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)"
                 : "+tf.keras.mixed_precision.set_global_policy('mixed_float16')";
  f.numbers = {{"percent", unused_percent}};
  f.evidence = {{"kernel_stats", worst_unused ? worst_unused->op_name : ""}};
  gain(f, unused * per_step * 0.5, r.average.step_ms);
  r.found.push_back(std::move(f));

  f = make("LAYOUT", 100.0 * ratio(layout, total) >= 5, Severity::kMinor);
  f.text =
      fmt::format("{:.0f}% of kernel time only rearranges tensors (transposes, layout changes).",
                  100.0 * ratio(layout, total));
  f.action = fmt::format("Keep one layout from end to end; channels last suits {}.", units);
  f.evidence = {{"kernel_stats", "transpose"}};
  gain(f, layout * per_step, r.average.step_ms);
  r.found.push_back(std::move(f));

  f = make("MEMCPY-D2D", 100.0 * ratio(copies, total) >= 10, Severity::kMinor);
  f.text = fmt::format("{:.0f}% of kernel time copies or concatenates tensors on the device.",
                       100.0 * ratio(copies, total));
  f.action = "Avoid concat and copies in the step; update in place.";
  f.evidence = {{"kernel_stats", ""}};
  r.found.push_back(std::move(f));
  r.tensor_core_unused_percent = unused_percent;
}

// A device that computes in less than half of the step, whatever the host does meanwhile.
void device_idle(Rules& r) {
  if (!r.gpu || r.average.steps == 0) return;
  const double busy = r.average.percent(Part::kDeviceCompute) +
                      r.average.percent(Part::kDeviceToDevice) +
                      r.average.percent(Part::kCollectives);
  Part most = Part::kOther;
  for (const Part part :
       {Part::kHostCompute, Part::kLaunch, Part::kInput, Part::kOutput, Part::kCompile}) {
    if (r.average.of(part) > r.average.of(most)) most = part;
  }
  Finding f = make("GPU-LOW", busy < 50, Severity::kMajor);
  std::string rest(part_name(most));
  rest[0] = static_cast<char>(rest[0] | 0x20);
  f.text = fmt::format(
      "The GPU computes during {:.0f}% of {}; most of the rest is {} ({:.1f} of {:.1f} ms).", busy,
      r.average.steps == 1 ? "the one step captured"
                           : fmt::format("the time of {} steps", r.average.steps),
      rest, r.average.of(most), r.average.step_ms);
  f.action =
      most == Part::kInput ? "Fix the input first."
      : most == Part::kLaunch
          ? "Give every launch more work: a larger batch, or fewer and fused kernels."
          : "The host holds the device up: see what it does in the trace viewer, and move it out "
            "of the step or beside it.";
  f.numbers = {{"utilization_percent", busy}};
  f.evidence = {{"trace_viewer", ""}, {"kernel_stats", ""}};
  // Launching and input have rules of their own; of the rest at most that part can be won.
  if (busy >= 1 && (most == Part::kHostCompute || most == Part::kOther))
    gain(f, r.average.of(most), r.average.step_ms);
  r.found.push_back(std::move(f));
}

void precision(Rules& r) {
  const Bottleneck b = classify(r.steps, false);
  if (!b.has_compute) return;
  Finding f =
      make("PREC", r.enough && b.low_precision_percent < 10 && r.tensor_core_unused_percent >= 20,
           Severity::kMinor);
  f.text = fmt::format(
      "Only {:.1f}% of device computation uses 16 bits or fewer, and {:.0f}% of kernel "
      "time is in ops that would gain from it.",
      b.low_precision_percent, r.tensor_core_unused_percent);
  f.action = "Train in mixed precision if the accuracy allows it.";
  f.diff = r.jax ? "+params = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)"
                 : "+tf.keras.mixed_precision.set_global_policy('mixed_float16')";
  f.numbers = {{"low_precision_percent", b.low_precision_percent}};
  r.found.push_back(std::move(f));
}

}  // namespace sonde::capture::findings
