#include "capture/analysis/session_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sonde::capture {
namespace {

constexpr double kPsPerMs = 1e9;

double ms(int64_t ps) { return static_cast<double>(ps) / kPsPerMs; }

struct Interval {
  int64_t begin, end;
};

// Total overlap of two step sequences when b is shifted by k against a.
int64_t overlap(const std::vector<Interval>& a, const std::vector<Interval>& b, int64_t k) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const int64_t j = static_cast<int64_t>(i) + k;
    if (j < 0 || j >= static_cast<int64_t>(b.size())) continue;
    const Interval& other = b[static_cast<size_t>(j)];
    sum += std::max<int64_t>(0, std::min(a[i].end, other.end) - std::max(a[i].begin, other.begin));
  }
  return sum;
}

// The shift with the largest overlap; of equal ones 0, 1, 2 … then -1, -2 …
int64_t best_shift(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  int64_t best = 0, most = -1;
  const auto consider = [&](int64_t k) {
    const int64_t sum = overlap(a, b, k);
    if (sum > most) most = sum, best = k;
  };
  for (int64_t k = 0; k < static_cast<int64_t>(b.size()); ++k) consider(k);
  for (int64_t k = -1; k > -static_cast<int64_t>(a.size()); --k) consider(k);
  return best;
}

std::vector<std::vector<Interval>> intervals_of(const std::vector<const HostAnalysis*>& hosts) {
  // Each host counts from its own start; where all say when that was, the clocks are comparable.
  int64_t first = INT64_MAX, last = INT64_MIN, longest_ns = 0;
  bool absolute = true;
  for (const HostAnalysis* host : hosts) {
    const auto start = host->trace().start_ns();
    absolute &= start.has_value();
    if (!start) continue;
    first = std::min(first, *start);
    last = std::max(last, *start);
    longest_ns = std::max(longest_ns, host->trace().last_end().value / 1000);
  }
  absolute = absolute && last - first <= longest_ns;
  std::vector<std::vector<Interval>> result;
  for (const HostAnalysis* host : hosts) {
    const int64_t shift = absolute ? (*host->trace().start_ns() - first) * 1000 : 0;
    std::vector<Interval> list;
    for (const Step& step : host->steps().steps)
      list.push_back({step.begin + shift, step.end + shift});
    result.push_back(std::move(list));
  }
  return result;
}

}  // namespace

const Step& SessionStep::slowest() const {
  const Step* best = by_host.front();
  for (const Step* step : by_host) {
    if (step->duration() > best->duration()) best = step;
  }
  return *best;
}

double SessionSteps::total_ms() const {
  double sum = 0;
  for (const SessionStep& step : steps) sum += ms(step.duration());
  return sum;
}

double SessionSteps::percent(Part part) const {
  const double total = total_ms();
  double sum = 0;
  for (const SessionStep& step : steps) sum += ms(step.slowest().part(part));
  return total == 0 ? 0 : 100.0 * sum / total;
}

SessionSteps session_steps(const std::vector<const HostAnalysis*>& all) {
  SessionSteps result;
  bool any_device = false;
  for (const HostAnalysis* host : all) any_device |= host->words().has_device();
  for (const HostAnalysis* host : all) {
    if (any_device && !host->words().has_device()) continue;  // a coordinator
    if (!host->steps().steps.empty()) result.hosts.push_back(host);
  }
  if (result.hosts.empty()) return result;
  const auto intervals = intervals_of(result.hosts);
  size_t chief = 0;
  for (size_t h = 1; h < intervals.size(); ++h) {
    const auto length = [&](size_t i) {
      return intervals[i].back().end - intervals[i].front().begin;
    };
    if (length(h) < length(chief)) chief = h;
  }
  int64_t low = 0, high = static_cast<int64_t>(intervals[chief].size());
  std::vector<int64_t> shifts;
  for (size_t h = 0; h < intervals.size(); ++h) {
    const int64_t k = h == chief ? 0 : best_shift(intervals[chief], intervals[h]);
    shifts.push_back(k);
    low = std::max(low, -k);
    high = std::min(high, static_cast<int64_t>(intervals[h].size()) - k);
  }
  result.empty_intersection = low >= high;
  for (int64_t i = low; i < high; ++i) {
    SessionStep step;
    for (size_t h = 0; h < result.hosts.size(); ++h)
      step.by_host.push_back(&result.hosts[h]->steps().steps[static_cast<size_t>(i + shifts[h])]);
    step.name = step.by_host.front()->name;
    result.steps.push_back(std::move(step));
  }
  return result;
}

