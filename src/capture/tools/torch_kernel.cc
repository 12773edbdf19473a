// Kernels of a PyTorch capture: by name, and by name, launch shape and the operator that launched
// them; how much of their time runs on Tensor Cores.
#include <algorithm>
#include <map>
#include <tuple>

#include "capture/analysis/merged.h"
#include "capture/analysis/pytorch/views.h"

namespace sonde::capture {
namespace {

using namespace pytorch;

struct KernelTotal {
  std::string name, owner, grid, block;
  int64_t registers = 0, shared_memory = 0;
  bool uses_tensor_cores = false, owner_eligible = false;
  int64_t calls = 0, total_ps = 0, longest_ps = 0, shortest_ps = INT64_MAX;
  double blocks = 0, occupancy = 0;  // weighted by time

  double mean_us() const { return us(total_ps) / static_cast<double>(calls); }
  double mean_blocks() const { return ratio(blocks, us(total_ps)); }
  double mean_occupancy() const { return ratio(occupancy, us(total_ps)); }
};

struct Kernels {
  std::vector<KernelTotal> rows;  // longest total first
  bool has_blocks = false, has_occupancy = false;
  int64_t total_ps = 0, tensor_core_ps = 0;
};

std::string list_text(const Capture& c, trace::ArgRange args, trace::KeyId key) {
  const auto value = c.trace.find(args, key);
  return value ? spaced_list(c.trace.text_of(value)) : "";
}

int64_t number(const Capture& c, trace::ArgRange args, trace::KeyId key) {
  const auto value = c.trace.find(args, key);
  return value && value->is_number() ? value->as_int() : 0;
}

double positive(const Capture& c, trace::ArgRange args, trace::KeyId key, bool& seen) {
  const auto value = c.trace.find(args, key);
  if (!value || !value->is_number()) return 0;
  const double number = value->as_double();
  if (!(number >= 0)) return 0;
  seen = true;
  return number;
}

Kernels kernels(const Capture& c, bool by_owner) {
  Kernels out;
  std::map<std::tuple<trace::StringId, std::string, std::string, std::string, int64_t, int64_t>,
           size_t>
      index;
  for (const DeviceEvent& event : c.device) {
    if (event.kind != Kind::kKernel) continue;
    const trace::ArgRange args = c.trace.args(event.slice);
    KernelTotal fresh;
    if (by_owner) {
      fresh.owner = c.owner_of(event);
      fresh.grid = list_text(c, args, c.words.grid);
      fresh.block = list_text(c, args, c.words.block);
      fresh.registers = number(c, args, c.words.registers);
      fresh.shared_memory = number(c, args, c.words.shared_memory);
    }
    const auto [at, is_new] =
        index.try_emplace({c.trace.label(event.slice).name, fresh.owner, fresh.grid, fresh.block,
                           fresh.registers, fresh.shared_memory},
                          out.rows.size());
    if (is_new) {
      fresh.name = c.trace.name(event.slice);
      fresh.uses_tensor_cores = event.uses_tensor_cores;
      out.rows.push_back(std::move(fresh));
    }
    KernelTotal& row = out.rows[at->second];
    if (event.node != pytorch::kNone) row.owner_eligible |= c.nodes[event.node].eligible;
    ++row.calls;
    row.total_ps += event.duration();
    row.longest_ps = std::max(row.longest_ps, event.duration());
    row.shortest_ps = std::min(row.shortest_ps, event.duration());
    row.blocks += us(event.duration()) * positive(c, args, c.words.blocks_per_sm, out.has_blocks);
    row.occupancy += us(event.duration()) * positive(c, args, c.words.occupancy, out.has_occupancy);
    out.total_ps += event.duration();
    if (event.uses_tensor_cores) out.tensor_core_ps += event.duration();
  }
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [](const KernelTotal& a, const KernelTotal& b) {
                     return a.total_ps != b.total_ps ? a.total_ps > b.total_ps : a.name < b.name;
                   });
  return out;
}

std::vector<Column> columns(const Kernels& kernels, bool by_owner) {
  std::vector<Column> out{{"Name", "Kernel", Type::kText, "", "", "trace_viewer"}};
  if (by_owner) {
    out.push_back({"Operator", "Launched by", Type::kText, "", "", "torch.operator"});
    out.push_back({"Grid", "Grid", Type::kText});
    out.push_back({"Block", "Block", Type::kText});
    out.push_back({"Register Per Thread", "Registers per thread"});
    out.push_back({"Shared Memory", "Shared memory", Type::kNumber, "bytes"});
    out.push_back({"Kernel Uses Tensor Cores", "On Tensor Cores", Type::kText});
    out.push_back({"Op is Tensor Cores eligible", "Operator could use them", Type::kText});
  } else {
    out.push_back({"Tensor Cores Used", "On Tensor Cores", Type::kText});
  }
  out.push_back({"Calls", "Calls"});
  out.push_back({"Total Duration (us)", "Total", Type::kNumber, "us"});
  out.push_back({"Mean Duration (us)", "Mean", Type::kNumber, "us"});
  out.push_back({"Max Duration (us)", "Longest", Type::kNumber, "us"});
  out.push_back({"Min Duration (us)", "Shortest", Type::kNumber, "us"});
  if (kernels.has_blocks) out.push_back({"Mean Blocks Per SM", "Blocks per SM"});
  if (kernels.has_occupancy)
    out.push_back({"Mean Est. Achieved Occupancy (%)", "Occupancy", Type::kNumber, "%"});
  return out;
}

enum class Digits : uint8_t { kExact, kRecorded };

std::vector<Cell> row_of(const Kernels& kernels, const KernelTotal& k, bool by_owner,
                         Digits digits) {
  const bool recorded = digits == Digits::kRecorded;
  std::vector<Cell> row{k.name};
  if (by_owner) {
    row.emplace_back(k.owner);
    row.emplace_back(recorded && k.grid.empty() ? "None" : k.grid);
    row.emplace_back(recorded && k.block.empty() ? "None" : k.block);
    if (recorded) {
      row.emplace_back(std::to_string(k.registers));
      row.emplace_back(std::to_string(k.shared_memory));
    } else {
      row.emplace_back(k.registers);
      row.emplace_back(k.shared_memory);
    }
  }
  row.emplace_back(yes_no(k.uses_tensor_cores));
  if (by_owner) row.emplace_back(yes_no(k.owner_eligible));
  row.emplace_back(k.calls);
  const auto time = [&](double value) {
    return recorded && !by_owner ? Cell{whole(value)} : Cell{value};
  };
  row.push_back(time(us(k.total_ps)));
  row.push_back(recorded ? Cell{whole(k.mean_us())} : Cell{k.mean_us()});
  row.push_back(time(us(k.longest_ps)));
  row.push_back(time(us(k.shortest_ps)));
  if (kernels.has_blocks)
    row.emplace_back(recorded ? rounded(k.mean_blocks(), 2) : k.mean_blocks());
  if (kernels.has_occupancy)
    row.emplace_back(recorded ? rounded(k.mean_occupancy(), 2) : k.mean_occupancy());
  return row;
}

void add_table(Report& report, const Capture& c, bool by_owner, std::string_view id,
               Digits digits) {
  const Kernels all = kernels(c, by_owner);
  Table& table = report.table(id, by_owner ? "Kernels by operator and launch" : "Kernels");
  table.columns = columns(all, by_owner);
  for (const KernelTotal& k : all.rows) table.rows.push_back(row_of(all, k, by_owner, digits));
}

Report recorded(const Capture& c, std::string_view view) {
  Report report;
  if (!c.has_kernels) return report;
  if (view == "kernel" || view == "kernel_op") {
    add_table(report, c, view == "kernel_op", "data", Digits::kRecorded);
    report.figure("metadata/sort", "", "Total Duration (us)");
    return report;
  }
  const Kernels all = kernels(c, false);
  Table& table = report.table("total", "Kernel time");
  table.columns = {{"name", "", Type::kText}, {"value"}};
  if (view == "kernel_pie") {
    table.columns.push_back({"calls"});
    for (const KernelTotal& k : all.rows) table.rows.push_back({k.name, us(k.total_ps), k.calls});
    return report;
  }
  const double used =
      ratio(static_cast<double>(all.tensor_core_ps), static_cast<double>(all.total_ps));
  table.rows.push_back({"Using Tensor Cores", used});
  table.rows.push_back({"Not Using Tensor Cores", 1 - used});
  return report;
}

Result<Report> run(const Session& session, const Options& options) {
  const auto hosts = workers(session, options);
  if (hosts.empty()) return without_capture(session);
  const Capture& c = hosts.front()->pytorch();
  const std::string_view view = options.parameter("view");
  if (!view.empty()) return recorded(c, view);
  Report report;
  if (!c.has_kernels) {
    report.missing.push_back({"GPU kernels", "the capture holds no kernel",
                              "torch.profiler.profile(activities=[ProfilerActivity.CPU, "
                              "ProfilerActivity.CUDA])"});
    return report;
  }
  const Kernels all = kernels(c, false);
  report.figure("kernel_time", "Kernel time", us(all.total_ps) / 1e3, "ms");
  report.figure(
      "tensor_core_time", "On Tensor Cores",
      100 * ratio(static_cast<double>(all.tensor_core_ps), static_cast<double>(all.total_ps)), "%",
      "kernel time");
  add_table(report, c, false, "kernels", Digits::kExact);
  add_table(report, c, true, "by_operator", Digits::kExact);
  report.charts.push_back({"by_kernel", "pie", "kernels", "Name", {"Total Duration (us)"}, ""});
  report.charts.push_back(
      {"tensor_cores", "pie", "kernels", "Tensor Cores Used", {"Total Duration (us)"}, ""});
  return report;
}

std::string what_is_missing(const Session& session) {
  std::string why = missing_capture(session);
  if (!why.empty()) return why;
  return holds(session, Kind::kKernel) ? "" : "no kernel in this capture";
}

}  // namespace

extern const Tool kTorchKernel;
const Tool kTorchKernel{"torch.kernel", "PyTorch kernels", run, what_is_missing};

}  // namespace sonde::capture
