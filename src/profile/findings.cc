#include "profile/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "profile/findings/resources.h"
#include "profile/merged.h"
#include "profile/tf_data/pipelines.h"

namespace sonde::profile {
namespace {

constexpr size_t kEnoughSteps = 3;

struct Averages {
  double step_ms = 0;
  std::array<double, kPartCount> part_ms{};
  size_t steps = 0;
  double of(Part part) const { return part_ms[static_cast<size_t>(part)]; }
  double percent(Part part) const { return 100.0 * ratio(of(part), step_ms); }
};

Averages averages_of(const SessionSteps& steps) {
  Averages a;
  a.steps = steps.steps.size();
  if (a.steps == 0) return a;
  for (const SessionStep& step : steps.steps) {
    const Step& s = step.slowest();
    a.step_ms += static_cast<double>(s.duration()) / 1e9;
    for (size_t p = 0; p < kPartCount; ++p)
      a.part_ms[p] += static_cast<double>(s.part(static_cast<Part>(p))) / 1e9;
  }
  const double n = static_cast<double>(a.steps);
  a.step_ms /= n;
  for (double& ms : a.part_ms) ms /= n;
  return a;
}

int64_t picos(double ms) { return static_cast<int64_t>(ms * 1e9); }

Finding make(std::string_view id, bool fired, Severity severity) {
  Finding finding;
  finding.id = id;
  finding.fired = fired;
  finding.severity = fired ? severity : Severity::kInfo;
  return finding;
}

void gain(Finding& finding, double ms, double step_ms) {
  if (!finding.fired || ms <= 0 || step_ms <= 0) return;
  finding.gain_ps = picos(ms);
  finding.text += fmt::format(" Without it a step would take at least {:.1f} ms (-{:.0f}%).",
                              step_ms - ms, 100.0 * ms / step_ms);
}

class Rules {
 public:
  Rules(const std::vector<const HostAnalysis*>& hosts, const SessionSteps& steps)
      : hosts_(hosts), steps_(steps), average_(averages_of(steps)) {
    enough_ = average_.steps >= kEnoughSteps;
    for (const HostAnalysis* host : hosts) gpu_ |= !host->words().gpu_planes.empty();
  }

  std::vector<Finding> input() {
    input_wait();
    first_step();
    prefetch_empty();
    return take();
  }

  std::vector<Finding> all() {
    input_wait();
    first_step();
    prefetch_empty();
    host_to_device();
    output();
    launch();
    kernels();
    precision();
    communication();
    stragglers();
    retracing();
    eager();
    compile();
    python_gap();
    no_steps();
    data_loss();
    findings::resources(hosts_, steps_, found_);
    return take();
  }

 private:
  std::vector<Finding> take() {
    std::stable_sort(found_.begin(), found_.end(), [](const Finding& a, const Finding& b) {
      if (a.fired != b.fired) return a.fired;
      return a.gain_ps.value_or(0) > b.gain_ps.value_or(0);
    });
    return std::move(found_);
  }