Statistics statistics(const std::vector<double>& values) {
  Statistics s;
  if (values.empty()) return s;
  s.minimum = *std::min_element(values.begin(), values.end());
  s.maximum = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (const double v : values) sum += v;
  s.average = sum / static_cast<double>(values.size());
  if (values.size() > 1) {
    double squares = 0;
    for (const double v : values) squares += (v - s.average) * (v - s.average);
    s.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  }
  return s;
}

bool uses_tf_data(const std::vector<const HostAnalysis*>& hosts) {
  for (const HostAnalysis* host : hosts) {
    for (const LabelInfo& label : host->words().labels) {
      if (label.op.category == OpCategory::kTfData) return true;
    }
  }
  return false;
}

Bottleneck classify(const SessionSteps& steps, bool tf_data) {
  Bottleneck b;
  int64_t low = 0, compute = 0;
  for (const SessionStep& step : steps.steps) {
    const Step& s = step.slowest();
    low += s.segments[static_cast<size_t>(Work::kCompute16)];
    compute += s.segments[static_cast<size_t>(Work::kCompute16)] +
               s.segments[static_cast<size_t>(Work::kCompute32)];
  }
  b.has_compute = compute > 0;
  b.low_precision_percent =
      compute == 0 ? 0 : 100.0 * static_cast<double>(low) / static_cast<double>(compute);
  if (steps.total_ms() == 0) {
    b.statement = "No step was found in this capture, so the bottleneck cannot be told.";
    b.next_step = "Mark the steps of the training loop and capture again.";
    return b;
  }
  b.input_percent = steps.percent(Part::kInput);
  b.launch_percent = steps.percent(Part::kLaunch);
  b.other_percent = steps.percent(Part::kOther);
  b.collectives_percent = steps.percent(Part::kCollectives);
  bool other_said = false;
  if (b.input_percent >= 20) {
    b.where = "host";
    b.statement = fmt::format(
        "The program is highly input-bound: {:.1f}% of the step time waits for input. Shorten the "
        "input first.",
        b.input_percent);
  } else if (b.input_percent >= 5) {
    b.where = "both";
    b.statement = fmt::format(
        "The program is moderately input-bound: {:.1f}% of the step time waits for input. Shorten "
        "both the input and the rest of the step.",
        b.input_percent);
  } else if (b.other_percent >= 3) {
    b.where = "both";
    other_said = true;
    b.statement = fmt::format(
        "The program may be input-bound: {:.1f}% of the step time is in none of the known parts "
        "(file access or Python, for example).",
        b.other_percent);
  } else {
    b.where = "device";
    b.statement = fmt::format(
        "The program is not input-bound: only {:.1f}% of the step time waits for input.",
        b.input_percent);
  }
  if (b.where == "device") {
    b.next_step = "The rest of this page can be skipped.";
  } else {
    b.next_step = tf_data ? "See below which input operation takes the time."
                          : "See the findings for what takes the time.";
  }
  const auto level = [](double percent) {
    return std::string(percent >= 15 ? "high" : percent >= 3 ? "moderate" : "no");
  };
  b.launch = level(b.launch_percent);
  if (b.launch != "no") {
    b.launch_statement =
        fmt::format("{:.1f}% of the step time is spent on launching kernels.{}", b.launch_percent,
                    tf_data ? " tf.data may be competing for the CPU: try "
                              "TF_GPU_THREAD_MODE=gpu_private."
                            : "");
  }
  b.other = other_said ? "no" : level(b.other_percent);
  if (b.other != "no") {
    b.other_statement = fmt::format(
        "{:.1f}% of the step time is in none of the known parts; Python overhead is likely.",
        b.other_percent);
  }
  b.collectives = level(b.collectives_percent);
  if (b.collectives != "no") {
    b.collectives_statement =
        fmt::format("{:.1f}% of the step time is spent on communication between devices.",
                    b.collectives_percent);
  }
  if (b.has_compute && b.low_precision_percent < 10) {
    b.precision_statement =
        fmt::format("Only {:.1f}% of the device computation runs in 16 bits or fewer.",
                    b.low_precision_percent);
  }
  return b;
}

