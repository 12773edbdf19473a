#include "capture/findings/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/analysis/loop/loop.h"
#include "capture/analysis/merged.h"
#include "capture/findings/rules.h"

namespace sonde::capture::findings {
namespace {

using trace::SliceId;
using trace::TrackId;

constexpr size_t kEnoughSteps = 3, kStepsOfALeak = 5;

// What an allocator said with one of its events.
struct MemoryEvent {
  int64_t time, used, free, requested;
  double fragmentation;
};
using ByAllocator = std::map<std::string, std::vector<MemoryEvent>>;

ByAllocator memory_events(const HostAnalysis& host) {
  const trace::Trace& trace = host.trace();
  const Vocabulary& words = host.words();
  const Keys& key = words.key;
  ByAllocator by_allocator;
  const bool any = std::any_of(words.labels.begin(), words.labels.end(), [](const LabelInfo& l) {
    return l.event == HostEvent::kMemoryAllocation;
  });
  if (!any) return by_allocator;
  for (const TrackId plane : words.host_planes) {
    for (const TrackId t : lines_of(trace, plane)) {
      const trace::Track& track = trace.tracks()[t];
      for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
        const HostEvent kind = words.labels[trace.label_id(s)].event;
        if (kind != HostEvent::kMemoryAllocation && kind != HostEvent::kMemoryDeallocation)
          continue;
        MemoryEvent event{trace.begin(s).value, 0, 0, 0, 0};
        std::string id;
        const trace::ArgRange range = trace.args(s);
        for (uint32_t a = range.first; a < range.first + range.count; ++a) {
          const trace::Arg arg = trace.arg(a);
          if (arg.key == key.allocator_name) id = trace.text_of(arg.value);
          if (arg.key == key.index_on_host || arg.key == key.device_ordinal)
            id = fmt::format("{}", arg.value.as_int());
          if (arg.key == key.bytes_reserved || arg.key == key.bytes_allocated)
            event.used += arg.value.as_int();
          if (arg.key == key.bytes_available) event.free = arg.value.as_int();
          if (arg.key == key.requested_bytes && kind == HostEvent::kMemoryAllocation)
            event.requested = arg.value.as_int();
          if (arg.key == key.fragmentation) event.fragmentation = arg.value.as_double();
        }
        by_allocator[id].push_back(event);
      }
    }
  }
  for (auto& [id, events] : by_allocator) {
    std::stable_sort(events.begin(), events.end(),
                     [](const MemoryEvent& a, const MemoryEvent& b) { return a.time < b.time; });
  }
  return by_allocator;
}

double gigabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e9; }

class Checks {
 public:
  Checks(const std::vector<const HostAnalysis*>& hosts, const SessionSteps& steps,
         std::vector<Finding>& found)
      : hosts_(hosts), steps_(steps), found_(found) {
    step_ms_ = ratio(steps.total_ms(), static_cast<double>(steps.steps.size()));
    for (const HostAnalysis* host : hosts) {
      jax_ |= host->loop().jax;
      keras_ |= host->loop().keras;
    }
  }

  void run() {
    for (const HostAnalysis* host : hosts_) {
      for (const auto& [id, events] : memory_events(*host)) memory(*host, id, events);
      autotune_memory(*host);
      saturated(*host);
      clocks(*host);
      overhead(*host);
    }
    imbalance();
    idle_tail();
  }

 private:
  bool enough() const { return steps_.steps.size() >= kEnoughSteps; }

  Finding& add(std::string_view id, bool fired, Severity severity) {
    Finding finding;
    finding.id = id;
    finding.fired = fired;
    finding.severity = fired ? severity : Severity::kInfo;
    found_.push_back(std::move(finding));
    return found_.back();
  }

  void gain(Finding& f, double ms) const {
    if (!f.fired || ms <= 0 || step_ms_ <= 0) return;
    ms = std::min(ms, step_ms_);
    f.gain_ps = static_cast<int64_t>(ms * 1e9);
    f.text += fmt::format(" Without it a step would take at least {:.1f} ms (-{:.0f}%).",
                          step_ms_ - ms, 100.0 * ms / step_ms_);
  }