  // The pipeline stage that the slow calls of all pipelines wait for, by blocking self time.
  struct Stage {
    IteratorInfo info;
    double self_ms = 0;
    bool found = false, python = false, ends_with_prefetch = false, has_pipeline = false;
  };
  Stage slowest_stage() const {
    Stage stage;
    for (const HostAnalysis* host : hosts_) {
      const TfData data = tf_data_of(*host);
      for (const Pipeline& pipeline : data.pipelines) {
        if (pipeline.on_device) continue;
        stage.has_pipeline = true;
        std::map<uint64_t, int64_t> waits;
        for (const PipelineCall& call : pipeline.calls) {
          if (call.duration_ps <= kSlowCallPs) continue;
          // A prefetch that waits is not the cause: what it waits for is.
          uint64_t cause = 0;
          int64_t most = -1;
          for (const auto& [id, stat] : call.iterators) {
            const auto info = data.iterators.find(id);
            if (info == data.iterators.end()) continue;
            const bool buffer = without_version(info->second.name) == "Prefetch";
            if (buffer || info->second.name == "Root" || info->second.name == "Model") continue;
            if (stat.self_ps > most) most = stat.self_ps, cause = id;
          }
          if (most >= 0) waits[cause] += most;
        }
        // Producers of a buffer may run outside the caller's spans: fall back to all of them.
        for (const auto& [id, ps] : waits) {
          const double ms =
              static_cast<double>(ps) / 1e9 / static_cast<double>(pipeline.calls.size());
          if (ms <= stage.self_ms) continue;
          stage.self_ms = ms;
          stage.info = data.iterators.at(id);
          stage.found = true;
          stage.python = data.python_calls > 0;
        }
        for (const auto& [id, info] : data.iterators) {
          if (info.parent_id != pipeline.root) continue;
          stage.ends_with_prefetch |=
              without_version(info.name) == "Prefetch" && !info.node.starts_with("inject/");
        }
      }
    }
    return stage;
  }

  void input_wait() {
    const double percent = average_.percent(Part::kInput), ms = average_.of(Part::kInput);
    Finding f = make("IN-WAIT", enough_ && percent >= 5,
                     percent >= 20 ? Severity::kCritical : Severity::kMajor);
    f.numbers = {{"input_ms", ms}, {"step_ms", average_.step_ms}, {"percent", percent}};
    f.text = fmt::format("{:.1f} of {:.1f} ms of each step ({:.0f}%) wait for input", ms,
                         average_.step_ms, percent);
    if (!f.fired) {
      f.text += ".";
      found_.push_back(std::move(f));
      return;
    }
    const Stage stage = slowest_stage();
    if (stage.found) {
      f.text += fmt::format("; the stage that is too slow is {} ({}), {:.1f} ms a batch.",
                            stage.info.name, stage.info.long_name, stage.self_ms);
      const Remedy remedy = remedy_for(stage.info, stage.python);
      f.action = remedy.text + ".";
      f.diff = remedy.code;
      f.numbers.emplace_back("stage_ms", stage.self_ms);
      f.evidence.push_back({"tf_data_bottleneck_analysis", std::string(stage.info.long_name)});
    } else if (stage.has_pipeline) {
      f.text += ".";
      f.action =
          "End the pipeline with prefetch, so that the next batch is made while the step runs.";
      f.diff = "+dataset = dataset.prefetch(tf.data.AUTOTUNE)     # last";
    } else {
      f.text += "; the capture shows no tf.data stage.";
      f.action = "Build the input with tf.data and read ahead, so that input runs beside the step.";
      f.diff = "+dataset = dataset.prefetch(tf.data.AUTOTUNE)";
    }
    if (stage.has_pipeline && !stage.ends_with_prefetch &&
        f.diff.find("prefetch") == std::string::npos)
      f.diff += "\n+dataset = dataset.prefetch(tf.data.AUTOTUNE)     # last";
    f.evidence.push_back({"input_pipeline_analyzer", ""});
    gain(f, ms, average_.step_ms);
    found_.push_back(std::move(f));
  }

  void first_step() {
    if (average_.steps < 2) return;
    std::vector<int64_t> rest;
    for (size_t i = 1; i < steps_.steps.size(); ++i)
      rest.push_back(steps_.steps[i].slowest().part(Part::kInput));
    std::nth_element(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(rest.size() / 2),
                     rest.end());
    const double median = static_cast<double>(rest[rest.size() / 2]) / 1e9;
    const double first = static_cast<double>(steps_.steps[0].slowest().part(Part::kInput)) / 1e9;
    Finding f = make("IN-FIRST-STEP", first > 10 * median && first > 1, Severity::kInfo);
    f.text = fmt::format("{:.1f} ms of the first step wait for input, {:.2f} ms of a usual one.",
                         first, median);
    f.action =
        "Filling a shuffle buffer or opening files, most likely; leave the first step out of "
        "averages, and shuffle file names rather than elements if it happens often.";
    f.numbers = {{"first_ms", first}, {"median_ms", median}};
    found_.push_back(std::move(f));
  }

