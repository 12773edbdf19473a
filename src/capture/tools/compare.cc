#include "capture/tools/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "capture/analysis/loop/loop.h"
#include "capture/analysis/merged.h"
#include "capture/analysis/pytorch/capture.h"
#include "capture/analysis/session_steps.h"
#include "capture/tools/compare_noise.h"

namespace sonde::capture {
namespace {

struct Side {
  std::vector<const HostAnalysis*> hosts;
  SessionSteps steps;
  double step_ms = 0;     // as marked
  double period_ms = 0;   // from one step's start to the next; 0: not known
  double between_ms = 0;  // of it, after the step
  size_t count = 0;
  std::vector<double> steps_ms, periods_ms;  // one by one
  std::array<double, kPartCount> part_ms{};
};

Side side_of(const Session& session) {
  Side side;
  side.hosts = chosen_hosts(session, {});
  side.steps = session_steps(side.hosts);
  side.count = side.steps.steps.size();
  // A capture of PyTorch without marks is shown as one step, which is none.
  for (const HostAnalysis* host : side.hosts) {
    if (host->is_pytorch() && !host->pytorch().steps_marked && host->loop().periods.empty())
      side.count = 0;
  }
  if (side.count == 0) return side;
  for (const HostAnalysis* host : side.hosts) {
    const loop::Loop& loop = host->loop();
    if (loop.periods.size() < 2) continue;
    const double mean = loop::rhythm_of(loop).mean_ms;
    if (mean <= side.period_ms) continue;
    side.period_ms = mean;
    side.between_ms = 0;
    side.periods_ms.clear();
    for (const loop::Period& p : loop.periods)
      side.periods_ms.push_back(static_cast<double>(p.length()) / 1e9);
    for (const loop::Period& p : loop.periods)
      side.between_ms +=
          static_cast<double>(p.between_ps) / 1e9 / static_cast<double>(loop.periods.size());
  }
  const double n = static_cast<double>(side.count);
  side.step_ms = side.steps.total_ms() / n;
  for (const SessionStep& step : side.steps.steps)
    side.steps_ms.push_back(static_cast<double>(step.duration()) / 1e9);
  for (size_t p = 0; p < kPartCount; ++p) {
    for (const SessionStep& step : side.steps.steps)
      side.part_ms[p] += static_cast<double>(step.slowest().part(static_cast<Part>(p))) / 1e9 / n;
  }
  return side;
}

struct Pair {
  double before = 0, now = 0;
  double change() const { return now - before; }
};

Table delta_table(std::string id, std::string title, const std::string& what,
                  const std::map<std::string, Pair>& rows) {
  Table table{std::move(id), std::move(title)};
  table.columns = {{"name", what, Type::kText},
                   {"before", "Before", Type::kNumber, "ms"},
                   {"now", "Now", Type::kNumber, "ms"},
                   {"change", "Change", Type::kNumber, "ms"},
                   {"change_percent", "Change", Type::kNumber, "%", "before"}};
  std::vector<std::pair<std::string, Pair>> order(rows.begin(), rows.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::abs(a.second.change()) > std::abs(b.second.change());
  });
  for (const auto& [name, pair] : order) {
    table.rows.push_back({name, pair.before, pair.now, pair.change(),
                          pair.before == 0 ? Cell{} : Cell{100 * pair.change() / pair.before}});
  }
  return table;
}

// Per step where both have steps, else in total.
double scale(const Side& side, bool per_step) {
  return per_step ? 1.0 / static_cast<double>(side.count) : 1.0;
}

// Where both loops are known a step lasts until the next begins, on both sides.
bool from_start_to_start(Side& before, Side& now) {
  if (before.period_ms == 0 || now.period_ms == 0) return false;
  before.step_ms = before.period_ms;
  now.step_ms = now.period_ms;
  before.steps_ms = before.periods_ms;
  now.steps_ms = now.periods_ms;
  return true;
}

}  // namespace

