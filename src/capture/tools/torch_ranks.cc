// The ranks of a PyTorch run side by side: how steps differ, who is late, where each device is
// idle and why, how much communication is exposed, what launching kernels costs.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/analysis/merged.h"
#include "capture/analysis/pytorch/arrivals.h"
#include "capture/analysis/pytorch/breakdown.h"
#include "capture/analysis/pytorch/collectives.h"
#include "capture/analysis/pytorch/common_clock.h"
#include "capture/analysis/pytorch/views.h"

namespace sonde::capture {
namespace {

using namespace pytorch;

struct Rank {
  std::string name;
  const Capture* capture = nullptr;
};

double share(int64_t part, int64_t all) {
  return 100 * ratio(static_cast<double>(part), static_cast<double>(all));
}

void add_temporal(Report& report, const std::vector<Rank>& ranks) {
  Table& table = report.table("temporal_breakdown", "Device time of each rank");
  table.columns = {{"rank", "Rank", Type::kText},
                   {"idle_time", "Idle", Type::kNumber, "us"},
                   {"compute_time", "Computing", Type::kNumber, "us"},
                   {"non_compute_time", "Busy otherwise", Type::kNumber, "us"},
                   {"kernel_time", "First to last", Type::kNumber, "us"},
                   {"idle_percent", "Idle", Type::kNumber, "%", "device time"},
                   {"compute_percent", "Computing", Type::kNumber, "%", "device time"},
                   {"non_compute_percent", "Busy otherwise", Type::kNumber, "%", "device time"}};
  for (const Rank& rank : ranks) {
    const TemporalBreakdown t = temporal_breakdown(*rank.capture);
    if (t.total_ps == 0) continue;
    table.rows.push_back({rank.name, us(t.idle_ps), us(t.compute_ps), us(t.non_compute_ps),
                          us(t.total_ps), share(t.idle_ps, t.total_ps),
                          share(t.compute_ps, t.total_ps), share(t.non_compute_ps, t.total_ps)});
  }
  if (table.rows.empty()) {
    report.tables.pop_back();
    return;
  }
  report.charts.push_back({"temporal",
                           "stack",
                           "temporal_breakdown",
                           "rank",
                           {"compute_time", "non_compute_time", "idle_time"},
                           ""});
}

void add_idle(Report& report, const std::vector<Rank>& ranks) {
  Table table{"idle_causes", "Why streams are idle"};
  table.columns = {{"rank", "Rank", Type::kText},
                   {"device", "Device"},
                   {"stream", "Stream"},
                   {"host_wait", "Host was late", Type::kNumber, "us"},
                   {"kernel_wait", "Between kernels", Type::kNumber, "us"},
                   {"other_wait", "Other", Type::kNumber, "us"},
                   {"host_wait_percent", "Host was late", Type::kNumber, "%", "idle time"},
                   {"kernel_wait_percent", "Between kernels", Type::kNumber, "%", "idle time"},
                   {"other_wait_percent", "Other", Type::kNumber, "%", "idle time"}};
  for (const Rank& rank : ranks) {
    for (const IdleCauses& idle : idle_causes(*rank.capture))
      table.rows.push_back(
          {rank.name, int64_t{idle.device}, idle.stream, us(idle.host_wait_ps),
           us(idle.kernel_wait_ps), us(idle.other_ps), share(idle.host_wait_ps, idle.total_ps()),
           share(idle.kernel_wait_ps, idle.total_ps()), share(idle.other_ps, idle.total_ps())});
  }
  if (!table.rows.empty()) report.tables.push_back(std::move(table));
}

void add_communication(Report& report, const std::vector<Rank>& ranks) {
  Table table{"communication_overlap", "Communication hidden behind computation"};
  table.columns = {{"rank", "Rank", Type::kText},
                   {"communication", "Communication", Type::kNumber, "us"},
                   {"hidden", "Hidden", Type::kNumber, "us"},
                   {"exposed", "Exposed", Type::kNumber, "us"},
                   {"overlap_percent", "Hidden", Type::kNumber, "%", "communication"}};
  for (const Rank& rank : ranks) {
    const CommunicationOverlap o = communication_overlap(*rank.capture);
    if (o.communication_ps == 0) continue;
    table.rows.push_back({rank.name, us(o.communication_ps), us(o.hidden_ps),
                          us(o.communication_ps - o.hidden_ps),
                          share(o.hidden_ps, o.communication_ps)});
  }
  if (!table.rows.empty()) report.tables.push_back(std::move(table));
}

void add_launches(Report& report, const std::vector<Rank>& ranks) {
  Table table{"launches", "Launching device work"};
  table.columns = {{"rank", "Rank", Type::kText},
                   {"call", "Call", Type::kText, "", "", "trace_viewer"},
                   {"launches", "Launches"},
                   {"host_mean", "Call, mean", Type::kNumber, "us"},
                   {"device_mean", "Work, mean", Type::kNumber, "us"},
                   {"delay_mean", "Delay, mean", Type::kNumber, "us"},
                   {"delay_longest", "Delay, longest", Type::kNumber, "us"},
                   {"short_kernels", "Work shorter than its call"},
                   {"slow_calls", "Calls above 50 us"},
                   {"long_delays", "Delays above 100 us"}};
  for (const Rank& rank : ranks) {
    for (const LaunchStatistics& s : launch_statistics(*rank.capture)) {
      const double n = static_cast<double>(s.launches);
      table.rows.push_back({rank.name, s.name, s.launches, us(s.host_ps) / n, us(s.device_ps) / n,
                            us(s.delay_ps) / n, us(s.longest_delay_ps), s.short_kernels,
                            s.slow_calls, s.long_delays});
    }
  }
  if (!table.rows.empty()) report.tables.push_back(std::move(table));
}

// Steps by name over all ranks: how far apart they are and who is slowest.
void add_skew(Report& report, const std::vector<Rank>& ranks) {
  struct Entry {
    double us, exposed_us;
    size_t rank;
  };
  std::map<std::string, std::vector<Entry>> steps;
  std::vector<std::string> order;
  for (size_t r = 0; r < ranks.size(); ++r) {
    for (const CaptureStep& step : ranks[r].capture->steps) {
      auto& list = steps[step.name];
      if (list.empty()) order.push_back(step.name);
      list.push_back({us(step.extent.length()), us(step.of(Role::kCommunication)), r});
    }
  }
  Table& table = report.table("steps", "Steps over all ranks");
  table.columns = {{"step", "Step", Type::kText},
                   {"ranks", "Ranks"},
                   {"fastest", "Fastest", Type::kNumber, "us"},
                   {"mean", "Mean", Type::kNumber, "us"},
                   {"slowest", "Slowest", Type::kNumber, "us"},
                   {"skew", "Skew", Type::kNumber, "%", "slowest"},
                   {"slowest_rank", "Slowest rank", Type::kText},
                   {"exposed", "Exposed communication, most", Type::kNumber, "us"}};
  for (const std::string& name : order) {
    const auto& list = steps[name];
    double sum = 0, exposed = 0;
    const Entry *slowest = &list[0], *fastest = &list[0];
    for (const Entry& entry : list) {
      sum += entry.us;
      exposed = std::max(exposed, entry.exposed_us);
      if (entry.us > slowest->us) slowest = &entry;
      if (entry.us < fastest->us) fastest = &entry;
    }
    table.rows.push_back({name, static_cast<int64_t>(list.size()), fastest->us,
                          sum / static_cast<double>(list.size()), slowest->us,
                          100 * ratio(slowest->us - fastest->us, slowest->us),
                          ranks[slowest->rank].name, exposed});
  }
}

// The rank others wait for waits least itself: it arrives last at the collectives.
void add_stragglers(Report& report, const std::vector<Rank>& ranks) {
  if (ranks.size() < 2) return;
  std::vector<std::vector<Collective>> calls;
  for (const Rank& rank : ranks) calls.push_back(collectives_of(*rank.capture));
  match(calls);
  Table table{"stragglers", "Waiting inside collectives"};
  table.columns = {{"rank", "Rank", Type::kText},
                   {"collectives", "Collectives"},
                   {"waiting", "Waited", Type::kNumber, "us"},
                   {"transfer", "Moved data", Type::kNumber, "us"},
                   {"last", "Arrived last"},
                   {"last_percent", "Arrived last", Type::kNumber, "%", "collectives"}};
  for (size_t r = 0; r < ranks.size(); ++r) {
    int64_t waiting = 0, moved = 0, last = 0;
    for (const Collective& call : calls[r]) {
      int64_t own = 0;
      for (size_t j = 0; j < call.transfer.size(); ++j) {
        moved += call.transfer[j].length();
        own += call.ranges[j].length() - call.transfer[j].length();
      }
      waiting += own;
      last += own == 0;
    }
    if (calls[r].empty()) continue;
    const auto count = static_cast<int64_t>(calls[r].size());
    table.rows.push_back({ranks[r].name, count, us(waiting), us(moved), last, share(last, count)});
  }
  if (!table.rows.empty()) report.tables.push_back(std::move(table));
}

// Each rank's own part of each step: its length without what it stood in collectives for others.
// Steps of one job are equally long; this is what differs.
void add_own_time(Report& report, const std::vector<Rank>& ranks, const Arrivals& arrivals) {
  Table& table = report.table("own_time", "Own time of each rank and step");
  table.columns = {{"rank", "Rank", Type::kText},
                   {"step", "Step", Type::kText},
                   {"own", "Own time", Type::kNumber, "us"},
                   {"waited", "Waited for others", Type::kNumber, "us"},
                   {"length", "Step", Type::kNumber, "us"}};
  for (size_t r = 0; r < ranks.size(); ++r) {
    const auto& steps = ranks[r].capture->steps;
    const size_t count = arrivals.collectives > 0 ? arrivals.by_step[r].size() : steps.size();
    for (size_t s = 0; s < std::min(count, steps.size()); ++s) {
      const double length = us(steps[s].extent.length());
      const double waited =
          arrivals.collectives > 0 ? std::min(length, 1e3 * arrivals.by_step[r][s]) : 0;
      table.rows.push_back({ranks[r].name, steps[s].name, length - waited, waited, length});
    }
  }
}

// Who came when: all leave a collective together, so who stood in it longest came first.
void add_arrivals(Report& report, const std::vector<Rank>& ranks) {
  constexpr size_t kMostRows = 2000;
  if (ranks.size() < 2) return;
  std::vector<std::vector<Collective>> calls;
  for (const Rank& rank : ranks) {
    calls.push_back(collectives_of(*rank.capture));
    // Work on the host's own thread only hands the collective over.
    std::erase_if(calls.back(),
                  [](const Collective& call) { return call.name.starts_with("c10d::"); });
  }
  const std::vector<Meeting> meetings = meetings_of(calls);
  if (meetings.empty()) return;
  Table& table = report.table("arrivals", "Arrival at collectives");
  table.columns = {{"collective", "Collective", Type::kText, "", "", "trace_viewer"},
                   {"step", "Step", Type::kText},
                   {"last", "Last", Type::kText},
                   {"spread", "First to last", Type::kNumber, "us"},
                   {"order", "Order of arrival", Type::kText}};
  for (size_t r = 0; r < ranks.size(); ++r)
    table.columns.push_back(
        {fmt::format("late{}", r), fmt::format("{} late by", ranks[r].name), Type::kNumber, "us"});
  for (size_t m = 0; m < std::min(meetings.size(), kMostRows); ++m) {
    const Meeting& meeting = meetings[m];
    const auto stood = [&](size_t r) { return meeting[r]->ranges.back().length(); };
    std::vector<size_t> order(ranks.size());
    for (size_t r = 0; r < order.size(); ++r) order[r] = r;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return stood(a) > stood(b); });
    std::string text;
    for (const size_t r : order) text += (text.empty() ? "" : ", ") + ranks[r].name;
    const int32_t step = meeting[0]->step;
    std::vector<Cell> row{
        meeting[0]->name,
        step < 0 ? std::string() : ranks[0].capture->steps[static_cast<size_t>(step)].name,
        ranks[order.back()].name, us(stood(order[0]) - stood(order.back())), text};
    for (size_t r = 0; r < ranks.size(); ++r) row.emplace_back(us(stood(order[0]) - stood(r)));
    table.rows.push_back(std::move(row));
  }
}