  void prefetch_empty() {
    int64_t calls = 0, empty = 0;
    for (const HostAnalysis* host : hosts_) {
      const trace::Trace& trace = host->trace();
      const trace::KeyId buffered = trace.key("buffered_elements");
      if (buffered == trace::kNone) continue;
      for (trace::SliceId s = 0; s < trace.slice_count(); ++s) {
        const std::string_view name = trace.name(s);
        if (!name.starts_with("Iterator::") || !name.ends_with("::Prefetch")) continue;
        if (std::count(name.begin(), name.end(), ':') != 4) continue;  // the last stage only
        ++calls;
        const auto value = trace.find(trace.args(s), buffered);
        empty += !value || value->as_int() == 0;
      }
    }
    if (calls < 3) return;
    const double percent = 100.0 * static_cast<double>(empty) / static_cast<double>(calls);
    Finding f = make("IN-PREFETCH-EMPTY", percent > 50 && average_.percent(Part::kInput) >= 5,
                     Severity::kMinor);
    f.text = fmt::format("In {:.0f}% of {} calls the prefetch buffer was empty.", percent, calls);
    f.action = "The stages before it are slower than the step; a larger buffer does not help.";
    f.numbers = {{"percent", percent}};
    f.evidence = {{"tf_data_bottleneck_analysis", ""}};
    found_.push_back(std::move(f));
  }

  void host_to_device() {
    if (!gpu_) return;
    double exposed = 0, bytes = 0, copies = 0, copy_ms = 0;
    for (const SessionStep& step : steps_.steps) {
      const Step& s = step.slowest();
      exposed += static_cast<double>(s.work[static_cast<size_t>(Work::kHostToDevice)]) / 1e9;
      bytes += static_cast<double>(s.copy_bytes[0]);
      copies += s.copies[0];
      copy_ms += static_cast<double>(s.copy_ps[0]) / 1e9;
    }
    const double n = std::max<double>(1, static_cast<double>(average_.steps));
    exposed /= n, bytes /= n, copies /= n, copy_ms /= n;
    const double percent = 100.0 * ratio(exposed, average_.step_ms);
    Finding f = make("H2D", enough_ && percent >= 5, Severity::kMajor);
    f.text = fmt::format(
        "{:.2f} ms of each step copy {:.1f} MB from host to device without other "
        "device work running ({:.1f} GB/s).",
        exposed, bytes / 1e6, ratio(bytes / 1e6, copy_ms));
    f.action =
        "Copy ahead of time and from pinned memory, or send a smaller type (uint8 images, "
        "converted on the device).";
    f.diff = "+dataset = dataset.apply(tf.data.experimental.prefetch_to_device('/gpu:0'))";
    f.numbers = {{"exposed_ms", exposed}, {"bytes", bytes}, {"copies", copies}};
    f.evidence = {{"trace_viewer", "MemcpyH2D"}};
    gain(f, exposed, average_.step_ms);
    found_.push_back(std::move(f));
    Finding small =
        make("H2D-SMALL", enough_ && copies > 50 && ratio(bytes, copies) < 65536, Severity::kMinor);
    small.text = fmt::format("{:.0f} copies of {:.1f} kB on average go to the device in each step.",
                             copies, ratio(bytes, copies) / 1e3);
    small.action = "Merge them: keep constants on the device, pass one packed tensor.";
    small.numbers = {{"copies", copies}};
    found_.push_back(std::move(small));
  }