namespace {

struct PartColumn {
  Part part;
  std::string_view column, label, property;
};
constexpr PartColumn kColumns[] = {
    {Part::kDeviceCompute, "deviceComputeTimeMs", "Device compute", "device_compute"},
    {Part::kDeviceToDevice, "deviceToDeviceTimeMs", "Device to device", "device_to_device"},
    {Part::kCollectives, "deviceCollectivesTimeMs", "Device collectives", "device_collectives"},
    {Part::kHostCompute, "hostComputeTimeMs", "Host compute", "host_compute"},
    {Part::kLaunch, "kernelLaunchTimeMs", "Kernel launch", "kernel_launch"},
    {Part::kInput, "infeedTimeMs", "Input", "infeed"},
    {Part::kOutput, "outfeedTimeMs", "Output", "outfeed"},
    {Part::kCompile, "compileTimeMs", "Compilation", "compile"},
    {Part::kOther, "otherTimeMs", "All others", "other"},
};

std::string tooltip_of(const SessionStep& step) {
  std::string text = fmt::format("Step {}, {:.2f} ms", step.name, ms(step.duration()));
  for (size_t i = std::size(kColumns); i-- > 0;) {
    text += fmt::format("\n{}: {:.2f} ms", kColumns[i].label,
                        ms(step.slowest().part(kColumns[i].part)));
  }
  return text;
}

}  // namespace

// TPU steps are broken down by what the slowest core does, in xprof's columns.
static Table tpu_step_table(const SessionSteps& steps, const Bottleneck& b) {
  Table table{"step_times", "Step times"};
  table.columns = {{"stepnum", "Step", Type::kText}};
  const std::pair<const char*, const char*> columns[] = {
      {"tcComputeTimeMs", "Computing"},
      {"scv0ComputeTimeMs", "SparseCore computing"},
      {"scv0InfeedTimeMs", "SparseCore input"},
      {"tcInfeedTimeMs", "Input"},
      {"tcOutfeedTimeMs", "Output"},
      {"tcIdleTimeMs", "Idle"},
      {"hostTransferTimeMs", "Transfer with the host"}};
  for (const auto& [id, label] : columns) table.columns.push_back({id, label, Type::kNumber, "ms"});
  table.columns.push_back({"tooltip", "Details", Type::kText});
  for (const char* id : {"infeedPercentAverage", "infeedPercentMin", "infeedPercentMax"})
    table.columns.push_back({id, "Waiting for input", Type::kNumber, "%"});
  std::vector<double> times, compute, infeed, outfeed, idle, transfer, shares;
  for (const SessionStep& step : steps.steps) {
    const Step& s = step.slowest();
    const auto of = [&](Work work) { return ms(s.work[static_cast<size_t>(work)]); };
    times.push_back(ms(s.duration()));
    infeed.push_back(of(Work::kHostToDevice) + of(Work::kWaitInput));
    outfeed.push_back(of(Work::kDeviceToHost));
    transfer.push_back(of(Work::kHostToHost));
    idle.push_back(of(Work::kUnknown));
    compute.push_back(times.back() - infeed.back() - outfeed.back() - transfer.back() -
                      idle.back());
    const double share = 100 * infeed.back() / times.back();  // no step is empty
    shares.push_back(share);
    table.rows.push_back({step.name, compute.back(), 0.0, 0.0, infeed.back(), outfeed.back(),
                          idle.back(), transfer.back(), tooltip_of(step), share, share, share});
  }
  const auto digits = [&](std::string_view id, double value) {
    table.property(id, fmt::format("{:.2f}", value));
  };
  const Statistics all = statistics(times), input = statistics(shares);
  table.property("hardware_type", "TPU");
  digits("steptime_ms_average", all.average);
  digits("steptime_ms_standard_deviation", all.deviation);
  digits("steptime_ms_minimum", all.minimum);
  digits("steptime_ms_maximum", all.maximum);
  const double idle_average = statistics(idle).average;
  digits("active_steptime_ms_average", all.average - idle_average);
  digits("tc_compute_ms_average", statistics(compute).average);
  digits("tc_active_ms_average", all.average - idle_average);
  digits("tc_infeed_ms_average", statistics(infeed).average);
  digits("tc_outfeed_ms_average", statistics(outfeed).average);
  digits("tc_idle_ms_average", idle_average);
  digits("host_transfer_ms_average", statistics(transfer).average);
  digits("scv0_compute_ms_average", 0);
  digits("scv0_infeed_ms_average", 0);
  table.property("infeed_percent_average", fmt::format("{:.1f}", input.average));
  table.property("infeed_percent_standard_deviation", fmt::format("{:.1f}", input.deviation));
  table.property("infeed_percent_minimum", fmt::format("{:.1f}", input.minimum));
  table.property("infeed_percent_maximum", fmt::format("{:.1f}", input.maximum));
  table.property("input_conclusion", b.statement);
  table.property("output_conclusion", "");
  table.property("summary_nextstep", b.next_step);
  return table;
}

