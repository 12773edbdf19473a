// PyTorch: why the device idles. What happens once at the first calls of the driver and its
// libraries is told apart from what every step pays.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/analysis/pytorch/breakdown.h"
#include "capture/analysis/pytorch/gpu_use.h"
#include "capture/findings/pytorch.h"

namespace sonde::capture::findings {
namespace {

using namespace pytorch;

constexpr int64_t kEnoughKernels = 20;           // fewer say nothing about a step
constexpr int64_t kLongCallPs = 10'000'000'000;  // 10 ms: no call of the driver takes that twice
constexpr int64_t kTinyKernelPs = 5'000'000;     // 5 us
constexpr double kMuchLonger = 20;               // than a usual call of that name
constexpr double kStartUpShare = 0.2;            // of all steps
constexpr int64_t kShortestStepPs = 10'000'000;  // 10 us: less is no step of a program

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Calls that stand still until the device has done something.
bool waits(std::string_view name) {
  return contains(name, "ynchronize") || contains(name, "Memcpy") || contains(name, "Query");
}

double inside_steps_ms(const Numbers& n, const Ranges& ranges) {
  int64_t ps = 0;
  for (const CaptureStep& step : n.c.steps) ps += total_inside(ranges, step.host);
  return static_cast<double>(ps) / 1e9 / n.steps();
}

void start_up(const Numbers& n, Rules& r, const Ranges& calls) {
  const double ms = inside_steps_ms(n, calls), share = ratio(ms, n.step_ms);
  if (calls.empty()) return;
  Finding f = make("START-UP", share >= kStartUpShare, Severity::kMajor);
  std::map<std::string_view, int64_t> by_name;
  for (const Launch& launch : n.c.launches) {
    if (total_inside(calls, {launch.begin, launch.end}) == launch.end - launch.begin)
      by_name[n.c.trace.name(launch.slice)] += launch.end - launch.begin;
  }
  const auto longest = std::max_element(by_name.begin(), by_name.end(),
                                        [](auto& a, auto& b) { return a.second < b.second; });
  f.text = fmt::format(
      "{:.0f} of {:.0f} ms {} ({:.0f}%) are first calls of the driver and its libraries, which "
      "happen once{}.",
      ms * n.steps(), n.step_ms * n.steps(), n.c.steps.size() > 1 ? "of these steps" : "captured",
      100 * share,
      longest == by_name.end() ? ""
                               : fmt::format(" (most of it {}, {:.0f} ms)", longest->first,
                                             static_cast<double>(longest->second) / 1e9));
  f.action =
      "Leave the start out: run some steps before recording, or let the profiler skip them (wait "
      "and warmup of its schedule). The other numbers say little until then.";
  f.diff =
      "+with torch.profiler.profile(schedule=torch.profiler.schedule(wait=2, warmup=2, active=3),\n"
      "+        on_trace_ready=torch.profiler.tensorboard_trace_handler('logs')) as prof:";
  f.numbers = {{"start_up_ms", ms}, {"percent", 100 * share}};
  f.evidence = {{"trace_viewer", longest == by_name.end() ? "" : std::string(longest->first)}};
  gain(f, ms, n.step_ms);
  r.found.push_back(std::move(f));
}

void hidden_graphs(const Numbers& n, Rules& r) {
  Finding f = make("GRAPH-HIDDEN", true, Severity::kInfo);
  f.text =
      "Graphs are launched whose kernels are not in the capture: when the device works and when it "
      "idles is not known.";
  f.action =
      "Record once with the graph's kernels (CUPTI of a newer driver, or run the step eagerly), or "
      "measure the device by another tool.";
  f.numbers = {{"launches", static_cast<double>(n.c.launches.size())}};
  f.evidence = {{"trace_viewer", "GraphLaunch"}};
  r.found.push_back(std::move(f));
}

void utilisation(const Numbers& n, Rules& r, double start_ms) {
  const double step_ms = n.step_ms - start_ms;
  for (const GpuUse& use : gpu_use(n.c)) {
    const double percent = std::min(100.0, 100 * ratio(use.utilization * n.step_ms, step_ms));
    Finding f = make("GPU-LOW", percent < 50 && step_ms * 1e9 >= kShortestStepPs, Severity::kMajor);
    Role cause = Role::kOther;
    const auto part = [&](Role role) {
      return std::max(0.0, n.part_ms(role) - (role == Role::kRuntime ? start_ms : 0));
    };
    for (const Role role :
         {Role::kRuntime, Role::kDataLoader, Role::kCpu, Role::kCommunication, Role::kMemcpy}) {
      if (part(role) > part(cause)) cause = role;
    }
    f.text = fmt::format(
        "GPU {} runs kernels during {:.0f}% of the step time{}; most of the rest is {} ({:.1f} ms "
        "a "
        "step).",
        use.device, percent, start_ms > 0 ? ", start-up left out" : "", role_name(cause),
        part(cause));
    // Of a host that does nothing recorded, launches are not what is too slow.
    const bool silent = cause == Role::kOther && part(cause) >= 0.5 * step_ms;
    f.action = cause == Role::kDataLoader ? "Fix the input first."
               : silent
                   ? "Nothing is recorded on the host meanwhile: Python, compiling or loading, "
                     "most likely. Capture with with_stack=True to see the function, and "
                     "start after the first steps."
                   : "Give every launch more work: a larger batch, or let the compiler fuse "
                     "and replay the step as a graph.";
    f.diff = "-model = Net().cuda()\n+model = torch.compile(Net().cuda(), mode='reduce-overhead')";
    if (silent)
      f.diff =
          "-with torch.profiler.profile(...) as prof:\n"
          "+with torch.profiler.profile(..., with_stack=True) as prof:";
    if (cause == Role::kDataLoader) f.diff.clear();
    f.numbers = {{"utilization_percent", percent}};
    f.evidence = {{"torch.overview", ""}, {"torch.ranks", ""}};
    // Idle because the host launched too late: at most that can be won.
    double late = 0;
    for (const IdleCauses& idle : idle_causes(n.c)) {
      if (idle.device == use.device)
        late = std::max(late, static_cast<double>(idle.host_wait_ps) / 1e9 / n.steps());
    }
    if (silent) late = std::max(late, start_ms + part(cause));
    if (cause != Role::kDataLoader && cause != Role::kCommunication) {
      gain(f, std::min(std::max(0.0, late - start_ms), (1 - percent / 100) * step_ms), n.step_ms);
    }
    r.found.push_back(std::move(f));
  }
}

// The launches of small kernels are part of what the device waits for: not counted twice.
bool told_as_idle(const Rules& r) {
  return std::any_of(r.found.begin(), r.found.end(),
                     [](const Finding& f) { return f.fired && f.id == "GPU-LOW" && f.gain_ps; });
}

void small_kernels(const Numbers& n, Rules& r, double start_ms) {
  int64_t count = 0, tiny = 0, tiny_ps = 0, all_ps = 0, under_launch = 0;
  for (const DeviceEvent& event : n.c.device) {
    if (event.kind != Kind::kKernel) continue;
    ++count;
    all_ps += event.duration();
    if (event.duration() < kTinyKernelPs) {
      ++tiny;
      tiny_ps += event.duration();
    }
    if (event.launch == pytorch::kNone) continue;
    const Launch& launch = n.c.launches[event.launch];
    under_launch += launch.device_events == 1 && event.duration() < launch.end - launch.begin;
  }
  if (count < kEnoughKernels) return;
  const double share = 100 * ratio(static_cast<double>(tiny), static_cast<double>(count));
  const double time = 100 * ratio(static_cast<double>(tiny_ps), static_cast<double>(all_ps));
  const double ms = std::max(0.0, n.part_ms(Role::kRuntime) - start_ms);
  const bool launch_bound = 2 * under_launch > count && 100 * ratio(ms, n.step_ms) >= 5;
  Finding f = make("TINY-KERNELS", (share >= 50 && time >= 20) || launch_bound, Severity::kMajor);
  f.text = fmt::format(
      "{:.0f}% of {} kernels run for less than 5 us ({:.0f}% of kernel time), and {} are shorter "
      "than the call that launches them.",
      share, count, time, under_launch);
  f.action =
      "The host cannot launch that fast: fuse kernels with torch.compile, or capture the step as a "
      "CUDA graph.";
  f.diff = "-model = Net().cuda()\n+model = torch.compile(Net().cuda(), mode='reduce-overhead')";
  f.numbers = {{"tiny_percent", share}, {"under_launch", static_cast<double>(under_launch)}};
  f.evidence = {{"torch.kernel", ""}, {"torch.ranks", ""}};
  if (!told_as_idle(r)) gain(f, ms, n.step_ms);
  r.found.push_back(std::move(f));
}

}  // namespace

Ranges start_up_calls(const Capture& c) {
  std::map<std::string_view, std::vector<double>> lengths;
  for (const Launch& launch : c.launches)
    lengths[c.trace.name(launch.slice)].push_back(static_cast<double>(launch.end - launch.begin));
  std::map<std::string_view, double> usual;
  for (auto& [name, list] : lengths) usual[name] = list.size() < 3 ? 0 : loop::median(list);
  Ranges out;
  for (const Launch& launch : c.launches) {
    const std::string_view name = c.trace.name(launch.slice);
    const int64_t length = launch.end - launch.begin;
    if (length < kLongCallPs || waits(name)) continue;
    if (static_cast<double>(length) > kMuchLonger * usual[name])
      out.push_back({launch.begin, launch.end});
  }
  return merged(std::move(out));
}

bool hides_graphs(const Capture& c) {
  return std::any_of(c.launches.begin(), c.launches.end(), [&](const Launch& launch) {
    return launch.device_events == 0 && contains(c.trace.name(launch.slice), "GraphLaunch");
  });
}

void pytorch_device(const Numbers& n, Rules& r) {
  const Ranges once = start_up_calls(n.c);
  const double start_ms = inside_steps_ms(n, once);
  start_up(n, r, once);
  if (hides_graphs(n.c)) {
    hidden_graphs(n, r);
    return;
  }
  utilisation(n, r, start_ms);
  small_kernels(n, r, start_ms);
}

}  // namespace sonde::capture::findings