  void output() {
    if (!gpu_) return;
    const double percent = average_.percent(Part::kOutput), ms = average_.of(Part::kOutput);
    Finding f = make("D2H-SYNC", enough_ && percent >= 3, Severity::kMajor);
    f.text =
        fmt::format("{:.2f} ms of each step ({:.0f}%) copy results back to the host.", ms, percent);
    f.action =
        "Read metrics back every few steps instead of every step, and keep them on the device "
        "in between.";
    f.diff = "-log(loss.numpy())\n+if step % 100 == 0: log(loss.numpy())";
    f.numbers = {{"output_ms", ms}, {"percent", percent}};
    f.evidence = {{"trace_viewer", "MemcpyD2H"}};
    gain(f, ms, average_.step_ms);
    found_.push_back(std::move(f));
  }

  void launch() {
    if (!gpu_) return;
    const double percent = average_.percent(Part::kLaunch), ms = average_.of(Part::kLaunch);
    Finding f = make("LAUNCH", enough_ && percent >= 3,
                     percent >= 15 ? Severity::kCritical : Severity::kMajor);
    f.text = fmt::format(
        "{:.1f} of {:.1f} ms of each step ({:.0f}%) go into launching kernels while the "
        "device waits.",
        ms, average_.step_ms, percent);
    f.action =
        "Let the compiler fuse and launch in one go, use a larger batch, and keep tf.data from "
        "taking the launching thread's core (TF_GPU_THREAD_MODE=gpu_private).";
    f.diff = "-@tf.function\n+@tf.function(jit_compile=True)\n def train_step(...):";
    f.numbers = {{"launch_ms", ms}, {"percent", percent}};
    f.evidence = {{"kernel_stats", ""}, {"trace_viewer", ""}};
    gain(f, ms, average_.step_ms);
    found_.push_back(std::move(f));
  }

  void kernels() {
    if (!gpu_) return;
    const auto list = merged_kernels(hosts_);
    double total = 0, tiny = 0, low = 0, small_grid = 0, unused = 0, layout = 0, copies = 0;
    int64_t count = 0, tiny_count = 0;
    const Machine& machine = main_machine(hosts_);
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
      if (k.eligible && !k.uses_tensor_cores) {
        unused += us;
        if (!worst_unused) worst_unused = &k;
      }
      for (const std::string_view word :
           {"nchwToNhwc", "nhwcToNchw", "transpose", "Transpose", "SwapDimension"}) {
        if (k.name.find(word) != std::string::npos) {
          layout += us;
          break;
        }
      }
      if (k.name.find("copyBuffer") != std::string::npos ||
          k.name.find("concat") != std::string::npos)
        copies += us;
    }
    if (count == 0) return;
    const double tiny_share = 100.0 * ratio(tiny, total);
    const double per_step =
        ratio(1.0, 1e3 * std::max<double>(1, static_cast<double>(average_.steps)));
    Finding f = make("TINY-KERNELS", tiny_count * 2 >= count && tiny_share >= 20, Severity::kMinor);
    f.text = fmt::format(
        "{:.0f}% of {} kernels run for less than 5 us; together they are {:.0f}% of kernel time.",
        100.0 * ratio(static_cast<double>(tiny_count), static_cast<double>(count)), count,
        tiny_share);
    f.action = "Fuse them: jit_compile=True (XLA) or torch.compile.";
    f.diff = "-@tf.function\n+@tf.function(jit_compile=True)";
    f.evidence = {{"kernel_stats", ""}};
    f.numbers = {{"tiny_percent", tiny_share}};
    found_.push_back(std::move(f));

    f = make("LOW-OCC", 100.0 * ratio(low, total) >= 10, Severity::kMinor);
    f.text = fmt::format("{:.0f}% of kernel time runs at less than 25% occupancy.",
                         100.0 * ratio(low, total));
    if (worst_occupancy) {
      f.text += fmt::format(
          " The longest is {} ({} registers a thread, {} bytes of shared memory).",
          worst_occupancy->name.substr(0, 80), worst_occupancy->launch.registers,
          worst_occupancy->launch.static_shared + worst_occupancy->launch.dynamic_shared);
    }
    f.action =
        "Registers or shared memory limit how many blocks run at once: smaller tiles or another "
        "block size, where the kernel is yours.";
    f.evidence = {{"kernel_stats", ""}};
    found_.push_back(std::move(f));

