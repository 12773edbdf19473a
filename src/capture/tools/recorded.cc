// The messages, as far as they are shown:
//
//   OverviewPage           2 input analysis, 3 analysis {4 ops {1 name, 2 category, 3 self,
//                          4 cumulative, 5 flop rate, 6 eligible, 7 uses}, 10/11 bits}, 4 advice
//   InputPipelineAnalysis  2 step time, 3 input percent, 4 step details (Any), 5 time of input,
//                          6 input ops, 7 advice, 8 breakdown (Any), 9 hardware
//   TfStatsDatabase        4 with idle time, 5 without; each 1 records
//   KernelStatsDb          1 reports
#include "capture/tools/recorded.h"

#include <fmt/format.h>

#include <array>

#include "base/strings.h"
#include "capture/report/tool.h"
#include "codec/json_read.h"
#include "codec/wire.h"

namespace sonde::capture {
namespace {

// One message's fields by number, the last of equal ones; repeated ones through each().
class Message {
 public:
  explicit Message(Bytes bytes) : bytes_(bytes) {}

  double real(uint32_t number) const {
    const wire::Field f = last(number);
    return f.type == wire::Type::kFixed64   ? f.as_double()
           : f.type == wire::Type::kFixed32 ? static_cast<double>(f.as_float())
                                            : static_cast<double>(f.as_int());
  }
  int64_t integer(uint32_t number) const { return last(number).as_int(); }
  bool boolean(uint32_t number) const { return last(number).as_bool(); }
  std::string text(uint32_t number) const {
    const wire::Field f = last(number);
    return f.is_bytes() ? to_utf8(f.text()) : std::string();
  }
  Message message(uint32_t number) const {
    const wire::Field f = last(number);
    return Message(f.is_bytes() ? f.bytes : Bytes{});
  }
  Message any(uint32_t number) const { return message(number).message(2); }
  template <class Fn>
  void each(uint32_t number, const Fn& fn) const {
    wire::Cursor cursor(bytes_);
    for (wire::Field f; cursor.next(f);) {
      if (f.number == number && f.is_bytes()) fn(Message(f.bytes));
    }
  }
  std::string numbers(uint32_t number) const {  // "1,1,1"
    std::string out;
    wire::Cursor cursor(bytes_);
    for (wire::Field f; cursor.next(f);) {
      if (f.number != number) continue;
      wire::for_each_varint(
          f, [&](uint64_t v) { out += fmt::format("{}{}", out.empty() ? "" : ",", v); });
    }
    return out;
  }
  bool is_whole() const {
    wire::Cursor cursor(bytes_);
    for (wire::Field f; cursor.next(f);) {
    }
    return cursor.ok();
  }
  bool empty() const { return bytes_.empty(); }

