// The ranks of a PyTorch run side by side: how steps differ, who is late, where each device is
// idle and why, how much communication is exposed, what launching kernels costs.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/analysis/merged.h"
#include "capture/analysis/pytorch/breakdown.h"
#include "capture/analysis/pytorch/collectives.h"
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

Result<Report> run(const Session& session, const Options& options) {
  const auto hosts = workers(session, options);
  if (hosts.empty()) return without_capture(session);
  std::vector<Rank> ranks;
  for (const HostAnalysis* host : hosts) ranks.push_back({host->host().name, &host->pytorch()});
  Report report;
  report.figure("ranks", "Ranks", static_cast<int64_t>(ranks.size()));
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
