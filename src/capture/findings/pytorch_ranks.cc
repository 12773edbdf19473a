// PyTorch on several ranks: the one that the others wait for, found by arrival at collectives, and
// what it does meanwhile.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "capture/analysis/pytorch/arrivals.h"
#include "capture/findings/pytorch.h"

namespace sonde::capture::findings {
namespace {

using loop::Act;

std::string rank_name(const HostAnalysis& host, size_t index) {
  const int64_t rank = host.pytorch().rank;
  return fmt::format("rank {}", rank >= 0 ? rank : static_cast<int64_t>(index));
}

// Outermost operators of a rank's loop, ms a step by name.
std::map<std::string, double> operators_of(const HostAnalysis& host) {
  std::map<std::string, double> out;
  const pytorch::Capture& c = host.pytorch();
  const double steps = static_cast<double>(std::max<size_t>(1, c.steps.size()));
  for (const pytorch::Node& node : c.nodes) {
    if (node.kind != pytorch::Kind::kOperator || !c.name_of(node).starts_with("aten::")) continue;
    out[std::string(c.name_of(node))] += static_cast<double>(node.self_host_ps()) / 1e9 / steps;
  }
  return out;
}

// What the late rank does longer than the quickest of the others.
std::string why_late(const HostAnalysis& late, const HostAnalysis& other) {
  const loop::Loop &a = late.loop(), &b = other.loop();
  if (a.periods.empty() || b.periods.empty()) return "";
  const loop::Rhythm ra = loop::rhythm_of(a), rb = loop::rhythm_of(b);
  Act act = Act::kCompute;
  double most = 0;
  for (size_t i = 0; i < loop::kActCount; ++i) {
    const auto candidate = static_cast<Act>(i);
    if (candidate == Act::kCommunication) continue;
    const double more = usual_ms(a, ra, candidate) - usual_ms(b, rb, candidate);
    if (more > most) most = more, act = candidate;
  }
  if (most <= 0) return "";
  if (act == Act::kCompute || act == Act::kOpByOp) {
    const auto mine = operators_of(late), theirs = operators_of(other);
    std::string name;
    double longest = 0;
    for (const auto& [op, ms] : mine) {
      const auto known = theirs.find(op);
      const double more = ms - (known == theirs.end() ? 0 : known->second);
      if (more > longest) longest = more, name = op;
    }
    return fmt::format(": it computes {:.0f} ms longer{}", most,
                       name.empty() ? "" : fmt::format(", most of it in {}", name));
  }
  if (act == Act::kPython) {
    const loop::Path path = python_path(late.trace(), a, a.of(Act::kPython));
    if (!path.text.empty()) return fmt::format(": it spends {:.0f} ms more in {}", most, path.text);
  }
  if (act == Act::kInput) return fmt::format(": it waits {:.0f} ms longer for its input", most);
  return fmt::format(": {:.0f} ms more show no recorded work on it (Python, most likely)", most);
}

// In each step another rank may be the late one: none is late on the whole, and yet all wait.
bool take_turns(const pytorch::Arrivals& arrivals, Rules& r) {
  const size_t steps = arrivals.by_step.empty() ? 0 : arrivals.by_step[0].size();
  if (steps < kEnoughSteps) return false;
  std::vector<size_t> late(arrivals.by_step.size(), 0);
  std::vector<double> waited;
  for (size_t s = 0; s < steps; ++s) {
    size_t last = 0;
    for (size_t i = 1; i < arrivals.by_step.size(); ++i) {
      if (arrivals.by_step[i][s] < arrivals.by_step[last][s]) last = i;
    }
    double next = 1e300;  // how long the one before it waits
    for (size_t i = 0; i < arrivals.by_step.size(); ++i) {
      if (i != last) next = std::min(next, arrivals.by_step[i][s] - arrivals.by_step[last][s]);
    }
    ++late[last];
    waited.push_back(next);
  }
  const double ms = loop::median(waited), share = ratio(ms, r.rhythm.usual_ms);
  const size_t most = *std::max_element(late.begin(), late.end());
  const auto involved =
      std::count_if(late.begin(), late.end(), [](size_t times) { return times > 0; });
  // One rank that is late in most steps is told as that.
  if (share < 0.2 || 10 * most > 6 * steps || involved < 2) return false;
  Finding f = make("STRAGGLER", true, Severity::kMajor);
  f.text = fmt::format(
      "The ranks take turns being late: in each step another one arrives last at the collectives "
      "({} different ones in {} steps), and the others wait {:.1f} of {:.1f} ms ({:.0f}%) for it.",
      involved, steps, ms, r.rhythm.usual_ms, 100 * share);
  f.action =
      "Work of uneven size is dealt out at random, or the ranks disturb each other: give every "
      "rank "
      "equal batches (samples of like length together), and see in the ranks view what the late "
      "one "
      "does.";
  f.numbers = {{"wait_ms", ms}, {"percent", 100 * share}};
  f.evidence = {{"torch.ranks", ""}, {"torch.distributed", ""}};
  gain(f, ms, r.rhythm.usual_ms);
  r.found.push_back(std::move(f));
  return true;
}

// In how many steps the late rank is the one that waits least.
size_t steps_as_last(const pytorch::Arrivals& arrivals) {
  const std::vector<double>& own = arrivals.by_step[arrivals.late];
  size_t count = 0;
  for (size_t s = 0; s < own.size(); ++s) {
    bool last = true;
    for (size_t i = 0; i < arrivals.by_step.size(); ++i)
      last &= i == arrivals.late || arrivals.by_step[i][s] > own[s];
    count += last;
  }
  return count;
}

// What the late rank does longer than another one, ms a step: of the part that differs most.
double own_excess_ms(const HostAnalysis& late, const HostAnalysis& other) {
  const auto mean_of = [](const loop::Loop& loop, Act act) {
    double sum = 0;
    for (const loop::Period& p : loop.periods) sum += static_cast<double>(p.of(act)) / 1e9;
    return loop.periods.empty() ? 0 : sum / static_cast<double>(loop.periods.size());
  };
  double most = 0;
  for (size_t i = 0; i < loop::kActCount; ++i) {
    const auto act = static_cast<Act>(i);
    if (act == Act::kCommunication) continue;
    most = std::max(most, mean_of(late.loop(), act) - mean_of(other.loop(), act));
  }
  return most;
}

// A step, mean over steps: what the least waiting of the others waits longer than the late rank.
double mean_wait(const pytorch::Arrivals& arrivals) {
  const size_t steps = arrivals.by_step[arrivals.late].size();
  double sum = 0;
  for (size_t s = 0; s < steps; ++s) {
    double next = 1e300;
    for (size_t i = 0; i < arrivals.by_step.size(); ++i) {
      if (i != arrivals.late)
        next = std::min(next, arrivals.by_step[i][s] - arrivals.by_step[arrivals.late][s]);
    }
    sum += std::max(0.0, next);
  }
  return steps == 0 ? 0 : sum / static_cast<double>(steps);
}

// A rank may be late in some steps only: in the others all come together, and medians hide it.
const HostAnalysis* late_sometimes(const pytorch::Arrivals& arrivals,
                                   const std::vector<const HostAnalysis*>& ranks, Rules& r) {
  const size_t steps = arrivals.by_step.empty() ? 0 : arrivals.by_step[0].size();
  if (steps < kEnoughSteps + 1) return nullptr;
  std::vector<double> caused(ranks.size(), 0);  // ms that the others wait for each rank, in all
  std::vector<std::vector<double>> each(ranks.size(), std::vector<double>(steps, 0));
  double all = 0;
  for (size_t s = 0; s < steps; ++s) {
    size_t last = 0;
    for (size_t i = 1; i < ranks.size(); ++i) {
      if (arrivals.by_step[i][s] < arrivals.by_step[last][s]) last = i;
    }
    double next = 1e300;
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (i != last) next = std::min(next, arrivals.by_step[i][s] - arrivals.by_step[last][s]);
    }
    caused[last] += next;
    each[last][s] = next;
    all += next;
  }
  const size_t late = static_cast<size_t>(
      std::distance(caused.begin(), std::max_element(caused.begin(), caused.end())));
  const double longest = *std::max_element(each[late].begin(), each[late].end());
  std::vector<size_t> when;
  double there = 0;
  for (size_t s = 0; s < steps; ++s) {
    if (each[late][s] < 0.4 * longest) continue;
    when.push_back(s);
    there += each[late][s];
  }
  const double mean = there / static_cast<double>(steps), share = ratio(mean, r.rhythm.mean_ms);
  // Once is an accident, and in most steps is told as "of each step": so is a rank that is late in
  // the other steps, too, by less.
  const auto late_steps =
      static_cast<size_t>(std::count_if(each[late].begin(), each[late].end(), [&](double wait) {
        return wait > 0.1 * r.rhythm.usual_ms;
      }));
  if (share < 0.15 || when.size() < 2 || 4 * std::max(when.size(), late_steps) > 3 * steps ||
      there < 0.7 * all)
    return nullptr;
  const std::string name = rank_name(*ranks[late], late);
  Finding f = make("STRAGGLER", true, Severity::kCritical);
  f.text = fmt::format(
      "{} is late in {} of {} steps: the others wait {:.1f} ms for it in those, {:.1f} of {:.1f} "
      "ms "
      "of a step on average ({:.0f}%).",
      name, when.size(), steps, there / static_cast<double>(when.size()), mean, r.rhythm.mean_ms,
      100 * share);
  f.text[0] = static_cast<char>(f.text[0] - 'a' + 'A');
  f.action = fmt::format(
      "Look at what {} does in those steps and not in the others (logging, saving, evaluating, a "
      "larger batch): do it less often or in the background, or give every rank equal work.",
      name);
  f.numbers = {{"wait_ms", mean},
               {"steps", static_cast<double>(when.size())},
               {"own_ms", own_excess_ms(*ranks[late], *ranks[late == 0 ? 1 : 0])}};
  f.evidence = {{"torch.ranks", ""}, {"torch.distributed", ""}};
  f.gain_ps = static_cast<int64_t>(mean * 1e9);
  r.found.push_back(std::move(f));
  return ranks[late];
}

}  // namespace

