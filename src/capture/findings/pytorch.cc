// PyTorch: the DataLoader, kernels and precision, the optimiser, copies and synchronisation,
// several devices, memory. Every rule names the number it measured and the line to change.
#include "capture/findings/pytorch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "capture/analysis/pytorch/collectives.h"
#include "capture/analysis/pytorch/gpu_use.h"
#include "capture/analysis/pytorch/memory_records.h"

namespace sonde::capture::findings {
namespace {

using namespace pytorch;

constexpr double kManyExchanges = 16;  // a step: more than buckets of a usual model

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool has_label(const Capture& c, std::string_view part) {
  return std::any_of(c.trace.labels().begin(), c.trace.labels().end(),
                     [&](const auto& label) { return contains(c.trace.text(label.name), part); });
}

// The functions of the sample and of what puts samples together, below those of the DataLoader.
std::string below_the_loader(const loop::Path& path) {
  static constexpr std::array<std::string_view, 10> kLoader = {
      "__next__",  "_next_data", "fetch", "<listcomp>", "_try_get_data",
      "_get_data", "_poll",      "wait",  "select",     "poll"};
  size_t first = 0;
  for (size_t i = 0; i < path.functions.size(); ++i) {
    const std::string_view name = path.functions[i];
    const std::string_view function = name.substr(name.rfind('.') + 1);
    if (std::ranges::any_of(kLoader, [&](auto own) {
          return function == own || name.starts_with(fmt::format("{} (dataloader.py", own)) ||
                 name.starts_with(fmt::format("{} (fetch.py", own));
        }))
      first = i + 1;
  }
  std::string text;
  for (size_t i = first; i < path.functions.size() && i < first + 3; ++i)
    text += (text.empty() ? "" : " → ") + path.functions[i];
  return text;
}

void data_loader(const Numbers& n, Rules& r) {
  const double step_ms = r.loop ? r.rhythm.usual_ms : n.step_ms;
  const double ms = r.loop ? r.usual_ms(loop::Act::kInput) : n.part_ms(Role::kDataLoader);
  const double percent = 100 * ratio(ms, step_ms);
  const bool gpu = n.c.has_gpu;
  Finding f = make("IN-WAIT", percent >= 5, percent >= 20 ? Severity::kCritical : Severity::kMajor);
  f.text =
      r.loop ? fmt::format("{} wait for the DataLoader.", r.of_step(ms))
             : fmt::format("{:.1f} of {:.1f} ms of each step ({:.0f}%) wait for the DataLoader{}.",
                           ms, step_ms, percent, n.over_steps());
  f.numbers = {{"input_ms", ms}, {"step_ms", step_ms}, {"percent", percent}};
  f.evidence = {{"torch.overview", ""}, {"trace_viewer", "DataLoader"}};
  // The sample's own function, where frames of Python were recorded.
  if (f.fired && r.loop && r.loop->has_python) {
    const loop::Path path = python_path(
        n.c.trace, *r.loop, inside(r.loop->of(loop::Act::kInput), *r.loop, r.rhythm.usual));
    if (const std::string own = below_the_loader(path); !own.empty())
      f.text += fmt::format(" Most of it is {}.", own);
  }
  const std::string_view pinned = gpu ? ", pin_memory=True" : "";
  if (has_label(n.c, "_SingleProcessDataLoaderIter")) {
    f.action =
        "Batches are made in the training process itself (num_workers=0): let worker processes "
        "make them while the step runs.";
    if (gpu) f.action += " With a GPU, 2 to 4 workers for each, into pinned memory.";
    f.diff = fmt::format(
        "-loader = DataLoader(dataset, batch_size=B)\n"
        "+loader = DataLoader(dataset, batch_size=B, num_workers=4{},\n"
        "+                    persistent_workers=True)",
        pinned);
  } else {
    f.action =
        "The worker processes are too slow or too few: more of them (num_workers), more batches "
        "ahead (prefetch_factor), cheaper transforms (decode and resize once).";
    f.diff = fmt::format(
        "-loader = DataLoader(dataset, batch_size=B, num_workers=N)\n"
        "+loader = DataLoader(dataset, batch_size=B, num_workers=2 * N, prefetch_factor=4{},\n"
        "+                    persistent_workers=True)",
        pinned);
  }
  gain(f, ms, step_ms);
  r.found.push_back(std::move(f));
}

void tensor_cores(const Numbers& n, Rules& r) {
  const bool amd = std::any_of(n.c.devices.begin(), n.c.devices.end(), [](const DeviceInfo& info) {
    return contains(info.name, "AMD") || contains(info.name, "Instinct");
  });
  if (!n.c.has_kernels || n.c.is_rocm || amd) return;
  const bool capable = std::any_of(n.c.devices.begin(), n.c.devices.end(),
                                   [](const DeviceInfo& info) { return info.major >= 7; });
  const double eligible = eligible_share(n.c), used = tensor_core_share(n.c);
  const double unused = std::max(0.0, eligible - used);
  Finding f = make("TC-UNUSED", capable && unused >= 0.1, Severity::kMajor);
  f.text = fmt::format(
      "{:.0f}% of kernel time is launched by operators that could use Tensor Cores, {:.0f}% of "
      "kernel time does.",
      100 * eligible, 100 * used);
  f.action =
      "Train in mixed precision, or allow TF32 for float32 matrix products; keep sizes multiples "
      "of 8.";
  // TF32 and bfloat16 came with the generation after Volta and Turing.
  const bool ampere = std::any_of(n.c.devices.begin(), n.c.devices.end(),
                                  [](const DeviceInfo& info) { return info.major >= 8; });
  if (!ampere) {
    f.action =
        "Train in mixed precision with float16 and a gradient scaler; keep sizes multiples of 8.";
  }
  f.diff =
      ampere
          ? "+torch.set_float32_matmul_precision('high')          # TF32, nothing else to change\n"
            "-loss = criterion(model(x), y)\n"
            "+with torch.autocast('cuda', dtype=torch.bfloat16):  # or mixed precision\n"
            "+    loss = criterion(model(x), y)"
          : "-loss = criterion(model(x), y)\n"
            "+with torch.autocast('cuda', dtype=torch.float16):\n"
            "+    loss = criterion(model(x), y)\n"
            "+scaler.scale(loss).backward()                      # torch.amp.GradScaler";
  f.numbers = {{"eligible_percent", 100 * eligible}, {"used_percent", 100 * used}};
  f.evidence = {{"torch.operator", ""}, {"torch.kernel", ""}};
  gain(f, 0.5 * unused * n.part_ms(Role::kKernel), n.step_ms);
  r.found.push_back(std::move(f));
}

// Optimiser steps that update one parameter tensor after the other.
void optimizer(const Numbers& n, Rules& r) {
  Ranges spans;
  std::string name;
  for (trace::SliceId s = 0; s < n.c.trace.slice_count(); ++s) {
    if (n.c.words.of(n.c.trace, s).kind != Kind::kOptimizer) continue;
    const std::string_view text = n.c.trace.name(s);
    if (!text.starts_with("Optimizer.step")) continue;
    name = text.substr(0, text.rfind('.'));
    spans.push_back({n.c.trace.begin(s).value, n.c.trace.end(s).value});
  }
  spans = merged(std::move(spans));
  if (spans.empty()) return;
  int64_t calls = 0;
  bool fused = false;
  for (const Node& node : n.c.nodes) {
    if (!node.is_row || node.merged || total_inside(spans, {node.begin, node.end}) == 0) continue;
    const std::string_view op = n.c.name_of(node);
    fused |= contains(op, "fused") || contains(op, "_foreach");
    ++calls;
  }
  const double period_ms = r.loop ? r.rhythm.usual_ms : n.step_ms;
  std::vector<double> each;
  if (r.loop) {
    for (const size_t i : r.rhythm.usual) {
      const loop::Period& p = r.loop->periods[i];
      each.push_back(static_cast<double>(total_inside(spans, {p.begin, p.end})) / 1e9);
    }
  } else {
    for (const CaptureStep& step : n.c.steps)
      each.push_back(static_cast<double>(total_inside(spans, step.extent)) / 1e9);
  }
  const double per_step = ratio(static_cast<double>(calls),
                                r.loop ? static_cast<double>(r.loop->periods.size()) : n.steps());
  const double ms = loop::median(std::move(each)), share = ratio(ms, period_ms);
  Finding f =
      make("OPT-FUSED", !fused && per_step >= 50 && share >= (n.c.device.empty() ? 0.3 : 0.05),
           n.c.device.empty() ? Severity::kMajor : Severity::kMinor);
  f.text = fmt::format(
      "{:.1f} of {:.1f} ms of each step ({:.0f}%) are the optimizer, which calls {:.0f} operators, "
      "one parameter at a time{}.",
      ms, period_ms, 100 * share, per_step, fused ? ", fused ones among them" : "");
  f.action =
      "Update all parameters at once: fused=True, or foreach=True where the optimizer has no fused "
      "form. The gain assumes that this halves its time.";
  std::string kind = name.substr(std::min(name.size(), name.find('#') + 1));
  if (kind.empty() || name.find('#') == std::string::npos) kind = "AdamW";
  f.diff = fmt::format(
      "-optimizer = torch.optim.{0}(model.parameters(), lr=lr)\n"
      "+optimizer = torch.optim.{0}(model.parameters(), lr=lr, fused=True)",
      kind);
  f.numbers = {{"optimizer_ms", ms}, {"operators", per_step}};
  f.evidence = {{"trace_viewer", "Optimizer.step"}};
  gain(f, 0.5 * ms, period_ms);
  r.found.push_back(std::move(f));
}

void parallel(const Numbers& n, Rules& r) {
  std::vector<int32_t> devices;
  for (const DeviceEvent& event : n.c.device) {
    if (std::find(devices.begin(), devices.end(), event.device) == devices.end())
      devices.push_back(event.device);
  }
  if (has_label(n.c, "DataParallel.forward") && !has_label(n.c, "DistributedDataParallel.")) {
    Finding f = make("DP-DDP", devices.size() > 1, Severity::kMajor);
    f.text = fmt::format("{} GPUs are driven by one process (DataParallel).", devices.size());
    f.action =
        "One process a GPU: DataParallel copies the model to every GPU in each step and shares one "
        "Python interpreter.";
    f.diff =
        "-model = torch.nn.DataParallel(model)\n"
        "+torch.distributed.init_process_group('nccl')    # started by torchrun\n"
        "+model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[local_rank])";
    f.evidence = {{"torch.operator", "DataParallel"}};
    r.found.push_back(std::move(f));
  }
  const bool ddp = has_label(n.c, "DistributedDataParallel.forward") || has_label(n.c, "gloo:");
  if (ddp && !n.c.device.empty()) {
    Finding f = make("NCCL", has_label(n.c, "gloo:") && !has_label(n.c, "nccl"), Severity::kMajor);
    f.text = fmt::format("Gradients of {} GPUs are exchanged by {}.",
                         std::max<int64_t>(1, n.c.world_size),
                         n.c.backend.empty() ? "gloo" : n.c.backend);
    f.action = "NCCL moves them from GPU to GPU without passing the host.";
    f.diff =
        "-torch.distributed.init_process_group('gloo')\n"
        "+torch.distributed.init_process_group('nccl')";
    f.evidence = {{"torch.distributed", ""}};
    r.found.push_back(std::move(f));
  }
}

void communication_exposed(const Numbers& n, Rules& r) {
  // Who comes last to a collective waits for nobody: the rest of what the others spend there is
  // waiting, which STRAGGLER tells.
  double ms = n.part_ms(Role::kCommunication);
  for (const HostAnalysis* host : r.hosts) {
    const Numbers other(host->pytorch());
    if (!other.c.steps.empty()) ms = std::min(ms, other.part_ms(Role::kCommunication));
  }
  const double percent = 100 * ratio(ms, n.step_ms);
  if (ms == 0) return;
  Finding f =
      make("COMM-EXPOSED", percent >= 5, percent >= 10 ? Severity::kMajor : Severity::kInfo);
  const bool alone = r.hosts.size() == 1 && n.c.world_size > 1;
  f.text = fmt::format(
      "{:.2f} of {:.1f} ms of each step ({:.0f}%) are communication that no computation hides{}.",
      ms, n.step_ms, percent,
      alone ? fmt::format("; only this one of {} ranks is captured, so it may be waiting for a "
                          "slower one",
                          n.c.world_size)
            : "");
  f.action =
      "Let gradients travel while the backward pass runs (larger buckets, static graph), add up "
      "several batches before exchanging (no_sync), or send 16 bits.";
  if (alone) f.action = "Capture all ranks first, to see who is late. " + f.action;
  // Many small exchanges cost more than one large one.
  size_t exchanges = 0;
  for (const Collective& call : collectives_of(n.c)) exchanges += !call.name.starts_with("c10d::");
  const double each_step = static_cast<double>(exchanges) / n.steps();
  if (each_step >= kManyExchanges) {
    f.text.back() = ',';
    f.text += fmt::format(" in {:.0f} collectives a step, one after the other.", each_step);
    f.action =
        "Exchange fewer and larger pieces: join the tensors into one buffer before the all-reduce "
        "(flatten, or dist.all_reduce_coalesced), or let DistributedDataParallel put them into "
        "buckets that travel while the backward pass runs.";
    f.diff =
        "-for p in model.parameters():\n-    dist.all_reduce(p.grad)\n"
        "+model = torch.nn.parallel.DistributedDataParallel(model)   # buckets, beside backward()";
  }
  const std::string_view ids = n.c.device.empty() ? "" : ", device_ids=[local_rank]";
  if (f.diff.empty())
    f.diff = fmt::format(
        "-model = DistributedDataParallel(model{0})\n"
        "+model = DistributedDataParallel(model{0}, bucket_cap_mb=100,\n"
        "+                                gradient_as_bucket_view=True, static_graph=True)\n"
        "+model.register_comm_hook(None, default_hooks.bf16_compress_hook)",
        ids);
  f.numbers = {{"exposed_ms", ms}, {"percent", percent}};
  f.evidence = {{"torch.distributed", ""}, {"torch.ranks", ""}};
  gain(f, ms, n.step_ms);
  r.found.push_back(std::move(f));
}

void memory_peak(const Numbers& n, Rules& r) {
  if (n.c.memory.empty()) return;
  const Memory memory = memory_of(n.c);
  for (size_t d = 0; d < memory.devices.size(); ++d) {
    if (!memory.devices[d].starts_with("GPU")) continue;
    const DeviceInfo* info = n.c.device_info(std::atoi(memory.devices[d].c_str() + 3));
    if (!info || info->memory_bytes == 0) continue;
    int64_t peak = 0;
    for (const MemoryRecord& record : memory.records) {
      if (record.device == d) peak = std::max(peak, record.allocated.value_or(0));
    }
    const double percent =
        100 * static_cast<double>(peak) / static_cast<double>(info->memory_bytes);
    Finding f = make("MEM-PEAK", percent >= 90, Severity::kMajor);
    f.text = fmt::format("{} holds {:.1f} of {:.1f} GB at its peak ({:.0f}%).", memory.devices[d],
                         static_cast<double>(peak) / (1 << 30),
                         static_cast<double>(info->memory_bytes) / (1 << 30), percent);
    f.action =
        "The next larger batch will not fit: recompute activations instead of keeping them, or "
        "keep them in 16 bits.";
    f.diff =
        "-x = self.block(x)\n"
        "+x = torch.utils.checkpoint.checkpoint(self.block, x, use_reentrant=False)";
    f.numbers = {{"peak_bytes", static_cast<double>(peak)}, {"percent", percent}};
    f.evidence = {{"torch.memory", ""}};
    r.found.push_back(std::move(f));
  }
}

}  // namespace

Numbers::Numbers(const pytorch::Capture& capture)
    : c(capture), step_ms(capture.average_step_us() / 1e3), average_us(capture.average_us()) {}

std::string Numbers::over_steps() const {
  if (c.steps.size() >= kEnoughSteps) return "";
  return fmt::format(", over {} step{}", c.steps.size(), c.steps.size() == 1 ? "" : "s");
}

void pytorch_rules(Rules& r) {
  // The late rank speaks for all: the others wait for it. Else the slowest does.
  const HostAnalysis* slowest = late_rank(r);
  if (slowest && !slowest->loop().periods.empty()) {
    r.pace = slowest;
    r.loop = &slowest->loop();
    r.rhythm = loop::rhythm_of(*r.loop);
  }
  if (!slowest) slowest = r.pace;
  for (const HostAnalysis* host : r.hosts) {
    if (r.pace || host->pytorch().steps.empty()) continue;
    if (!slowest || host->pytorch().average_step_us() > slowest->pytorch().average_step_us())
      slowest = host;
  }
  if (slowest) {
    const Numbers n(slowest->pytorch());
    data_loader(n, r);
    pytorch_device(n, r);
    tensor_cores(n, r);
    optimizer(n, r);
    parallel(n, r);
    communication_exposed(n, r);
    memory_peak(n, r);
    memory_fragments(n, r);
    memory_growth(*slowest, r);
    pytorch_waits(n, r);
  }
  loop_rules(r);
  hot_operations(r);
  periodic(r);
  pytorch_capture(r);
  data_loss(r);
}

}  // namespace sonde::capture::findings
