// What a TPU's cores wait for: copies, the host's input and output, other cores, and programs.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "capture/findings/rules.h"

namespace sonde::capture::findings {
namespace {

constexpr double kWaitShare = 0.10;  // of the time in which the cores run ops
constexpr double kIdlePercent = 3;

// Ops that end something that was started before: while one runs, the core stands still.
struct Waiting {
  std::string_view id, prefix, what;
};
constexpr std::array<Waiting, 10> kWaiting = {{
    {"TPU-COPY", "copy-done", "copies between memories to end"},
    {"TPU-COPY", "async-done", "asynchronous work to end"},
    {"TPU-INFEED", "infeed", "the host's input"},
    {"TPU-OUTFEED", "outfeed", "the host to take output"},
    {"TPU-COMM", "recv-done", "data of other devices"},
    {"TPU-COMM", "send-done", "data of other devices"},
    {"TPU-COMM", "all-reduce-done", "data of other devices"},
    {"TPU-COMM", "all-gather-done", "data of other devices"},
    {"TPU-COMM", "reduce-scatter-done", "data of other devices"},
    {"TPU-COMM", "collective-permute-done", "data of other devices"},
}};

std::string_view advice(std::string_view id) {
  if (id == "TPU-COPY")
    return "Something lives in another memory (host offloading, or weights that do not fit) and is "
           "fetched when it is needed: keep it in the device's memory, start the copy earlier so "
           "that it runs beside computing, or move less.";
  if (id == "TPU-INFEED")
    return "The host is too slow with the input: make batches ahead and put them on the device "
           "while the step before runs.";
  if (id == "TPU-OUTFEED") return "Read results less often, and after the step.";
  return "Let collectives run beside computing (asynchronous collectives, another sharding), or "
         "exchange less.";
}

void waits(Rules& r, const DeviceOps& ops) {
  int64_t all = 0;
  for (const DeviceOp& op : ops.ops) all += op.self_ps;
  std::vector<std::string_view> told;
  for (const Waiting& kind : kWaiting) {
    if (std::ranges::find(told, kind.id) != told.end()) continue;
    told.push_back(kind.id);
    int64_t ps = 0;
    const DeviceOp* longest = nullptr;
    for (const DeviceOp& op : ops.ops) {
      const bool waiting = std::any_of(kWaiting.begin(), kWaiting.end(), [&](const Waiting& w) {
        return w.id == kind.id && op.name.starts_with(w.prefix);
      });
      if (!waiting) continue;
      ps += op.self_ps;
      if (!longest || op.self_ps > longest->self_ps) longest = &op;
    }
    const double share = ratio(static_cast<double>(ps), static_cast<double>(all));
    if (!longest) continue;
    Finding f = make(kind.id, share >= kWaitShare, by_share(share));
    f.text = fmt::format(
        "{:.0f}% of the time in which the TPU runs ops it waits for {} (most in {}, {:.0f}%).",
        100 * share, kind.what, longest->name,
        100 * ratio(static_cast<double>(longest->self_ps), static_cast<double>(all)));
    f.action = advice(kind.id);
    f.numbers = {{"percent", 100 * share}};
    f.evidence = {{"hlo_stats", longest->name}, {"trace_viewer", longest->name}};
    const double busy =
        1 - ratio(static_cast<double>(ops.idle_ps), static_cast<double>(ops.total_ps));
    gain(f, share * busy * r.average.step_ms, r.average.step_ms);
    r.found.push_back(std::move(f));
  }
}

void idle(Rules& r, const DeviceOps& ops) {
  const double percent =
      100 * ratio(static_cast<double>(ops.idle_ps), static_cast<double>(ops.total_ps));
  Finding f = make("TPU-IDLE", percent >= kIdlePercent, Severity::kMajor);
  f.text = fmt::format("{:.1f}% of the time the TPU runs no op.", percent);
  f.action = "Hand over several steps at once, so that the host is asked less often.";
  f.diff = r.jax ? "+state, losses = jax.lax.scan(train_step, state, batches)"
           : r.keras
               ? "+model.compile(..., steps_per_execution=10)"
               : "+for _ in tf.range(10):   # inside the tf.function\n+    train_step(next(it))";
  f.numbers = {{"percent", percent}};
  f.evidence = {{"hlo_stats", ""}, {"trace_viewer", ""}};
  r.found.push_back(std::move(f));
}

}  // namespace

void tpu(Rules& r) {
  std::vector<const HostAnalysis*> with_tpu;
  for (const HostAnalysis* host : r.hosts) {
    if (!host->words().tpu_planes.empty()) with_tpu.push_back(host);
  }
  if (with_tpu.empty()) return;
  const DeviceOps ops = merged_device_ops(with_tpu);
  if (ops.total_ps == 0) return;
  waits(r, ops);
  idle(r, ops);
}

}  // namespace sonde::capture::findings