    f = make("GRID-SMALL", 100.0 * ratio(small_grid, total) >= 10, Severity::kMinor);
    f.text = fmt::format(
        "{:.0f}% of kernel time is in launches with fewer blocks than the device has "
        "multiprocessors ({}).",
        100.0 * ratio(small_grid, total), machine.multiprocessors);
    f.action = "The work per launch is too small for this device: a larger batch fills it.";
    f.evidence = {{"kernel_stats", ""}};
    found_.push_back(std::move(f));

    const double unused_percent = 100.0 * ratio(unused, total);
    f = make("TC-UNUSED", unused_percent >= 10, Severity::kMajor);
    f.text = fmt::format("{:.0f}% of kernel time is in ops that could use Tensor Cores and do not",
                         unused_percent);
    f.text += worst_unused ? fmt::format("; the longest is {}.", worst_unused->op_name) : ".";
    f.action =
        "Use mixed precision, and keep channel and matrix sizes multiples of 8 (16-bit) or 16 "
        "(8-bit).";
    f.diff = "+tf.keras.mixed_precision.set_global_policy('mixed_float16')";
    f.numbers = {{"percent", unused_percent}};
    f.evidence = {{"kernel_stats", worst_unused ? worst_unused->op_name : ""}};
    gain(f, unused * per_step * 0.5, average_.step_ms);
    found_.push_back(std::move(f));

    f = make("LAYOUT", 100.0 * ratio(layout, total) >= 5, Severity::kMinor);
    f.text =
        fmt::format("{:.0f}% of kernel time only rearranges tensors (transposes, layout changes).",
                    100.0 * ratio(layout, total));
    f.action = "Keep one layout from end to end; channels last suits Tensor Cores.";
    f.evidence = {{"kernel_stats", "transpose"}};
    gain(f, layout * per_step, average_.step_ms);
    found_.push_back(std::move(f));

    f = make("MEMCPY-D2D", 100.0 * ratio(copies, total) >= 10, Severity::kMinor);
    f.text = fmt::format("{:.0f}% of kernel time copies or concatenates tensors on the device.",
                         100.0 * ratio(copies, total));
    f.action = "Avoid concat and copies in the step; update in place.";
    f.evidence = {{"kernel_stats", ""}};
    found_.push_back(std::move(f));
    tensor_core_unused_percent_ = unused_percent;
  }

  void precision() {
    const Bottleneck b = classify(steps_, false);
    if (!b.has_compute) return;
    Finding f =
        make("PREC", enough_ && b.low_precision_percent < 10 && tensor_core_unused_percent_ >= 20,
             Severity::kMinor);
    f.text = fmt::format(
        "Only {:.1f}% of device computation uses 16 bits or fewer, and {:.0f}% of kernel "
        "time is in ops that would gain from it.",
        b.low_precision_percent, tensor_core_unused_percent_);
    f.action = "Train in mixed precision if the accuracy allows it.";
    f.diff = "+tf.keras.mixed_precision.set_global_policy('mixed_float16')";
    f.numbers = {{"low_precision_percent", b.low_precision_percent}};
    found_.push_back(std::move(f));
  }

  void communication() {
    const double percent = average_.percent(Part::kCollectives),
                 ms = average_.of(Part::kCollectives);
    if (ms == 0) return;
    Finding f = make("COMM-EXPOSED", enough_ && percent >= 5, Severity::kMajor);
    f.text = fmt::format(
        "{:.2f} of {:.1f} ms of each step ({:.0f}%) are communication between devices "
        "that no computation hides.",
        ms, average_.step_ms, percent);
    f.action =
        "Let it overlap with the backward pass (larger gradient buckets), accumulate gradients "
        "over "
        "several batches, or send fewer bits.";
    f.diff =
        "+options = tf.distribute.experimental.CommunicationOptions(bytes_per_pack=50 * 1024 * "
        "1024)";
    f.numbers = {{"exposed_ms", ms}, {"percent", percent}};
    f.evidence = {{"trace_viewer", "nccl"}};
    gain(f, ms, average_.step_ms);
    found_.push_back(std::move(f));
  }

