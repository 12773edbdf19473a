// Operators by host and device time: by name, by name and input shapes, and where they are called
// from.
#include <algorithm>

#include "capture/analysis/pytorch/operators.h"
#include "capture/analysis/pytorch/views.h"

namespace sonde::capture {
namespace {

using namespace pytorch;

std::vector<Column> columns(GroupBy by, bool has_device) {
  std::vector<Column> out{{"name", "Operator", Type::kText, "", "", "trace_viewer"}};
  if (by == GroupBy::kNameAndShapes) out.push_back({"input_shape", "Input shapes", Type::kText});
  out.push_back({"calls", "Calls"});
  if (has_device) {
    out.push_back({"device_self_duration", "Device self", Type::kNumber, "us"});
    out.push_back({"device_total_duration", "Device total", Type::kNumber, "us"});
  }
  out.push_back({"host_self_duration", "Host self", Type::kNumber, "us"});
  out.push_back({"host_total_duration", "Host total", Type::kNumber, "us"});
  if (has_device) {
    out.push_back({"tc_eligible", "Could use Tensor Cores", Type::kText});
    out.push_back({"tc_self_ratio", "On Tensor Cores, self", Type::kNumber, "%", "device self"});
    out.push_back({"tc_total_ratio", "On Tensor Cores", Type::kNumber, "%", "device total"});
    out.push_back({"host_launch_duration", "Runtime calls", Type::kNumber, "us"});
  }
  out.push_back({"host_outermost_duration", "Host total, recursion once", Type::kNumber, "us"});
  if (by == GroupBy::kNameAndStack) out.push_back({"call_stack", "Call stack", Type::kText});
  return out;
}

// Longest self time first, on the device where there is one.
void sort(std::vector<OperatorTotal>& totals, bool has_device) {
  std::stable_sort(
      totals.begin(), totals.end(), [&](const OperatorTotal& a, const OperatorTotal& b) {
        return has_device ? a.self_device_ps > b.self_device_ps : a.self_host_ps > b.self_host_ps;
      });
}

std::vector<Cell> row_of(const OperatorTotal& op, GroupBy by, bool has_device) {
  std::vector<Cell> row{std::string(op.name)};
  if (by == GroupBy::kNameAndShapes) row.emplace_back(op.shapes);
  row.emplace_back(op.calls);
  if (has_device) {
    row.emplace_back(us(op.self_device_ps));
    row.emplace_back(us(op.device_ps));
  }
  row.emplace_back(us(op.self_host_ps));
  row.emplace_back(us(op.host_ps));
  if (has_device) {
    row.emplace_back(yes_no(op.eligible));
    row.emplace_back(100 * op.self_ratio());
    row.emplace_back(100 * op.total_ratio());
    row.emplace_back(us(op.launch_ps));
  }
  row.emplace_back(us(op.outermost_ps));
  if (by == GroupBy::kNameAndStack) row.emplace_back(op.stack);
  return row;
}

bool has_device(const Capture& c) { return !c.device.empty(); }

void add_table(Report& report, const Capture& c, GroupBy by, std::string_view id,
               std::string_view title) {
  auto totals = operator_totals(c, by);
  sort(totals, has_device(c));
  Table& table = report.table(id, title);
  table.columns = columns(by, has_device(c));
  for (const OperatorTotal& op : totals) {
    if (by == GroupBy::kNameAndStack && op.stack.empty()) continue;
    table.rows.push_back(row_of(op, by, has_device(c)));
  }
}

// --- recorded views ---

std::vector<Cell> recorded_row(const OperatorTotal& op, GroupBy by, bool has_device) {
  std::vector<Cell> row{std::string(op.name)};
  if (by == GroupBy::kNameAndShapes) row.emplace_back(op.shapes);
  row.emplace_back(op.calls);
  if (has_device) {
    row.emplace_back(whole(us(op.self_device_ps)));
    row.emplace_back(whole(us(op.device_ps)));
  }
  row.emplace_back(whole(us(op.self_host_ps)));
  row.emplace_back(whole(us(op.host_ps)));
  row.emplace_back(yes_no(op.eligible));
  row.emplace_back(rounded(100 * op.self_ratio(), 2));
  row.emplace_back(rounded(100 * op.total_ratio(), 2));
  if (by == GroupBy::kNameAndStack) {
    row.emplace_back(op.stack);
  } else {
    row.emplace_back(op.has_stack);
  }
  row.emplace_back(us(op.launch_ps));
  row.emplace_back(us(op.self_host_ps));
  return row;
}

std::vector<Column> recorded_columns(GroupBy by, bool has_device) {
  std::vector<Column> out{{"name", "", Type::kText}};
  if (by == GroupBy::kNameAndShapes) out.push_back({"input_shape", "", Type::kText});
  out.push_back({"calls"});
  if (has_device) {
    out.push_back({"device_self_duration"});
    out.push_back({"device_total_duration"});
  }
  for (const char* id : {"host_self_duration", "host_total_duration", "tc_eligible",
                         "tc_self_ratio", "tc_total_ratio"})
    out.push_back({id});
  out.push_back({by == GroupBy::kNameAndStack ? "call_stack" : "has_call_stack"});
  out.push_back({"host_launch_us"});
  out.push_back({"host_self_us"});
  return out;
}

Report recorded_table(const Capture& c, GroupBy by) {
  Report report;
  const bool device = has_device(c);
  auto totals = operator_totals(c, by);
  sort(totals, device);
  Table& table = report.table("data", "Operators");
  table.columns = recorded_columns(by, device);
  for (const OperatorTotal& op : totals) table.rows.push_back(recorded_row(op, by, device));
  report.figure("metadata/sort", "", device ? "device_self_duration" : "host_self_duration");
  return report;
}

Report recorded_stacks(const Capture& c) {
  Report report;
  auto totals = operator_totals(c, GroupBy::kNameAndStack);
  std::vector<std::string_view> names;
  for (const OperatorTotal& op : totals) {
    if (op.stack.empty()) continue;
    if (std::find(names.begin(), names.end(), op.name) == names.end()) names.push_back(op.name);
  }
  sort(totals, has_device(c));
  for (const std::string_view name : names) {
    Table& table = report.table(std::string(name) + "/data", name);
    table.columns = recorded_columns(GroupBy::kNameAndStack, has_device(c));
    for (const OperatorTotal& op : totals) {
      if (op.name == name && !op.stack.empty())
        table.rows.push_back(recorded_row(op, GroupBy::kNameAndStack, has_device(c)));
    }
    report.figure(std::string(name) + "/metadata/sort", "",
                  has_device(c) ? "device_self_duration" : "host_self_duration");
  }
  return report;
}

Report recorded_pies(const Capture& c) {
  Report report;
  const auto totals = operator_totals(c, GroupBy::kName);
  struct Pie {
    const char* id;
    const char* title;
    int64_t OperatorTotal::* member;
  };
  constexpr Pie kPies[] = {
      {"device_total_time", "Device Total Time (us)", &OperatorTotal::device_ps},
      {"device_self_time", "Device Self Time (us)", &OperatorTotal::self_device_ps},
      {"host_total_time", "Host Total Time (us)", &OperatorTotal::host_ps},
      {"host_self_time", "Host Self Time (us)", &OperatorTotal::self_host_ps}};
  for (const Pie& pie : kPies) {
    std::vector<const OperatorTotal*> order;
    for (const OperatorTotal& op : totals) {
      if (op.*pie.member > 0) order.push_back(&op);
    }
    if (order.empty()) {
      report.figure(pie.id, "", Cell{});
      continue;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](const auto* a, const auto* b) { return a->*pie.member > b->*pie.member; });
    Table& table = report.table(pie.id, pie.title);
    table.columns = {{"name", "", Type::kText}, {"value"}, {"calls"}, {"host_launch_us"}};
    for (const OperatorTotal* op : order)
      table.rows.push_back(
          {std::string(op->name), us(op->*pie.member), op->calls, us(op->launch_ps)});
    report.figure(std::string(pie.id) + "/title", "", pie.title);
  }
  return report;
}

Result<Report> run(const Session& session, const Options& options) {
  const auto hosts = workers(session, options);
  if (hosts.empty()) return without_capture(session);
  const Capture& c = hosts.front()->pytorch();
  const std::string_view view = options.parameter("view");
  if (view == "operator") return recorded_table(c, GroupBy::kName);
  if (view == "operator_input") return recorded_table(c, GroupBy::kNameAndShapes);
  if (view == "operator_stack") return recorded_stacks(c);
  if (view == "operator_pie") return recorded_pies(c);
  Report report;
  add_table(report, c, GroupBy::kName, "operators", "Operators");
  add_table(report, c, GroupBy::kNameAndShapes, "by_input", "Operators by input shapes");
  add_table(report, c, GroupBy::kNameAndStack, "by_stack", "Operators by call stack");
  if (report.tables.back().rows.empty()) {
    report.tables.pop_back();
    report.diagnostics.push_back(
        {"info",
         "no call stacks: profile with torch.profiler.profile(with_stack=True) to see where "
         "operators are called"});
  }
  const std::string y = has_device(c) ? "device_self_duration" : "host_self_duration";
  report.charts.push_back({"self_time", "pie", "operators", "name", {y}, ""});
  return report;
}

}  // namespace

extern const Tool kTorchOperator;
const Tool kTorchOperator{"torch.operator", "PyTorch operators", run, missing_capture};

}  // namespace sonde::capture