Report compare(const Session& before_session, const Session& now_session) {
  Side before = side_of(before_session), now = side_of(now_session);
  const bool whole = from_start_to_start(before, now);
  const bool per_step = before.count > 0 && now.count > 0;
  Report report;
  report.tool = "compare";
  report.title = "Comparison";
  report.figure("step_before", "Step time before", before.step_ms, "ms");
  report.figure("step_now", "Step time now", now.step_ms, "ms");
  if (per_step) {
    report.figure("change", "Change", 100 * (now.step_ms - before.step_ms) / before.step_ms, "%",
                  "before");
    const double factor = ratio(before.step_ms, now.step_ms);
    report.figure("speedup", factor >= 1 ? "Times as fast" : "Speed, as a factor", factor);
  }
  const Change noise = change_of(before.steps_ms, now.steps_ms);
  if (per_step && noise.has_interval) {
    report.figure("change_low", "Change, low end", 100 * noise.low, "%", "before");
    report.figure("change_high", "Change, high end", 100 * noise.high, "%", "before");
  }
  std::map<std::string, Pair> parts, host_ops, device_ops, kernels;
  for (size_t p = 0; p < kPartCount; ++p) {
    const std::string name(part_name(static_cast<Part>(p)));
    parts[name] = {before.part_ms[p], now.part_ms[p]};
  }
  if (whole) parts["Between steps"] = {before.between_ms, now.between_ms};
  const auto fill = [&](const Side& side, double Pair::* member) {
    const double factor = scale(side, per_step);
    for (const HostOp& op : merged_host_ops(side.hosts).ops)
      host_ops[op.name].*member += micros(op.self_ps) / 1e3 * factor;
    const DeviceOps device = merged_device_ops(side.hosts);
    if (!device.on_host) {
      for (const FrameworkOp& op : framework_ops(device))
        device_ops[op.name].*member += micros(op.self_ps) / 1e3 * factor;
    }
    for (const Kernel& k : merged_kernels(side.hosts))
      kernels[k.name].*member += static_cast<double>(k.total_ns) / 1e6 * factor;
  };
  fill(before, &Pair::before);
  fill(now, &Pair::now);
  report.tables.push_back(
      delta_table("parts", per_step ? "Parts of a step" : "Parts", "Part", parts));
  report.tables.push_back(delta_table(
      "device_ops", per_step ? "Device ops, per step" : "Device ops", "Operation", device_ops));
  report.tables.push_back(
      delta_table("kernels", per_step ? "Kernels, per step" : "Kernels", "Kernel", kernels));
  report.tables.push_back(
      delta_table("host_ops", per_step ? "Host ops, thread time per step" : "Host ops, thread time",
                  "Operation", host_ops));
  report.charts.push_back({"parts", "pairs", "parts", "name", {"before", "now"}, ""});
  if (per_step) {
    Finding f;
    f.id = "COMPARE";
    const auto largest =
        std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
          return std::abs(a.second.change()) < std::abs(b.second.change());
        });
    const double change = now.step_ms - before.step_ms;
    f.severity =
        change > 0.05 * before.step_ms && !noise.is_noise() ? Severity::kMajor : Severity::kInfo;
    const std::string interval =
        noise.has_interval
            ? fmt::format(", 95% interval {:+.1f} to {:+.1f}%", 100 * noise.low, 100 * noise.high)
            : std::string(", too few steps to know the noise");
    f.text = fmt::format(
        "{} a step takes {:.2f} ms instead of {:.2f} ms ({:+.1f}%{}; {} steps against {})",
        noise.is_noise()                       ? "No difference beyond noise:"
        : noise.has_interval && noise.low > 0  ? "Slower:"
        : noise.has_interval && noise.high < 0 ? "Faster:"
                                               : "Compared:",
        now.step_ms, before.step_ms, 100 * change / before.step_ms, interval, now.count,
        before.count);
    f.text += noise.is_noise() ? "."
                               : fmt::format(
                                     "; the part that changed most is '{}': {:.2f} ms instead of "
                                     "{:.2f} ms.",
                                     largest->first, largest->second.now, largest->second.before);
    f.numbers = {{"before_ms", before.step_ms}, {"now_ms", now.step_ms}};
    report.findings.push_back(std::move(f));
  } else {
    report.missing.push_back({"steps",
                              "one of the captures has no step: totals are compared, not steps",
                              "mark the steps in both programs"});
  }
  return report;
}

std::optional<Change> slowdown(const Session& before, const Session& now) {
  Side a = side_of(before), b = side_of(now);
  from_start_to_start(a, b);
  if (a.count == 0 || b.count == 0 || a.step_ms == 0) return std::nullopt;
  Change change = change_of(a.steps_ms, b.steps_ms);
  change.share = b.step_ms / a.step_ms - 1;
  return change;
}

}  // namespace sonde::capture
