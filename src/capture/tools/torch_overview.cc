// The summary of a PyTorch capture: what each step spends its time on, how busy the devices are,
// what to change.
#include <fmt/format.h>

#include <algorithm>

#include "capture/analysis/merged.h"
#include "capture/analysis/model_use.h"
#include "capture/analysis/pytorch/gpu_use.h"
#include "capture/analysis/pytorch/views.h"
#include "capture/analysis/session_steps.h"
#include "capture/findings/findings.h"

namespace sonde::capture {
namespace {

using namespace pytorch;

constexpr Role kDeviceRoles[] = {Role::kKernel, Role::kMemcpy, Role::kMemset};
constexpr Role kHostRoles[] = {Role::kDataLoader, Role::kCpu, Role::kOther};

std::vector<Role> shown_roles(const Capture& c) {
  std::vector<Role> roles;
  if (c.has_gpu) roles.assign(std::begin(kDeviceRoles), std::end(kDeviceRoles));
  if (c.has_communication) roles.push_back(Role::kCommunication);
  if (c.has_gpu) roles.push_back(Role::kRuntime);
  roles.insert(roles.end(), std::begin(kHostRoles), std::end(kHostRoles));
  return roles;
}

std::string step_name(const CaptureStep& step) { return step.name; }

void add_steps(Report& report, const Capture& c, bool recorded) {
  const auto roles = shown_roles(c);
  Table& table = report.table("steps", "Steps");
  table.columns = {{"Step", "Step", Type::kText}};
  for (const Role role : roles) {
    const std::string name(role_name(role));
    table.columns.push_back({name, name, Type::kNumber, "us"});
  }
  if (!recorded) table.columns.push_back({"total", "Step time", Type::kNumber, "us"});
  for (const CaptureStep& step : c.steps) {
    std::vector<Cell> row{step_name(step)};
    for (const Role role : roles) row.emplace_back(us(step.of(role)));
    if (!recorded) row.emplace_back(us(step.extent.length()));
    table.rows.push_back(std::move(row));
  }
}

struct Gpu {
  std::string title, value;
};

std::vector<Gpu> gpu_rows(const Capture& c) {
  std::vector<Gpu> rows;
  const auto percent = [](double value) { return fmt::format("{} %", rounded(value, 2)); };
  for (const GpuUse& use : gpu_use(c)) {
    if (!rows.empty()) rows.push_back({"<hr/>", ""});
    rows.push_back({fmt::format("GPU {}:", use.device), ""});
    if (const DeviceInfo* info = c.device_info(use.device)) {
      if (!info->name.empty()) rows.push_back({"Name", info->name});
      if (info->memory_bytes > 0)
        rows.push_back(
            {"Memory",
             fmt::format("{} GB",
                         rounded(static_cast<double>(info->memory_bytes) / (1 << 30), 2))});
      if (info->major >= 0)
        rows.push_back({"Compute Capability", fmt::format("{}.{}", info->major, info->minor)});
    }
    rows.push_back({"GPU Utilization", percent(100 * use.utilization)});
    if (use.sm_efficiency)
      rows.push_back({"Est. SM Efficiency", percent(100 * *use.sm_efficiency)});
    if (use.occupancy) rows.push_back({"Est. Achieved Occupancy", percent(*use.occupancy)});
    if (use.tensor_cores)
      rows.push_back({"Kernel Time using Tensor Cores", percent(100 * *use.tensor_cores)});
  }
  return rows;
}

Report recorded_overview(const Capture& c) {
  Report report;
  add_steps(report, c, true);
  const double step = c.average_step_us();
  const auto average = c.average_us();
  Table& top = report.table("performance", "Average step");
  top.columns = {{"name", "", Type::kText}, {"description", "", Type::kText}, {"value"}, {"extra"}};
  top.rows.push_back({"Average Step Time", "", whole(step), int64_t{100}});
  Table& parts = report.table("performance/children", "Parts");
  parts.columns = {{"_parent"},
                   {"name", "", Type::kText},
                   {"description", "", Type::kText},
                   {"value"},
                   {"extra"}};
  for (const Role role : shown_roles(c)) {
    const double part = average[static_cast<size_t>(role)];
    parts.rows.push_back({int64_t{0}, std::string(role_name(role)), "", whole(part),
                          rounded(100 * ratio(part, step), 2)});
  }
  return report;
}

Report recorded_summary(const Capture& c) {
  Report report;
  const auto rows = gpu_rows(c);
  if (rows.empty()) return report;
  Table& table = report.table("rows", "GPU summary");
  table.columns = {{"title", "", Type::kText}, {"value", "", Type::kText}};
  for (const Gpu& row : rows) table.rows.push_back({row.title, row.value});
  return report;
}

void add_gpus(Report& report, const Capture& c) {
  const auto uses = gpu_use(c);
  if (uses.empty()) return;
  Table& table = report.table("gpus", "Devices");
  table.columns = {
      {"device", "Device", Type::kText},
      {"name", "Name", Type::kText},
      {"memory", "Memory", Type::kNumber, "bytes"},
      {"compute_capability", "Compute capability", Type::kText},
      {"utilization", "Busy with kernels", Type::kNumber, "%", "step time"},
      {"sm_efficiency", "Multiprocessors in use, estimated", Type::kNumber, "%", "step time"},
      {"occupancy", "Occupancy, estimated", Type::kNumber, "%"},
      {"tensor_cores", "On Tensor Cores", Type::kNumber, "%", "kernel time"}};
  const auto percent = [](const std::optional<double>& value, double scale) {
    return value ? Cell{scale * *value} : Cell{};
  };
  for (const GpuUse& use : uses) {
    const DeviceInfo* info = c.device_info(use.device);
    table.rows.push_back(
        {fmt::format("GPU {}", use.device), info ? Cell{info->name} : Cell{},
         info ? Cell{static_cast<int64_t>(info->memory_bytes)} : Cell{},
         info && info->major >= 0 ? Cell{fmt::format("{}.{}", info->major, info->minor)} : Cell{},
         100 * use.utilization, percent(use.sm_efficiency, 100), percent(use.occupancy, 1),
         percent(use.tensor_cores, 100)});
  }
}

void add_parts(Report& report, const Capture& c) {
  Table& parts = report.table("parts", "Where an average step goes");
  parts.columns = {{"name", "Part", Type::kText},
                   {"time", "Time", Type::kNumber, "us"},
                   {"share", "Share", Type::kNumber, "%", "step time"}};
  const double step = c.average_step_us();
  const auto average = c.average_us();
  for (const Role role : shown_roles(c)) {
    const double part = average[static_cast<size_t>(role)];
    parts.rows.push_back({std::string(role_name(role)), part, 100 * ratio(part, step)});
  }
}

void add_notes(Report& report, const Capture& c) {
  if (!c.steps_marked)
    report.inferred.push_back("one step: the whole capture, since the program marked none");
  if (c.dropped_steps > 0)
    report.diagnostics.push_back(
        {"info", fmt::format("{} steps at the end are left out: their device work was not "
                             "recorded whole",
                             c.dropped_steps)});
  uint64_t unowned = 0;
  for (const DeviceEvent& event : c.device) unowned += event.launch == pytorch::kNone;
  if (unowned > 0)
    report.diagnostics.push_back(
        {"info", fmt::format("{} of {} device events were launched before the capture began",
                             unowned, c.device.size())});
}

Result<Report> run(const Session& session, const Options& options) {
  const auto hosts = workers(session, options);
  if (hosts.empty()) return without_capture(session);
  const Capture& c = hosts.front()->pytorch();
  const std::string_view view = options.parameter("view");
  if (view == "overview") return recorded_overview(c);
  if (view == "gpu_summary") return recorded_summary(c);
  Report report;
  if (c.steps.empty()) {
    report.missing.push_back({"operators and kernels", "the capture holds none",
                              "profile while the training step runs"});
    return report;
  }
  report.figure("step_time", "Average step", c.average_step_us() / 1e3, "ms");
  report.figure("steps", "Steps", static_cast<int64_t>(c.steps.size()));
  const auto uses = gpu_use(c);
  if (!uses.empty()) {
    double busy = 0;
    for (const GpuUse& use : uses) busy += 100 * use.utilization / static_cast<double>(uses.size());
    report.figure("utilization", "GPU busy", busy, "%", "step time");
    report.figure("tensor_cores", "On Tensor Cores", 100 * tensor_core_share(c), "%",
                  "kernel time");
  }
  if (const auto use = model_use({hosts.front()}, hosts.front()->machine()))
    report.figure("mfu", "Model FLOPs utilisation", use->percent, "%", use->reference);
  add_steps(report, c, false);
  add_parts(report, c);
  add_gpus(report, c);
  std::vector<std::string> roles;
  for (const Role role : shown_roles(c)) roles.emplace_back(role_name(role));
  report.charts.push_back({"steps", "stack", "steps", "Step", roles, ""});
  report.charts.push_back({"parts", "pie", "parts", "name", {"time"}, ""});
  report.findings = all_findings(hosts, session_steps(hosts));
  add_notes(report, c);
  return report;
}

}  // namespace

extern const Tool kTorchOverview;
const Tool kTorchOverview{"torch.overview", "PyTorch overview", run, missing_capture};

}  // namespace sonde::capture