  void memory(const HostAnalysis& host, const std::string& id,
              const std::vector<MemoryEvent>& events) {
    const auto peak = std::max_element(
        events.begin(), events.end(),
        [](const MemoryEvent& a, const MemoryEvent& b) { return a.used < b.used; });
    const std::string where = hosts_.size() > 1 ? host.host().name + " " + id : id;
    const int64_t capacity = peak->used + peak->free;
    Finding& high =
        add("MEM-PEAK", capacity > 0 && gigabytes(peak->used) >= 0.9 * gigabytes(capacity),
            Severity::kMajor);
    high.text = fmt::format("{:.1f} of {:.1f} GB of {} are in use at the peak.",
                            gigabytes(peak->used), gigabytes(capacity), where);
    high.action =
        "Little is left before the program runs out of memory: a smaller batch, recomputing "
        "activations in the backward pass, or an optimizer with less state.";
    high.diff = jax_ ? "+block = jax.checkpoint(block)" : "+step = tf.recompute_grad(step)";
    high.numbers = {{"peak_bytes", static_cast<double>(peak->used)},
                    {"capacity_bytes", static_cast<double>(capacity)}};
    high.evidence = {{"memory_profile", id}};

    int64_t largest = 0;
    for (const MemoryEvent& event : events) largest = std::max(largest, event.requested);
    const double chunk = static_cast<double>(peak->free) * (1 - peak->fragmentation);
    Finding& broken =
        add("MEM-FRAG", peak->fragmentation >= 0.3 && chunk < static_cast<double>(largest),
            Severity::kMajor);
    broken.text = fmt::format(
        "{:.0f}% of the free memory of {} is in pieces at the peak: the largest holds {:.2f} GB, "
        "the largest request was {:.2f} GB.",
        100 * peak->fragmentation, where, chunk / 1e9, gigabytes(largest));
    broken.action = "Let the allocator give memory back, and keep shapes from varying.";
    broken.diff = jax_ ? "+export XLA_PYTHON_CLIENT_ALLOCATOR=platform"
                       : "+export TF_GPU_ALLOCATOR=cuda_malloc_async";
    broken.numbers = {{"fragmentation", peak->fragmentation}, {"largest_free_bytes", chunk}};
    broken.evidence = {{"memory_profile", id}};
    churn(host, where, id, events);
    growth(host, where, id, events);
  }

  void churn(const HostAnalysis& host, const std::string& where, const std::string& id,
             const std::vector<MemoryEvent>& events) {
    const size_t steps = host.steps().steps.size();
    if (steps < kEnoughSteps) return;
    const double each = static_cast<double>(events.size()) / static_cast<double>(steps);
    Finding& f = add("MEM-CHURN", each > 5000, Severity::kMinor);
    f.text = fmt::format("{:.0f} times a step memory of {} is taken or given back.", each, where);
    f.action = "Reuse buffers: write into existing ones, and let the compiler fuse small ops.";
    if (!jax_) f.diff = "+@tf.function(jit_compile=True)";
    f.numbers = {{"events_per_step", each}};
    f.evidence = {{"memory_profile", id}};
  }

  // In use when each step ends, as far as the allocator said.
  void growth(const HostAnalysis& host, const std::string& where, const std::string& id,
              const std::vector<MemoryEvent>& events) {
    const auto& steps = host.steps().steps;
    if (steps.size() < kStepsOfALeak) return;
    std::vector<int64_t> at_end;
    size_t at = 0;
    for (const Step& step : steps) {
      while (at < events.size() && events[at].time <= step.end) ++at;
      if (at > 0) at_end.push_back(events[at - 1].used);
    }
    bool grows = at_end.size() >= kStepsOfALeak;
    for (size_t i = 1; i < at_end.size(); ++i)
      grows &= static_cast<double>(at_end[i]) > 1.01 * static_cast<double>(at_end[i - 1]);
    if (at_end.empty()) return;
    Finding& f = add("MEM-GROW", grows, Severity::kMajor);
    f.text = fmt::format(
        "{:.2f} GB of {} are in use after the first step and {:.2f} GB after the last "
        "of {}{}.",
        gigabytes(at_end.front()), where, gigabytes(at_end.back()), at_end.size(),
        grows ? ", more after every one: likely something is kept that is not "
                "needed"
              : "");
    f.action = "Look for lists that collect tensors (losses, histories) and keep numbers instead.";
    f.diff = "-losses.append(loss)\n+losses.append(float(loss))";
    f.numbers = {{"first_bytes", static_cast<double>(at_end.front())},
                 {"last_bytes", static_cast<double>(at_end.back())}};
    f.evidence = {{"memory_profile", id}};
  }