// The same measure as the rule of the overview: what the least waiting of the others waits longer.
void add_sentence(Report& report, const std::vector<Rank>& ranks, const Arrivals& arrivals) {
  Finding f;
  f.id = "ARRIVALS";
  f.severity = Severity::kInfo;
  if (arrivals.collectives == 0) {
    f.text = fmt::format(
        "The captures of {} ranks share no collective: who waits for whom cannot be told.",
        ranks.size());
  } else {
    const size_t last = arrivals.last[arrivals.late];
    double length = 0;
    for (const CaptureStep& step : ranks[arrivals.late].capture->steps)
      length += us(step.extent.length()) / 1e3;
    length /= static_cast<double>(std::max<size_t>(1, ranks[arrivals.late].capture->steps.size()));
    const double share = 100 * ratio(arrivals.late_ms, length);
    f.text = share < 5 ? fmt::format(
                             "The ranks arrive together: none waits more than {:.1f} ms of "
                             "a step of {:.1f} ms for another.",
                             std::max(0.0, arrivals.late_ms), length)
                       : fmt::format(
                             "{} arrives last in {} of {} collectives; the others wait "
                             "{:.1f} of {:.1f} ms of each step ({:.0f}%) for it.",
                             ranks[arrivals.late].name, last, arrivals.collectives,
                             arrivals.late_ms, length, share);
    f.numbers = {{"wait_ms", arrivals.late_ms}, {"percent", share}};
    if (share >= 20) f.severity = Severity::kMajor;
  }
  report.findings.push_back(std::move(f));
}

Result<Report> run(const Session& session, const Options& options) {
  const auto hosts = workers(session, options);
  if (hosts.empty()) return without_capture(session);
  std::vector<Rank> ranks;
  for (const HostAnalysis* host : hosts) ranks.push_back({host->host().name, &host->pytorch()});
  Report report;
  report.figure("ranks", "Ranks", static_cast<int64_t>(ranks.size()));
  if (ranks.size() > 1) {
    std::vector<const Capture*> captures;
    for (const Rank& rank : ranks) captures.push_back(rank.capture);
    const Arrivals arrivals = arrivals_of(captures);
    add_sentence(report, ranks, arrivals);
    add_own_time(report, ranks, arrivals);
    add_arrivals(report, ranks);
  }
  add_skew(report, ranks);
  add_stragglers(report, ranks);
  add_temporal(report, ranks);
  add_idle(report, ranks);
  add_communication(report, ranks);
  add_launches(report, ranks);
  return report;
}

}  // namespace

extern const Tool kTorchRanks;
const Tool kTorchRanks{"torch.ranks", "PyTorch ranks", run, missing_capture};

}  // namespace sonde::capture
