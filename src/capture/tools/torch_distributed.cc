// All workers of a distributed PyTorch run together: computation against communication in every
// step, waiting against moving data, and every collective's sizes and times.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/analysis/merged.h"
#include "capture/analysis/pytorch/collectives.h"
#include "capture/analysis/pytorch/views.h"

namespace sonde::capture {
namespace {

using namespace pytorch;

struct Overlap {
  double computation = 0, overlap = 0, communication = 0, other = 0;  // us; without the overlap
};

Overlap overlap_of(const Capture& c, const CaptureStep& step) {
  const Ranges& communication = c.role[static_cast<size_t>(Role::kCommunication)];
  const Ranges& compute = c.has_kernels ? c.role[static_cast<size_t>(Role::kKernel)] : c.operators;
  const double both = us(total_inside(intersection(compute, communication), step.extent));
  const double computing = us(total_inside(compute, step.extent));
  const double communicating = us(total_inside(communication, step.extent));
  return {computing - both, both, communicating - both,
          us(step.extent.length()) + both - computing - communicating};
}

struct Wait {
  double transfer = 0, waiting = 0;  // us
};

struct Worker {
  const HostAnalysis* host = nullptr;
  const Capture* capture = nullptr;
  std::vector<Collective> calls;
  std::string name() const { return host->host().name; }