  void stragglers() {
    if (steps_.hosts.size() < 2 || steps_.steps.empty()) return;
    std::vector<double> mean(steps_.hosts.size(), 0);
    for (const SessionStep& step : steps_.steps) {
      for (size_t h = 0; h < mean.size(); ++h)
        mean[h] += static_cast<double>(step.by_host[h]->duration()) / 1e9 /
                   static_cast<double>(steps_.steps.size());
    }
    const auto [fastest, slowest] = std::minmax_element(mean.begin(), mean.end());
    const double skew = 100.0 * ratio(*slowest - *fastest, *slowest);
    Finding f = make("STRAGGLER", skew > 10, Severity::kMajor);
    const std::string& host =
        steps_.hosts[static_cast<size_t>(slowest - mean.begin())]->host().name;
    f.text = fmt::format(
        "{:.1f} ms a step on host {}, {:.1f} ms on the fastest: all wait for the slowest.",
        *slowest, host, *fastest);
    f.action = "Look at that host first: its input, other programs on it, clocks and temperature.";
    f.numbers = {{"skew_percent", skew}};
    f.evidence = {{"pod_viewer", host}};
    gain(f, *slowest - *fastest, average_.step_ms);
    found_.push_back(std::move(f));
  }

  void retracing() {
    for (const HostAnalysis* host : hosts_) {
      for (const FunctionCalls& calls : function_calls(host->trace(), host->words())) {
        const bool grew =
            calls.first_tracing_count >= 0 && calls.tracing_count > calls.first_tracing_count;
        const double percent = calls.expensive_percent();
        if (!grew && (percent < 20 || calls.calls[0] + calls.calls[2] == 0)) continue;
        Finding f = make("COMPILE", true, Severity::kMajor);
        f.text = fmt::format(
            "{:.0f}% of the time of function {} went into tracing or eager calls ({} traced, {} "
            "eager).",
            percent, calls.name, calls.calls[2], calls.calls[0]);
        f.action =
            "Every new shape or Python argument traces the function again: give it an input "
            "signature, pass tensors instead of Python numbers, pad to few shapes.";
        f.diff =
            "-@tf.function\n+@tf.function(input_signature=[tf.TensorSpec([None, ...], "
            "tf.float32)])";
        f.numbers = {{"percent", percent}, {"traces", static_cast<double>(calls.calls[2])}};
        found_.push_back(std::move(f));
      }
    }
  }

  void eager() {
    const HostOps ops = merged_host_ops(hosts_);
    double eager_ps = 0, all = 0;
    for (const HostOp& op : ops.ops) {
      all += static_cast<double>(op.self_ps);
      if (op.eager) eager_ps += static_cast<double>(op.self_ps);
    }
    const double percent = 100.0 * ratio(eager_ps, all);
    Finding f = make("EAGER", percent > 10, Severity::kMajor);
    f.text = fmt::format("{:.1f}% of host op time runs op by op from Python.", percent);
    f.action = "Put the step into one function.";
    f.diff = "+@tf.function\n def train_step(x, y):";
    f.numbers = {{"percent", percent}};
    f.evidence = {{"framework_op_stats", "Eager"}};
    found_.push_back(std::move(f));
  }

  void compile() {
    const double percent = average_.percent(Part::kCompile), ms = average_.of(Part::kCompile);
    if (ms == 0) return;
    Finding f = make("COMPILE-TIME", percent >= 5, Severity::kMajor);
    f.text = fmt::format("{:.1f} ms a step ({:.0f}%) compile programs.", ms, percent);
    f.action = "Warm up before capturing; keep shapes constant so that nothing is compiled again.";
    f.numbers = {{"compile_ms", ms}};
    gain(f, ms, average_.step_ms);
    found_.push_back(std::move(f));
  }

