// PyTorch: what the host or the device stands still for.
#include <fmt/format.h>

#include <algorithm>

#include "capture/findings/pytorch.h"

namespace sonde::capture::findings {
namespace {

using namespace pytorch;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

void copies(const Numbers& n, Rules& r) {
  if (n.c.device.empty()) return;
  const Ranges& kernels = n.c.role[static_cast<size_t>(Role::kKernel)];
  Ranges to_device;
  int64_t bytes = 0, count = 0, pageable = 0, copy_ps = 0;
  for (const DeviceEvent& event : n.c.device) {
    const std::string_view name = n.c.trace.name(event.slice);
    if (event.kind != Kind::kMemcpy || !contains(name, "HtoD")) continue;
    append(to_device, {event.begin, event.end});
    ++count;
    copy_ps += event.duration();
    pageable += contains(name, "Pageable");
    const auto size = n.c.trace.find(n.c.trace.args(event.slice), n.c.words.copy_bytes);
    if (size && size->is_number()) bytes += size->as_int();
  }
  if (count == 0) return;
  to_device = difference(merged(std::move(to_device)), kernels);
  int64_t exposed = 0;
  for (const CaptureStep& step : n.c.steps) exposed += total_inside(to_device, step.extent);
  const double ms = static_cast<double>(exposed) / 1e9 / n.steps();
  const double percent = 100 * ratio(ms, n.step_ms);
  Finding f = make("H2D", percent >= 5, Severity::kMajor);
  f.text = fmt::format(
      "{:.2f} ms of each step ({:.0f}%) copy from host to device while no kernel runs: {} copies "
      "in all, {:.1f} MB, {:.1f} GB/s, {} from pageable memory.",
      ms, percent, count, static_cast<double>(bytes) / 1e6,
      ratio(static_cast<double>(bytes) / 1e9, static_cast<double>(copy_ps) / 1e12), pageable);
  f.action = "Copy from pinned memory and do not wait for it, so that kernels run meanwhile.";
  f.diff =
      "-loader = DataLoader(dataset, batch_size=B)\n"
      "+loader = DataLoader(dataset, batch_size=B, pin_memory=True)\n"
      "-x = x.cuda()\n+x = x.cuda(non_blocking=True)";
  f.numbers = {{"exposed_ms", ms}, {"percent", percent}, {"copies", static_cast<double>(count)}};
  f.evidence = {{"trace_viewer", "HtoD"}};
  gain(f, ms, n.step_ms);
  r.found.push_back(std::move(f));
}

struct Calls {
  int64_t count = 0;
  Ranges spans;
};

Calls calls_inside_steps(const Capture& c, std::initializer_list<std::string_view> words) {
  Calls out;
  for (const Launch& launch : c.launches) {
    const std::string_view name = c.trace.name(launch.slice);
    if (std::none_of(words.begin(), words.end(),
                     [&](std::string_view word) { return contains(name, word); }))
      continue;
    const bool inside = std::any_of(c.steps.begin(), c.steps.end(), [&](const CaptureStep& step) {
      return launch.begin >= step.host.begin && launch.begin < step.host.end;
    });
    if (!inside) continue;
    ++out.count;
    append(out.spans, {launch.begin, launch.end});
  }
  out.spans = merged(std::move(out.spans));
  return out;
}

void synchronisation(const Numbers& n, Rules& r) {
  if (n.c.launches.empty() || hides_graphs(n.c)) return;
  const Calls calls = calls_inside_steps(
      n.c, {"StreamSynchronize", "DeviceSynchronize", "EventSynchronize", "MemcpyWithStream"});
  // The device idles after a synchronisation until the host has launched again; while it works,
  // waiting for it costs nothing.
  Ranges device;
  for (const DeviceEvent& event : n.c.device) append(device, {event.begin, event.end});
  const int64_t waited = total(difference(calls.spans, merged(std::move(device))));
  const double per_step = static_cast<double>(calls.count) / n.steps();
  const double ms = static_cast<double>(waited) / 1e9 / n.steps();
  const double percent = 100 * ratio(ms, n.step_ms);
  Finding f = make("D2H-SYNC", percent >= 3, Severity::kMajor);
  f.text = fmt::format(
      "{:.0f} synchronisations in each step hold the host for {:.2f} ms ({:.0f}%) in which the "
      "device has nothing to do.",
      per_step, ms, percent);
  f.action =
      "loss.item(), .cpu(), print of a tensor and masks by value all wait for the device: keep "
      "metrics on the device and read them every few steps.";
  f.diff = "-running += loss.item()\n+running += loss.detach()      # .item() once, at the end";
  f.numbers = {{"synchronisations", per_step}, {"wait_ms", ms}};
  f.evidence = {{"trace_viewer", "Synchronize"}};
  gain(f, ms, n.step_ms);
  // A device that idles because of these calls is not told a second time, by a vaguer name.
  for (Finding& idle : r.found) {
    if (!f.fired || idle.id != "GPU-LOW" || !idle.gain_ps ||
        ms * 1e9 < 0.7 * static_cast<double>(*idle.gain_ps))
      continue;
    idle.gain_ps.reset();
    idle.text = idle.text.substr(0, idle.text.find(" Without it"));
  }
  r.found.push_back(std::move(f));
}

void allocation(const Numbers& n, Rules& r) {
  const Calls calls = calls_inside_steps(n.c, {"cudaMalloc", "cudaFree", "hipMalloc", "hipFree"});
  if (calls.count == 0) return;
  // The first call of each sets the device up.
  const Ranges usual = difference(calls.spans, start_up_calls(n.c));
  const double ms = static_cast<double>(total(usual)) / 1e9 / n.steps();
  Finding f = make("MEM-CHURN", ratio(ms, n.step_ms) >= 0.02, Severity::kMinor);
  f.text = fmt::format(
      "{:.2f} ms of each step go into {:.0f} calls that take memory from the driver or give it "
      "back.",
      ms, static_cast<double>(calls.count) / n.steps());
  f.action =
      "The allocator's cache does not hold: shapes that change, or memory so full that blocks are "
      "given back. Pad to few shapes, or let segments grow.";
  f.diff = "+os.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True'";
  f.numbers = {{"ms", ms}};
  f.evidence = {{"trace_viewer", "Malloc"}};
  gain(f, ms, n.step_ms);
  r.found.push_back(std::move(f));
}

void layout(const Numbers& n, Rules& r) {
  int64_t layout_ps = 0, all_ps = 0;
  for (const DeviceEvent& event : n.c.device) {
    if (event.kind != Kind::kKernel) continue;
    all_ps += event.duration();
    const std::string_view name = n.c.trace.name(event.slice);
    if (contains(name, "nchwToNhwc") || contains(name, "nhwcToNchw")) layout_ps += event.duration();
  }
  if (all_ps == 0) return;
  const double percent = 100 * static_cast<double>(layout_ps) / static_cast<double>(all_ps);
  Finding f = make("LAYOUT", percent >= 5, Severity::kMinor);
  f.text = fmt::format("{:.0f}% of kernel time only turns images from one layout into the other.",
                       percent);
  f.action = "Keep images in the layout the Tensor Cores read, from end to end.";
  f.diff =
      "-model = model.cuda()\n+model = model.cuda().to(memory_format=torch.channels_last)\n"
      "-x = x.cuda()\n+x = x.cuda().to(memory_format=torch.channels_last)";
  f.numbers = {{"percent", percent}};
  f.evidence = {{"torch.kernel", "nchwToNhwc"}};
  gain(f, percent / 100 * n.part_ms(Role::kKernel), n.step_ms);
  r.found.push_back(std::move(f));
}

}  // namespace

void pytorch_waits(const Numbers& n, Rules& r) {
  copies(n, r);
  synchronisation(n, r);
  allocation(n, r);
  layout(n, r);
}

void pytorch_capture(Rules& r) {
  for (const HostAnalysis* host : r.hosts) {
    if (host->pytorch().steps_marked) continue;
    Finding f = make("NO-STEPS", true, Severity::kInfo);
    f.text = fmt::format("0 steps are marked in the capture of {}: all of it is shown as one.",
                         host->host().name);
    f.action = "Tell the profiler where a step ends, and let it skip the first ones.";
    f.diff =
        "+with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=1, "
        "active=3),\n"
        "+        on_trace_ready=torch.profiler.tensorboard_trace_handler('logs')) as prof:\n"
        "     for batch in loader:\n"
        "         train_step(batch)\n"
        "+        prof.step()";
    r.found.push_back(std::move(f));
    return;
  }
}

}  // namespace sonde::capture::findings