const HostAnalysis* late_rank(Rules& r) {
  std::vector<const pytorch::Capture*> captures;
  std::vector<const HostAnalysis*> ranks;
  for (const HostAnalysis* host : r.hosts) {
    if (host->pytorch().steps.empty()) continue;
    captures.push_back(&host->pytorch());
    ranks.push_back(host);
  }
  if (ranks.size() < 2 || !r.loop) return nullptr;
  pytorch::Arrivals arrivals = pytorch::arrivals_of(captures);
  if (arrivals.collectives == 0) return nullptr;
  // Where no steps are marked all of a capture is one: what it waits belongs to the loop's rounds.
  const pytorch::Capture& paced = r.pace->pytorch();
  if (!paced.steps_marked && !paced.steps.empty() && r.rhythm.mean_ms > 0) {
    const double whole_ms = static_cast<double>(paced.steps.front().extent.length()) / 1e9;
    arrivals.late_ms /= std::max(1.0, whole_ms / r.rhythm.mean_ms);
  }
  if (paced.steps_marked && r.rhythm.uneven) arrivals.late_ms = mean_wait(arrivals);
  arrivals.late_ms = std::min(arrivals.late_ms, r.rhythm.usual_ms);
  if (paced.steps_marked) {
    if (const HostAnalysis* late = late_sometimes(arrivals, ranks, r)) return late;
  }
  if (take_turns(arrivals, r)) return nullptr;
  const double share = ratio(arrivals.late_ms, r.rhythm.usual_ms);
  const size_t last = arrivals.last[arrivals.late];
  // Several collectives a step come close to each other; what they wait for is before the first.
  const size_t steps_late = steps_as_last(arrivals);
  const size_t steps = arrivals.by_step[arrivals.late].size();
  const bool by_count = 10 * last >= 6 * arrivals.collectives;
  const bool fired =
      share >= 0.1 &&
      (by_count || (share >= 0.2 && steps >= kEnoughSteps && 5 * steps_late >= 4 * steps));
  Finding f = make("STRAGGLER", fired, Severity::kCritical);
  const std::string name = rank_name(*ranks[arrivals.late], arrivals.late);
  size_t quickest = arrivals.late == 0 ? 1 : 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (arrivals.wait_ms[i] > arrivals.wait_ms[quickest]) quickest = i;
  }
  f.text = fmt::format(
      "{} arrives last in {} of {} {}; the others wait {:.1f} of {:.1f} ms of each step "
      "({:.0f}%) for it{}.",
      name, by_count ? last : steps_late, by_count ? arrivals.collectives : steps,
      by_count ? "collectives" : "steps", std::max(0.0, arrivals.late_ms), r.rhythm.usual_ms,
      100 * std::max(0.0, share), fired ? why_late(*ranks[arrivals.late], *ranks[quickest]) : "");
  f.text[0] = static_cast<char>(f.text[0] - 'a' + 'A');
  f.action = fmt::format(
      "Look at {} before anything else: give every rank the same amount of data and work (equal "
      "batches, an even DistributedSampler), and see what it does alone: its input, its Python, "
      "other programs on that machine.",
      name);
  f.diff =
      "+sampler = torch.utils.data.DistributedSampler(dataset)   # equal shares\n"
      "+loader = DataLoader(dataset, sampler=sampler, batch_size=B, drop_last=True)";
  f.numbers = {{"wait_ms", arrivals.late_ms},
               {"percent", 100 * share},
               {"own_ms", own_excess_ms(*ranks[arrivals.late], *ranks[quickest])}};
  f.evidence = {{"torch.ranks", ""}, {"torch.distributed", ""}};
  gain(f, arrivals.late_ms, r.rhythm.usual_ms);
  r.found.push_back(std::move(f));
  return fired ? ranks[arrivals.late] : nullptr;
}

std::string who_is_late(Rules& r) {
  if (!r.loop || !r.loop->pytorch || r.hosts.size() < 2) return "";
  const size_t before = r.found.size();
  late_rank(r);
  for (size_t i = before; i < r.found.size(); ++i) {
    const Finding& f = r.found[i];
    if (f.fired && f.id == "STRAGGLER") return f.text.substr(0, f.text.find(" Without it"));
  }
  return "";
}

}  // namespace sonde::capture::findings