  void python_gap() {
    const double percent = average_.percent(Part::kOther), ms = average_.of(Part::kOther);
    Finding f = make("PY-GAP", enough_ && percent >= 10, Severity::kMajor);
    f.text = fmt::format(
        "{:.1f} of {:.1f} ms of each step ({:.0f}%) show no recorded work on host or device: "
        "Python between the calls, most likely.",
        ms, average_.step_ms, percent);
    f.action =
        "Capture once with python_tracer_level=1 to see the lines; then move work out of the loop "
        "(callbacks, logging, data conversion) or run several steps per call.";
    f.diff = "-model.compile(...)\n+model.compile(..., steps_per_execution=10)";
    f.numbers = {{"gap_ms", ms}, {"percent", percent}};
    f.evidence = {{"trace_viewer", ""}};
    gain(f, ms, average_.step_ms);
    found_.push_back(std::move(f));
  }

  void no_steps() {
    for (const HostAnalysis* host : hosts_) {
      const bool none = host->steps().steps.empty();
      const std::string& rule = host->grouping().derived_rule;
      if (!none && rule.empty()) continue;
      Finding f = make("NO-STEPS", true, Severity::kInfo);
      f.text =
          none ? fmt::format("0 steps are marked in the capture of {}, and none could be derived.",
                             host->host().name)
               : fmt::format("{} steps were derived from {}, since the program marked none.",
                             host->steps().steps.size(), rule);
      f.action = "Mark the steps, so that every tool can tell them apart.";
      f.diff =
          "+with tf.profiler.experimental.Trace('train', step_num=step, _r=1):\n     "
          "train_step(...)\n"
          "# JAX: with jax.profiler.StepTraceAnnotation('train', step_num=step):";
      found_.push_back(std::move(f));
      return;
    }
  }

  void data_loss() {
    for (const HostAnalysis* host : hosts_) {
      const trace::Trace& trace = host->trace();
      double dropped = 0;
      for (const trace::Track& track : trace.tracks()) {
        if (const auto value = trace.find(track.args, trace.key("dropped_traces")))
          dropped += value->as_double();
      }
      if (dropped == 0 && trace.diagnostics().empty()) continue;
      Finding f = make("DATA-LOSS", true, Severity::kMinor);
      f.text = dropped > 0 ? fmt::format("{:.0f} events were dropped by the profiler on {}.",
                                         dropped, host->host().name)
                           : fmt::format("The capture of {} is not complete: {}.",
                                         host->host().name, trace.diagnostics().front().text);
      f.action = "Capture for a shorter time, or with lower tracer levels.";
      f.evidence = {{"xspace_digest", ""}};
      found_.push_back(std::move(f));
    }
  }

  const std::vector<const HostAnalysis*>& hosts_;
  const SessionSteps& steps_;
  Averages average_;
  bool enough_ = false, gpu_ = false;
  double tensor_core_unused_percent_ = 0;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> all_findings(const std::vector<const HostAnalysis*>& hosts,
                                  const SessionSteps& steps) {
  return Rules(hosts, steps).all();
}

std::vector<Finding> input_findings(const std::vector<const HostAnalysis*>& hosts,
                                    const SessionSteps& steps) {
  return Rules(hosts, steps).input();
}

Table diagnostics_table(const Report& report) {
  Table table{"diagnostics", "Diagnostics"};
  table.columns = {{"severity", "Severity", Type::kText}, {"message", "Message", Type::kText}};
  for (const Note& note : report.diagnostics) {
    std::string severity = note.severity;
    std::transform(severity.begin(), severity.end(), severity.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    table.rows.push_back({severity, note.text});
  }
  return table;
}

}  // namespace sonde::profile