  // Calls fn(slice, value) for each event of tf.data that carries the number.
  template <class Fn>
  static void each_of(const HostAnalysis& host, std::string_view name, const Fn& fn) {
    const trace::Trace& trace = host.trace();
    const Vocabulary& words = host.words();
    const trace::KeyId key = trace.key(name);
    if (key == trace::kNone) return;
    for (const TrackId plane : words.host_planes) {
      for (const TrackId t : lines_of(trace, plane)) {
        const trace::Track& track = trace.tracks()[t];
        for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
          if (words.labels[trace.label_id(s)].event != HostEvent::kIterator) continue;
          if (const auto found = trace.find(trace.args(s), key)) {
            const std::string_view text = trace.text_of(found);
            fn(s, text.empty() ? found->as_double() : std::atof(std::string(text).c_str()));
          }
        }
      }
    }
  }
  // The last one; nothing when no event carries it.
  static std::optional<double> last_of(const HostAnalysis& host, std::string_view name) {
    std::optional<double> value;
    each_of(host, name, [&](SliceId, double found) { value = found; });
    return value;
  }

  // What the iterators hold at most, each on its own. (ram_usage_megabytes of the same events is
  // about the whole machine: "16957 out of 25274 (67.09%)".)
  static std::optional<double> buffered_mb(const HostAnalysis& host) {
    std::map<uint64_t, double> most;  // by iterator
    each_of(host, "buffered_bytes_MB", [&](SliceId s, double mb) {
      const trace::Trace& trace = host.trace();
      const auto id = trace.find(trace.args(s), host.words().key.id);
      double& held = most[id ? id->as_uint() : 0];
      held = std::max(held, mb);
    });
    if (most.empty()) return std::nullopt;
    double sum = 0;
    for (const auto& [id, mb] : most) sum += mb;
    return sum;
  }

  void autotune_memory(const HostAnalysis& host) {
    const auto used = buffered_mb(host), budget = last_of(host, "ram_budget_megabytes");
    if (!used || !budget || *budget <= 0) return;
    Finding& f = add("IN-AUTOTUNE-RAM", *used >= 0.9 * *budget, Severity::kMinor);
    f.text = fmt::format("The buffers of tf.data hold {:.0f} of the {:.0f} MB it may use.", *used,
                         *budget);
    f.action = "Autotuning cannot make buffers longer: give it more memory or smaller elements.";
    f.diff = fmt::format(
        "+options = tf.data.Options()\n+options.autotune.ram_budget = {:.0f} * 2**20\n"
        "+dataset = dataset.with_options(options)",
        2 * *budget);
    f.numbers = {{"used_mb", *used}, {"budget_mb", *budget}};
    f.evidence = {{"tf_data_bottleneck_analysis", ""}};
  }

  // tf.data notes how many cores it may use; the ops' thread time says how many were busy.
  void saturated(const HostAnalysis& host) {
    const auto cores = last_of(host, "cpu_budget");
    const double span =
        static_cast<double>((host.trace().last_end() - host.trace().first_begin()).value);
    if (!cores || *cores < 1 || span <= 0) return;
    // Ops that wait inside others are counted on both threads: never more than there are.
    const double busy =
        std::min(1.0, static_cast<double>(host.host_ops().busy_ps) / (span * *cores));
    // Without a wait for input it is what a program that computes on the processor looks like.
    const bool waits = std::any_of(found_.begin(), found_.end(), [](const Finding& other) {
      return other.fired && other.id == "IN-WAIT";
    });
    Finding& f = add("CPU-SATURATED", busy >= 0.95, waits ? Severity::kMajor : Severity::kInfo);
    f.text = fmt::format("Ops keep {:.1f} of {:.0f} processor cores busy ({:.0f}%).", busy * *cores,
                         *cores, 100 * busy);
    f.action =
        waits ? "The cores are the limit: do the costly preprocessing once and store its result, "
                "or use more machines for it; fewer parallel calls than cores avoid switching."
              : "The cores are the limit: more or faster ones, less to compute, or a device "
                "shorten the step.";
    if (waits) f.diff = "+dataset = dataset.cache(path)      # after the costly map()";
    f.numbers = {{"busy_cores", busy * *cores}, {"cores", *cores}};
    f.evidence = {{"framework_op_stats", ""}, {"trace_viewer", ""}};
  }

  // Samples of the device's own counters: clock, temperature.
  void clocks(const HostAnalysis& host) {
    const trace::Trace& trace = host.trace();
    for (const TrackId plane : host.words().gpu_planes) {
      for (const TrackId t : lines_of(trace, plane)) {
        if (trace.track_name(t) != "_counters_") continue;
        const trace::Track& track = trace.tracks()[t];
        double fastest = 0, slowest = 0, hottest = 0;
        for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
          const std::string_view name = trace.name(s);
          const trace::ArgRange range = trace.args(s);
          if (range.count == 0) continue;
          const double value = trace.arg(range.first).value.as_double();
          if (name.find("sm_clock") != std::string_view::npos) {
            fastest = std::max(fastest, value);
            slowest = slowest == 0 ? value : std::min(slowest, value);
          } else if (name.find("temperature") != std::string_view::npos) {
            hottest = std::max(hottest, value);
          }
        }
        if (fastest == 0 && hottest == 0) continue;
        const bool slowed = slowest < 0.9 * fastest;
        Finding& f = add("THERMAL", slowed || hottest > 85, Severity::kMajor);
        f.text = fmt::format("{} ran between {:.0f} and {:.0f} MHz, at up to {:.0f} degrees.",
                             trace.text(trace.tracks()[plane].name), slowest, fastest, hottest);
        f.action =
            "Check cooling and the power limit: a device that gets hot or short of power "
            "lowers its clock.";
        f.diff = "+nvidia-smi -q -d PERFORMANCE,POWER,TEMPERATURE";
        f.numbers = {{"slowest_mhz", slowest}, {"fastest_mhz", fastest}, {"hottest", hottest}};
        f.evidence = {{"trace_viewer", "_counters_"}};
      }
    }
  }

  void overhead(const HostAnalysis& host) {
    const trace::Trace& trace = host.trace();
    const double span = static_cast<double>((trace.last_end() - trace.first_begin()).value);
    for (const TrackId plane : host.words().gpu_planes) {
      for (const TrackId t : lines_of(trace, plane)) {
        if (!trace.track_name(t).starts_with("CUPTI overhead")) continue;
        const trace::Track& track = trace.tracks()[t];
        double taken = 0;
        for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s)
          taken += static_cast<double>(trace.duration(s).value);
        const double percent = 100 * ratio(taken, span);
        Finding& f = add("PROFILER-OVERHEAD", percent >= 5, Severity::kMinor);
        f.text = fmt::format("{:.1f} ms ({:.0f}% of the capture) went into the profiler itself.",
                             taken / 1e9, percent);
        f.action = "Trace less, so that what is measured is the program.";
        f.diff = jax_ ? "+options = jax.profiler.ProfileOptions()\n+options.host_tracer_level = 1"
                      : "+options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=1, "
                        "python_tracer_level=0)";
        f.numbers = {{"percent", percent}};
        f.evidence = {{"trace_viewer", "CUPTI overhead"}};
      }
    }
  }

  // Computing time of every device: the slowest one sets the pace where devices wait for another.
  void imbalance() {
    std::vector<std::pair<double, std::string>> busy;
    for (const HostAnalysis* host : hosts_) {
      const trace::Trace& trace = host->trace();
      if (host->words().gpu_planes.size() + hosts_.size() < 3) continue;
      for (const TrackId plane : host->words().gpu_planes) {
        int64_t sum = 0;
        for (const TrackId t : lines_of(trace, plane)) {
          if (host->words().derived[t]) continue;
          const trace::Track& track = trace.tracks()[t];
          for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
            const LabelInfo& label = host->words().labels[trace.label_id(s)];
            const std::string_view name = trace.name(s);
            if (label.op.is_copy() || name.starts_with("nccl") || name.starts_with("rccl"))
              continue;
            sum += trace.duration(s).value;
          }
        }
        if (sum > 0)
          busy.emplace_back(
              static_cast<double>(sum) / 1e9,
              host->host().name + " " + std::string(trace.text(trace.tracks()[plane].name)));
      }
    }
    if (busy.size() < 2 || !enough()) return;
    double total = 0;
    for (const auto& [ms, name] : busy) total += ms;
    const double mean = total / static_cast<double>(busy.size());
    const auto most = *std::max_element(busy.begin(), busy.end());
    Finding& f = add("IMBALANCE", most.first > 1.1 * mean, Severity::kMajor);
    const double steps = static_cast<double>(steps_.steps.size());
    f.text = fmt::format("{} computes {:.1f} ms a step, {:.2f} times the mean of {} devices.",
                         most.second, most.first / steps, most.first / mean, busy.size());
    f.action = "Split the work evenly: equal batches on every device, layers shared out by time.";
    if (!jax_)
      f.diff = "+dataset = strategy.experimental_distribute_dataset(dataset)   # equal shares";
    f.numbers = {{"most_ms", most.first / steps}, {"mean_ms", mean / steps}};
    f.evidence = {{"pod_viewer", ""}};
    gain(f, (most.first - mean) / steps);
  }

  // Between a step's last kernel and the next one's first nothing runs on the device.
  void idle_tail() {
    std::vector<double> gaps, rounds;  // ms from end to begin, from begin to begin
    for (const HostAnalysis* host : hosts_) {
      std::vector<Grouping::DeviceStep> spans = host->grouping().device_steps;
      std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
        return std::tie(a.plane, a.begin) < std::tie(b.plane, b.begin);
      });
      for (size_t i = 1; i < spans.size(); ++i) {
        if (spans[i].plane != spans[i - 1].plane || spans[i].group == spans[i - 1].group) continue;
        const int64_t gap = std::max<int64_t>(0, spans[i].begin - spans[i - 1].end);
        gaps.push_back(static_cast<double>(gap) / 1e9);
        rounds.push_back(static_cast<double>(spans[i].begin - spans[i - 1].begin) / 1e9);
      }
    }
    if (gaps.empty() || !enough()) return;
    // A device that waits for input idles, too: that part belongs to the finding about input.
    double input = 0;
    for (const SessionStep& step : steps_.steps)
      input += static_cast<double>(step.slowest().part(Part::kInput)) / 1e9;
    input /= static_cast<double>(steps_.steps.size());
    const double round = loop::median(std::move(rounds));
    const double ms = std::clamp(loop::median(std::move(gaps)) - input, 0.0, std::max(0.0, round));
    const double percent = 100 * ratio(ms, round);
    Finding& f = add("IDLE-TAIL", percent >= 5, Severity::kMajor);
    f.text = fmt::format(
        "{:.1f} of {:.1f} ms from one step to the next ({:.0f}%) the device idles between one "
        "step's last kernel and the next one's first, waiting for input not counted.",
        ms, round, percent);
    f.action =
        "Do what happens between steps (metrics, checkpoints, logging) less often, or let "
        "the next step start before it.";
    f.diff = jax_     ? "+state, losses = jax.lax.scan(train_step, state, batches)"
             : keras_ ? "+model.compile(..., steps_per_execution=10)"
                      : "-log(loss.numpy())\n+if step % 100 == 0: log(loss.numpy())";
    f.numbers = {{"idle_ms", ms}, {"percent", percent}};
    f.evidence = {{"trace_viewer", ""}};
    findings::gain(f, ms, round);
  }

  const std::vector<const HostAnalysis*>& hosts_;
  const SessionSteps& steps_;
  std::vector<Finding>& found_;
  double step_ms_ = 0;
  bool jax_ = false, keras_ = false;
};

}  // namespace

void resources(const std::vector<const HostAnalysis*>& hosts, const SessionSteps& steps,
               std::vector<Finding>& found) {
  Checks(hosts, steps, found).run();
}

}  // namespace sonde::capture::findings