 private:
  wire::Field last(uint32_t number) const {
    wire::Field found;
    wire::Cursor cursor(bytes_);
    for (wire::Field f; cursor.next(f);) {
      if (f.number == number) found = f;
    }
    return found;
  }
  Bytes bytes_;
};

Column text_column(std::string_view id, std::string_view label) {
  return {std::string(id), std::string(label), Type::kText};
}
Column number_column(std::string_view id, std::string_view label, std::string_view unit = "") {
  return {std::string(id), std::string(label), Type::kNumber, std::string(unit)};
}
Column bool_column(std::string_view id, std::string_view label) {
  return {std::string(id), std::string(label), Type::kBool};
}

// The parts of a step: name, number in the details, number in the breakdown, name of the average.
struct StepPart {
  std::string_view id, label;
  uint32_t detail, average;
  std::string_view property;
};
constexpr StepPart kParts[] = {
    {"deviceComputeTimeMs", "Device compute", 6, 4, "device_compute_time_ms"},
    {"deviceToDeviceTimeMs", "Device to device", 7, 5, "device_to_device_time_ms"},
    {"deviceCollectivesTimeMs", "Device collectives", 13, 12, "device_collectives_time_ms"},
    {"hostComputeTimeMs", "Host compute", 8, 6, "host_compute_time_ms"},
    {"kernelLaunchTimeMs", "Kernel launch", 9, 7, "kernel_launch_time_ms"},
    {"infeedTimeMs", "Input", 11, 11, "infeed_time_ms"},
    {"outfeedTimeMs", "Output", 5, 3, "outfeed_time_ms"},
    {"compileTimeMs", "Compilation", 10, 8, "compile_time_ms"},
    {"otherTimeMs", "All others", 3, 1, "other_time_ms"},
};

void add_steps(const Message& analysis, Report& report) {
  Table& table = report.table("step_times", "Step times");
  table.columns = {text_column("stepnum", "Step")};
  for (const StepPart& part : kParts)
    table.columns.push_back(number_column(part.id, part.label, "ms"));
  size_t steps = 0;
  analysis.each(4, [&](const Message& any) {
    const Message step = any.message(2);
    std::string name = step.text(14);
    if (name.empty()) name = fmt::format("{}", step.integer(1));
    std::vector<Cell> row{std::move(name)};
    for (const StepPart& part : kParts) {
      const double extra = part.detail == 11 ? step.real(12) : 0;  // the copy to the device
      row.emplace_back(step.real(part.detail) + extra);
    }
    table.rows.push_back(std::move(row));
    ++steps;
  });
  const auto printed = [](double value) { return fmt::format("{:.1f}", value); };
  const Message time = analysis.message(2), parts = analysis.any(8);
  const Message advice = analysis.message(7), bottleneck = advice.any(2);
  table.property("hardware_type", analysis.text(9));
  table.property("steptime_ms_average", printed(time.real(1)));
  table.property("steptime_ms_standard_deviation", printed(time.real(2)));
  table.property("steptime_ms_minimum", printed(time.real(3)));
  table.property("steptime_ms_maximum", printed(time.real(4)));
  for (const StepPart& part : kParts) {
    const Message summary = parts.message(part.average);
    table.property(fmt::format("{}_avg", part.property), printed(summary.real(1)));
    table.property(fmt::format("{}_sdv", part.property), printed(summary.real(2)));
  }
  table.property("input_conclusion", bottleneck.text(2));
  table.property("summary_nextstep", advice.text(3));
  table.property("kernel_launch_bottleneck", bottleneck.text(3));
  table.property("kernel_launch_statement", bottleneck.text(4));
  table.property("all_other_bottleneck", bottleneck.text(5));
  table.property("all_other_statement", bottleneck.text(6));
  report.charts.push_back({"steps", "stack", "step_times", "stepnum", {}, ""});
  for (const StepPart& part : kParts) report.charts.back().y.emplace_back(part.id);
  report.figure("steps", "Steps", static_cast<int64_t>(steps));
  report.figure("average", "Average step time", time.real(1), "ms");
  report.figure("input_percent", "Waiting for input", analysis.message(3).real(1), "%",
                "step time");
}

void add_input_ops(const Message& analysis, Report& report) {
  Table& table = report.table("input_ops", "Input operations");
  table.columns = {text_column("opName", "Operation"),
                   number_column("count", "Count"),
                   number_column("timeInMs", "Total time", "ms"),
                   number_column("timeInPercent", "Total time", "fraction"),
                   number_column("selfTimeInMs", "Self time", "ms"),
                   number_column("selfTimeInPercent", "Self time", "fraction"),
                   text_column("category", "Category")};
  analysis.each(6, [&](const Message& op) {
    table.rows.push_back({op.text(1), op.integer(2), op.real(3), op.real(4) / 100, op.real(5),
                          op.real(6) / 100, op.text(7)});
  });
  const Message time = analysis.message(5);
  constexpr std::array<std::pair<std::string_view, uint32_t>, 5> kTimes = {
      {{"demanded_file_read_us", 1},
       {"advanced_file_read_us", 2},
       {"preprocessing_us", 3},
       {"enqueue_us", 4},
       {"unclassified_nonequeue_us", 5}}};
  for (const auto& [name, number] : kTimes)
    table.property(name, fmt::format("{:.3f}", time.real(number)));
}

void add_overview_ops(const Message& analysis, Report& report) {
  Table& table = report.table("op_stats", "Operations with most device time");
  table.columns = {number_column("selfTimePercent", "Self time", "fraction"),
                   number_column("cumulativeTimePercent", "Cumulative", "fraction"),
                   text_column("category", "Category"),
                   text_column("operation", "Operation"),
                   number_column("flopRate", "FLOP rate", "GFLOP/s"),
                   bool_column("tcEligibility", "Tensor core eligible"),
                   bool_column("tcUtilization", "Uses tensor cores")};
  analysis.each(4, [&](const Message& op) {
    table.rows.push_back(
        {op.real(3), op.real(4), op.text(2), op.text(1), op.real(5), op.boolean(6), op.boolean(7)});
  });
  const auto percent = [](double value) { return fmt::format("{:.1f}%", value); };
  table.property("device_compute_16bit_percent", percent(analysis.real(9)));
  table.property("device_compute_32bit_percent", percent(analysis.real(10)));
}

void add_overview(const Message& page, Report& report) {
  add_overview_ops(page.message(3), report);
  if (const Message input = page.message(2); !input.empty()) add_steps(input, report);
  const Message advice = page.message(4), generic = advice.any(6);
  Table& table = report.table("recommendations", "Recommendations");
  table.columns = {text_column("tip_type", "Kind"), text_column("link", "Tip")};
  constexpr std::pair<uint32_t, std::string_view> kKinds[] = {
      {3, "host"}, {4, "device"}, {5, "doc"}, {7, "faq"}};
  for (const auto& [number, kind] : kKinds) {
    advice.each(number, [&](const Message& tip) {
      table.rows.push_back({std::string(kind), tip.text(1)});
    });
  }
  table.property("bottleneck", advice.text(1));
  table.property("statement", advice.text(2));
  table.property("kernel_launch_bottleneck", generic.text(1));
  table.property("kernel_launch_statement", generic.text(2));
  table.property("all_other_bottleneck", generic.text(3));
  table.property("all_other_statement", generic.text(4));
  table.property("precision_statement", generic.text(5));
}

void add_op_stats(const Message& database, Report& report) {
  constexpr std::pair<uint32_t, std::string_view> kTables[] = {{4, "with_idle"},
                                                               {5, "without_idle"}};
  for (const auto& [number, id] : kTables) {
    Table& table = report.table(id, number == 4 ? "Operations, idle time included" : "Operations");
    table.columns = {number_column("rank", "Rank"),
                     text_column("host_or_device", "Host or device"),
                     text_column("type", "Type"),
                     text_column("operation", "Operation"),
                     number_column("occurrences", "Occurrences"),
                     number_column("total_time", "Total time", "us"),
                     number_column("avg_time", "Average time", "us"),
                     number_column("total_self_time", "Total self time", "us"),
                     number_column("avg_self_time", "Average self time", "us"),
                     number_column("device_total_self_time_percent", "Of device time", "fraction"),
                     number_column("device_cumulative_total_self_time_percent",
                                   "Of device time, cumulative", "fraction"),
                     number_column("host_total_self_time_percent", "Of host time", "fraction"),
                     number_column("host_cumulative_total_self_time_percent",
                                   "Of host time, cumulative", "fraction"),
                     number_column("measured_flop_rate", "FLOP rate", "GFLOP/s"),
                     number_column("measured_memory_bw", "Memory bandwidth", "GiB/s"),
                     number_column("operational_intensity", "FLOP per byte"),
                     text_column("bound_by", "Bound by")};
    database.message(number).each(1, [&](const Message& op) {
      std::vector<Cell> row{op.integer(1), op.text(2), op.text(3), op.text(4), op.integer(5)};
      for (uint32_t n = 6; n <= 16; ++n) row.emplace_back(op.real(n));
      row.emplace_back(op.text(17));
      table.rows.push_back(std::move(row));
    });
  }
}

void add_kernels(const Message& database, Report& report) {
  Table& table = report.table("kernels", "Kernels");
  table.columns = {number_column("rank", "Rank"),
                   text_column("kernel_name", "Kernel"),
                   number_column("registers_per_thread", "Registers a thread"),
                   number_column("shmem_bytes", "Shared memory", "bytes"),
                   text_column("block_dim", "Block"),
                   text_column("grid_dim", "Grid"),
                   number_column("occupancy_pct", "Occupancy", "%"),
                   bool_column("is_op_tensor_core_eligible", "Op can use tensor cores"),
                   bool_column("is_kernel_using_tensor_core", "Kernel uses tensor cores"),
                   text_column("op_name", "Operation"),
                   number_column("occurrences", "Occurrences"),
                   number_column("total_duration_us", "Total time", "us"),
                   number_column("avg_duration_us", "Average time", "us"),
                   number_column("min_duration_us", "Shortest", "us"),
                   number_column("max_duration_us", "Longest", "us")};
  database.each(1, [&](const Message& k) {
    const double total = k.real(7) / 1e3;
    const int64_t count = k.integer(13);
    table.rows.push_back({static_cast<int64_t>(table.rows.size() + 1), k.text(1), k.integer(2),
                          static_cast<int64_t>(k.real(3) + k.real(4)), k.numbers(5), k.numbers(6),
                          k.real(14), k.boolean(11), k.boolean(10), k.text(12), count, total,
                          count > 0 ? total / static_cast<double>(count) : 0, k.real(8) / 1e3,
                          k.real(9) / 1e3});
  });
}

// --- the JSON forms: tables as Google's charts take them, or a document ---

Cell cell_of(const JsonValue& cell) {
  const JsonValue* value = cell.is_object() ? cell.find("v") : &cell;
  if (!value || value->is_null()) return {};
  if (value->is_bool()) return value->boolean;
  if (const auto number = value->is_number() ? value->number() : std::nullopt) return *number;
  return value->is_string() ? value->text : to_text(*value);
}

bool add_chart_table(const JsonValue& json, size_t index, Report& report) {
  const JsonValue* columns = json.find("cols");
  if (!columns || !columns->is_array()) return false;
  Table& table = report.table(fmt::format("table_{}", index), fmt::format("Table {}", index + 1));
  for (const JsonValue& c : columns->items) {
    const JsonValue *id = c.find("id"), *label = c.find("label"), *type = c.find("type");
    Column column;
    column.id = id ? id->text : fmt::format("column_{}", table.columns.size());
    column.label = label && !label->text.empty() ? label->text : column.id;
    column.type = type && type->text == "number"    ? Type::kNumber
                  : type && type->text == "boolean" ? Type::kBool
                                                    : Type::kText;
    table.columns.push_back(std::move(column));
  }
  if (const JsonValue* rows = json.find("rows")) {
    for (const JsonValue& row : rows->items) {
      std::vector<Cell> cells;
      if (const JsonValue* all = row.find("c")) {
        for (const JsonValue& cell : all->items) cells.push_back(cell_of(cell));
      }
      cells.resize(table.columns.size());
      table.rows.push_back(std::move(cells));
    }
  }
  if (const JsonValue* properties = json.find("p")) {
    for (const auto& [key, value] : properties->members)
      table.property(key, value.is_string() ? value.text : to_text(value));
  }
  return true;
}

Result<void> add_json(std::string_view text, Report& report) {
  SONDE_TRY(const json, read_json(text));
  size_t tables = 0;
  if (json.is_array()) {
    for (const JsonValue& item : json.items) tables += add_chart_table(item, tables, report);
  } else {
    tables += add_chart_table(json, 0, report);
  }
  if (tables != 0) return {};
  report.text = std::string(text);
  report.text_type = "application/json";
  return {};
}

Result<void> add_file(const RecordedFile& file, Report& report) {
  if (is_json(file)) return add_json(file.content, report);
  const Message message(as_bytes(file.content));
  if (!message.is_whole()) return fail(Code::kCorrupt, file.name + ": is cut off or damaged");
  if (file.tool == "overview_page") {
    add_overview(message, report);
  } else if (file.tool == "input_pipeline_analyzer") {
    add_steps(message, report);
    add_input_ops(message, report);
  } else if (file.tool == "framework_op_stats") {
    add_op_stats(message, report);
  } else if (file.tool == "kernel_stats") {
    add_kernels(message, report);
  } else {
    return fail(Code::kUnsupported, file.name + ": a recorded result of an unknown form");
  }
  return {};
}

}  // namespace

bool is_json(const RecordedFile& file) {
  const std::string_view start = trimmed(std::string_view(file.content).substr(0, 64));
  return start.starts_with('{') || start.starts_with('[');
}

const RecordedFile* recorded_file(const std::vector<RecordedFile>& files, std::string_view tool,
                                  std::string_view host) {
  const Tool* known = find_tool(tool);
  const std::string_view id = known ? known->id : tool;
  for (const RecordedFile& file : files) {
    if (file.tool == id && (host.empty() || host == "ALL_HOSTS" || file.host == host)) return &file;
  }
  return nullptr;
}

Result<Report> recorded_report(const std::vector<RecordedFile>& files, std::string_view tool,
                               std::string_view host) {
  const RecordedFile* file = recorded_file(files, tool, host);
  if (!file)
    return fail(Code::kNotFound,
                fmt::format("the session holds no recorded result of {}, and no capture", tool));
  const Tool* known = find_tool(tool);
  Report report;
  report.tool = file->tool;
  report.title = fmt::format("{} (as recorded)", known ? known->title : file->tool);
  if (auto added = add_file(*file, report); !added) return fail(std::move(added).error());
  report.diagnostics.push_back(
      {"info", fmt::format("these numbers were stored by the program that captured ({}) and are "
                           "shown as they are; there is no capture to compute them from",
                           file->name)});
  return report;
}

}  // namespace sonde::capture