  // Steps that hold a collective, with what their collectives wait and transfer.
  std::map<size_t, Wait> waits() const {
    std::map<size_t, std::pair<Ranges, Ranges>> by_step;
    for (const Collective& call : calls) {
      if (call.step < 0) continue;
      auto& [all, moved] = by_step[static_cast<size_t>(call.step)];
      all.insert(all.end(), call.ranges.begin(), call.ranges.end());
      moved.insert(moved.end(), call.transfer.begin(), call.transfer.end());
    }
    std::map<size_t, Wait> out;
    for (auto& [step, lists] : by_step) {
      const double all = us(total(merged(std::move(lists.first))));
      const double moved = us(total(merged(std::move(lists.second))));
      out[step] = {moved, all - moved};
    }
    return out;
  }
};

struct CallTotal {
  int64_t calls = 0, bytes = 0;
  Ranges ranges, transfer;
  double latency_us = 0, transfer_us = 0;
};

std::map<std::string, CallTotal> call_totals(const Worker& worker) {
  std::map<std::string, CallTotal> totals;
  for (const Collective& call : worker.calls) {
    CallTotal& total = totals[call.name];
    ++total.calls;
    total.bytes += call.bytes;
    total.ranges.insert(total.ranges.end(), call.ranges.begin(), call.ranges.end());
    total.transfer.insert(total.transfer.end(), call.transfer.begin(), call.transfer.end());
  }
  for (auto& [name, entry] : totals) {
    entry.latency_us = us(total(merged(std::move(entry.ranges))));
    entry.transfer_us = us(total(merged(std::move(entry.transfer))));
  }
  return totals;
}

std::vector<Worker> workers_of(const std::vector<const HostAnalysis*>& hosts, size_t& unmatched) {
  std::vector<Worker> out;
  std::vector<std::vector<Collective>> calls;
  for (const HostAnalysis* host : hosts) {
    out.push_back({host, &host->pytorch(), {}});
    calls.push_back(collectives_of(host->pytorch()));
  }
  unmatched = match(calls);
  for (size_t i = 0; i < out.size(); ++i) out[i].calls = std::move(calls[i]);
  std::stable_sort(out.begin(), out.end(),
                   [](const Worker& a, const Worker& b) { return a.name() < b.name(); });
  return out;
}

// --- recorded views ---

void values_table(Report& report, const std::string& id, const std::vector<Cell>& values) {
  Table& table = report.table(id, id);
  table.columns = {{"value"}};
  for (const Cell& value : values) table.rows.push_back({value});
}

void legends(Report& report, std::initializer_list<const char*> names) {
  std::vector<Cell> cells;
  for (const char* name : names) cells.emplace_back(name);
  values_table(report, "metadata/legends", cells);
}

int64_t cut(double sum, size_t steps) {
  return static_cast<int64_t>(sum / static_cast<double>(std::max<size_t>(1, steps)));
}

Report recorded_overlap(const std::vector<Worker>& workers) {
  Report report;
  legends(report, {"Computation", "Overlapping", "Communication", "Other"});
  for (const Worker& worker : workers) {
    Overlap sum;
    for (const CaptureStep& step : worker.capture->steps) {
      const Overlap o = overlap_of(*worker.capture, step);
      sum = {sum.computation + o.computation, sum.overlap + o.overlap,
             sum.communication + o.communication, sum.other + o.other};
      values_table(report, fmt::format("data/{}/{}", step.name, worker.name()),
                   {o.computation, o.overlap, o.communication, o.other});
    }
    const size_t n = worker.capture->steps.size();
    values_table(report, "data/all/" + worker.name(),
                 {cut(sum.computation, n), cut(sum.overlap, n), cut(sum.communication, n),
                  cut(sum.other, n)});
  }
  report.figure("metadata/title", "", "Computation/Communication Overview");
  report.figure("metadata/units", "", "us");
  return report;
}

Report recorded_wait(const std::vector<Worker>& workers) {
  Report report;
  legends(report, {"Data Transfer Time", "Synchronizing Time"});
  for (const Worker& worker : workers) {
    Wait sum;
    const auto waits = worker.waits();
    for (const auto& [step, wait] : waits) {
      sum.transfer += wait.transfer;
      sum.waiting += wait.waiting;
      values_table(report,
                   fmt::format("data/{}/{}", worker.capture->steps[step].name, worker.name()),
                   {wait.transfer, wait.waiting});
    }
    values_table(report, "data/all/" + worker.name(),
                 {cut(sum.transfer, waits.size()), cut(sum.waiting, waits.size())});
  }
  report.figure("metadata/title", "", "Synchronizing/Communication Overview");
  report.figure("metadata/units", "", "us");
  return report;
}

Report recorded_calls(const std::vector<Worker>& workers) {
  Report report;
  for (const Worker& worker : workers) {
    Table& table = report.table("data/" + worker.name(), worker.name());
    table.columns = {{"Name", "", Type::kText}};
    for (const char* id :
         {"Calls", "Total Size (bytes)", "Avg Size (bytes)", "Total Latency (us)",
          "Avg Latency (us)", "Data Transfer Time (us)", "Avg Data Transfer Time (us)"})
      table.columns.push_back({id});
    for (const auto& [name, total] : call_totals(worker)) {
      const double calls = static_cast<double>(total.calls);
      table.rows.push_back({name, total.calls, total.bytes,
                            whole(static_cast<double>(total.bytes) / calls), total.latency_us,
                            whole(total.latency_us / calls), total.transfer_us,
                            whole(total.transfer_us / calls)});
    }
  }
  report.figure("metadata/title", "", "Communication Operations Stats");
  return report;
}

// host_7 is process 7 of node host; other names are a node of their own.
std::pair<std::string, std::string> node_and_process(const std::string& worker, int64_t& next) {
  const size_t underscore = worker.rfind('_');
  if (underscore != std::string::npos && underscore + 1 < worker.size() &&
      worker.find_first_not_of("0123456789", underscore + 1) == std::string::npos)
    return {worker.substr(0, underscore), worker.substr(underscore + 1)};
  return {worker, std::to_string(next++)};
}

std::vector<int32_t> used_devices(const Capture& c) {
  std::vector<int32_t> out;
  for (const DeviceEvent& event : c.device) {
    if (std::find(out.begin(), out.end(), event.device) == out.end()) out.push_back(event.device);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Report recorded_devices(const std::vector<Worker>& workers) {
  Report report;
  int64_t next = 0;
  for (const Worker& worker : workers) {
    if (worker.capture->devices.empty()) continue;
    const auto [node, process] = node_and_process(worker.name(), next);
    for (const int32_t device : used_devices(*worker.capture)) {
      const DeviceInfo* info = worker.capture->device_info(device);
      if (!info) continue;
      const std::string path = fmt::format("data/{}/Process {}/GPU{}/", node, process, device);
      report.figure(path + "Name", "", info->name);
      report.figure(
          path + "Memory", "",
          fmt::format("{} GB", rounded(static_cast<double>(info->memory_bytes) / (1 << 30), 2)));
      report.figure(path + "Memory Raw", "", static_cast<int64_t>(info->memory_bytes));
      if (info->major >= 0)
        report.figure(path + "Compute Capability", "",
                      fmt::format("{}.{}", info->major, info->minor));
    }
  }
  report.figure("metadata/title", "", "Device Information");
  return report;
}

// --- for people ---

void add_overlap(Report& report, const std::vector<Worker>& workers) {
  Table& table = report.table("overlap", "Computation and communication");
  table.columns = {{"worker", "Worker", Type::kText},
                   {"step", "Step", Type::kText},
                   {"computation", "Computation alone", Type::kNumber, "us"},
                   {"overlap", "Both", Type::kNumber, "us"},
                   {"communication", "Communication alone", Type::kNumber, "us"},
                   {"other", "Neither", Type::kNumber, "us"},
                   {"exposed", "Exposed", Type::kNumber, "%", "step time"}};
  for (const Worker& worker : workers) {
    for (const CaptureStep& step : worker.capture->steps) {
      const Overlap o = overlap_of(*worker.capture, step);
      table.rows.push_back({worker.name(), step.name, o.computation, o.overlap, o.communication,
                            o.other, 100 * ratio(o.communication, us(step.extent.length()))});
    }
  }
  Table& mean = report.table("overlap_mean", "Computation and communication, mean step");
  mean.columns = {{"worker", "Worker", Type::kText},
                  {"computation", "Computation alone", Type::kNumber, "us"},
                  {"overlap", "Both", Type::kNumber, "us"},
                  {"communication", "Communication alone", Type::kNumber, "us"},
                  {"other", "Neither", Type::kNumber, "us"}};
  for (const Worker& worker : workers) {
    Overlap sum;
    const double n = static_cast<double>(std::max<size_t>(1, worker.capture->steps.size()));
    for (const CaptureStep& step : worker.capture->steps) {
      const Overlap o = overlap_of(*worker.capture, step);
      sum = {sum.computation + o.computation, sum.overlap + o.overlap,
             sum.communication + o.communication, sum.other + o.other};
    }
    mean.rows.push_back({worker.name(), sum.computation / n, sum.overlap / n, sum.communication / n,
                         sum.other / n});
  }
  report.charts.push_back({"overlap",
                           "stack",
                           "overlap_mean",
                           "worker",
                           {"computation", "overlap", "communication", "other"},
                           ""});
}

void add_waits(Report& report, const std::vector<Worker>& workers) {
  Table& table = report.table("waits", "Waiting and moving data");
  table.columns = {{"worker", "Worker", Type::kText},
                   {"step", "Step", Type::kText},
                   {"transfer", "Moving data", Type::kNumber, "us"},
                   {"waiting", "Waiting for others", Type::kNumber, "us"}};
  for (const Worker& worker : workers) {
    for (const auto& [step, wait] : worker.waits())
      table.rows.push_back(
          {worker.name(), worker.capture->steps[step].name, wait.transfer, wait.waiting});
  }
  report.charts.push_back({"waits", "stack", "waits", "worker", {"transfer", "waiting"}, ""});
}

// What a byte that a rank puts in counts for on the wire, so that rates of different collectives
// can be held against the links: an all-reduce sends everything nearly twice, an all-gather's input
// goes to every other rank.
double bus_factor(std::string_view name, double ranks) {
  if (ranks < 2) return 1;
  const auto has = [&](std::string_view a, std::string_view b) {
    return name.find(a) != std::string_view::npos || name.find(b) != std::string_view::npos;
  };
  if (has("all_reduce", "AllReduce") || has("allreduce", "ALLREDUCE"))
    return 2 * (ranks - 1) / ranks;
  if (has("all_gather", "AllGather") || has("allgather", "ALLGATHER")) return ranks - 1;
  if (has("scatter", "Scatter") || has("all_to_all", "AllToAll") || has("alltoall", "gather"))
    return (ranks - 1) / ranks;
  return 1;
}

void add_calls(Report& report, const std::vector<Worker>& workers) {
  Table& table = report.table("collectives", "Collectives");
  table.columns = {{"worker", "Worker", Type::kText},
                   {"name", "Collective", Type::kText, "", "", "trace_viewer"},
                   {"calls", "Calls"},
                   {"bytes", "Size", Type::kNumber, "bytes"},
                   {"mean_bytes", "Size of one", Type::kNumber, "bytes"},
                   {"latency", "Time", Type::kNumber, "us"},
                   {"mean_latency", "Time of one", Type::kNumber, "us"},
                   {"transfer", "Moving data", Type::kNumber, "us"},
                   {"waiting", "Waiting", Type::kNumber, "us"},
                   {"bus_rate", "Bus rate", Type::kNumber, "GB/s"}};
  for (const Worker& worker : workers) {
    const double ranks =
        static_cast<double>(worker.capture->world_size > 0 ? worker.capture->world_size
                                                           : static_cast<int64_t>(workers.size()));
    for (const auto& [name, total] : call_totals(worker)) {
      const double calls = static_cast<double>(total.calls);
      const double bytes = static_cast<double>(total.bytes);
      table.rows.push_back(
          {worker.name(), name, total.calls, total.bytes, bytes / calls, total.latency_us,
           total.latency_us / calls, total.transfer_us, total.latency_us - total.transfer_us,
           total.bytes == 0
               ? Cell{}
               : Cell{ratio(bytes * bus_factor(name, ranks) / 1e3, total.transfer_us)}});
    }
  }
}

void add_devices(Report& report, const std::vector<Worker>& workers) {
  Table table{"devices", "Devices"};
  table.columns = {{"worker", "Worker", Type::kText},
                   {"rank", "Rank"},
                   {"device", "Device", Type::kText},
                   {"name", "Name", Type::kText},
                   {"memory", "Memory", Type::kNumber, "bytes"},
                   {"backend", "Back end", Type::kText}};
  for (const Worker& worker : workers) {
    const Capture& c = *worker.capture;
    for (const int32_t device : used_devices(c)) {
      const DeviceInfo* info = c.device_info(device);
      table.rows.push_back({worker.name(), c.rank >= 0 ? Cell{c.rank} : Cell{},
                            fmt::format("GPU {}", device), info ? Cell{info->name} : Cell{},
                            info ? Cell{static_cast<int64_t>(info->memory_bytes)} : Cell{},
                            c.backend});
    }
  }
  if (!table.rows.empty()) report.tables.push_back(std::move(table));
}

Result<Report> run(const Session& session, const Options& options) {
  const auto hosts = workers(session, options);
  if (hosts.empty()) return without_capture(session);
  size_t unmatched = 0;
  const auto all = workers_of(hosts, unmatched);
  const std::string_view view = options.parameter("view");
  if (view == "distributed_overlap") return recorded_overlap(all);
  if (view == "distributed_wait") return recorded_wait(all);
  if (view == "distributed_comm_ops") return recorded_calls(all);
  if (view == "distributed_gpu_info") return recorded_devices(all);
  Report report;
  size_t calls = 0;
  for (const Worker& worker : all) calls += worker.calls.size();
  if (calls == 0) {
    report.missing.push_back({"collectives", "no worker communicated while the capture was on",
                              "profile a run with torch.distributed, all ranks into one folder"});
    return report;
  }
  report.figure("workers", "Workers", static_cast<int64_t>(all.size()));
  report.figure("collectives", "Collectives", static_cast<int64_t>(calls));
  add_overlap(report, all);
  add_waits(report, all);
  add_calls(report, all);
  add_devices(report, all);
  if (all.size() == 1)
    report.diagnostics.push_back(
        {"info",
         "one worker only: waiting cannot be told from moving data; put the captures of "
         "all ranks into one folder"});
  if (unmatched > 0 && all.size() > 1)
    report.diagnostics.push_back(
        {"warning", fmt::format("{} collectives have no partner on some rank", unmatched)});
  return report;
}

std::string what_is_missing(const Session& session) {
  std::string why = missing_capture(session);
  if (!why.empty()) return why;
  for (const HostAnalysis* host : workers(session, {})) {
    const Words words(host->trace());
    for (const LabelWord& word : words.labels) {
      if (word.is_communication) return {};
    }
  }
  return "no communication between workers in this capture";
}

}  // namespace

extern const Tool kTorchDistributed;
const Tool kTorchDistributed{"torch.distributed", "PyTorch distributed", run, what_is_missing};

}  // namespace sonde::capture