Table step_table(const SessionSteps& steps, const Bottleneck& b, std::string_view hardware) {
  if (hardware == "TPU") return tpu_step_table(steps, b);
  Table table{"step_times", "Step times"};
  table.columns.push_back({"stepnum", "Step", Type::kText});
  for (const PartColumn& c : kColumns)
    table.columns.push_back({std::string(c.column), std::string(c.label), Type::kNumber, "ms"});
  table.columns.push_back({"tooltip", "Details", Type::kText});
  table.columns.push_back({"stepTimeMs", "Step time", Type::kNumber, "ms"});
  Column edge{"incomplete", "Possibly incomplete", Type::kBool};
  edge.own = true;
  table.columns.push_back(edge);
  std::vector<double> times;
  std::vector<std::vector<double>> parts(std::size(kColumns));
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    const SessionStep& step = steps.steps[i];
    std::vector<Cell> row{step.name};
    for (size_t c = 0; c < std::size(kColumns); ++c) {
      const double value = ms(step.slowest().part(kColumns[c].part));
      parts[c].push_back(value);
      row.emplace_back(value);
    }
    row.emplace_back(tooltip_of(step));
    times.push_back(ms(step.duration()));
    row.emplace_back(times.back());
    row.emplace_back(steps.steps.size() > 5 && (i == 0 || i + 1 == steps.steps.size()));
    table.rows.push_back(std::move(row));
  }
  const auto one_digit = [](double v) { return fmt::format("{:.1f}", v); };
  table.property("hardware_type", std::string(hardware));
  const Statistics all = statistics(times);
  table.property("steptime_ms_average", one_digit(all.average));
  table.property("steptime_ms_standard_deviation", one_digit(all.deviation));
  table.property("steptime_ms_minimum", one_digit(all.minimum));
  table.property("steptime_ms_maximum", one_digit(all.maximum));
  for (size_t c = 0; c < std::size(kColumns); ++c) {
    const Statistics s = statistics(parts[c]);
    table.property(fmt::format("{}_time_ms_avg", kColumns[c].property), one_digit(s.average));
    table.property(fmt::format("{}_time_ms_sdv", kColumns[c].property), one_digit(s.deviation));
  }
  table.property("input_conclusion", b.statement);
  table.property("summary_nextstep", b.next_step);
  std::string ids = "stepnum";
  for (const PartColumn& c : kColumns) ids += fmt::format(",{}", c.column);
  table.property("step_time_graph_column_ids", ids + ",tooltip");
  table.property("kernel_launch_bottleneck", b.launch);
  table.property("kernel_launch_statement", b.launch_statement);
  table.property("all_other_bottleneck", b.other);
  table.property("all_other_statement", b.other_statement);
  table.property("device_collectives_bottleneck", b.collectives);
  table.property("device_collectives_statement", b.collectives_statement);
  return table;
}

}  // namespace sonde::capture
