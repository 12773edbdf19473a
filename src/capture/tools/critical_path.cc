// The critical path: what the steps waited for, end to end, as rows of time and as sums.
#include "capture/analysis/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>

#include "capture/analysis/memory/snapshot.h"
#include "capture/analysis/merged.h"

namespace sonde::capture {
namespace {

constexpr size_t kMostParts = 20'000;  // of the table; more are put together by the shortest
constexpr size_t kMostNames = 500;

double ms(int64_t ps) { return static_cast<double>(ps) / 1e9; }

std::string missing(const Session& session) {
  bool has_slices = false;
  for (const trace::Host& host : session.hosts()) {
    if (memory::is_snapshot(*host.trace)) return "a snapshot of memory has no path in time";
    has_slices |= host.trace->slice_count() > 0;
  }
  return has_slices ? "" : "the capture holds no slices";
}

// Neighbours that are short become one part, so that a table of any capture can be drawn.
std::vector<PathPart> thinned(std::vector<PathPart> parts) {
  while (parts.size() > kMostParts) {
    std::vector<int64_t> lengths;
    for (const PathPart& part : parts) lengths.push_back(part.end - part.begin);
    const auto middle = lengths.begin() + static_cast<ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    const int64_t brief = *middle;
    std::vector<PathPart> out;
    for (const PathPart& part : parts) {
      if (!out.empty() && out.back().end - out.back().begin <= brief &&
          part.end - part.begin <= brief && out.back().host == part.host) {
        if (part.end - part.begin > out.back().end - out.back().begin) {
          const int64_t begin = out.back().begin;
          out.back() = part;
          out.back().begin = begin;
        } else {
          out.back().end = part.end;
        }
        continue;
      }
      out.push_back(part);
    }
    if (out.size() == parts.size()) break;
    parts = std::move(out);
  }
  return parts;
}

std::string name_of_part(const HostAnalysis& host, const PathPart& part) {
  return part.slice == trace::kNone ? std::string(name_of(PathKind::kWait))
                                    : std::string(host.trace().shown_name(part.slice));
}

Finding sentence(const std::array<int64_t, kPathKinds>& by_kind, int64_t whole, size_t hosts) {
  Finding f;
  f.id = "CRITICAL-PATH";
  f.severity = Severity::kInfo;
  size_t most = 0;
  for (size_t k = 1; k < kPathKinds; ++k) {
    if (by_kind[k] > by_kind[most]) most = k;
  }
  const auto share = [&](PathKind kind) {
    return 100 * ratio(static_cast<double>(by_kind[static_cast<size_t>(kind)]),
                       static_cast<double>(whole));
  };
  static constexpr std::string_view kWords[kPathKinds] = {"work of host threads",
                                                          "launching device work",
                                                          "kernels",
                                                          "copies between host and device",
                                                          "collectives between ranks",
                                                          "time in which nothing was recorded"};
  f.text = fmt::format("{:.0f}% of the critical path{} is {}", share(static_cast<PathKind>(most)),
                       hosts > 1 ? " over all ranks" : "", kWords[most]);
  const double host = share(PathKind::kHost) + share(PathKind::kLaunch),
               device = share(PathKind::kKernel) + share(PathKind::kCopy);
  if (device > 0)
    f.text +=
        fmt::format("; host and launches together {:.0f}%, device work {:.0f}%", host, device);
  f.text += ".";
  f.numbers = {{"host_percent", host}, {"device_percent", device}};
  return f;
}

Result<Report> run(const Session& session, const Options& options) {
  Report report;
  const auto hosts = chosen_hosts(session, options);
  if (const std::string why = missing(session); !why.empty()) {
    report.missing.push_back({"a critical path", why, "capture a few steps"});
    return report;
  }
  CriticalPath path = critical_path(hosts);
  const int64_t whole = std::max<int64_t>(0, path.end - path.begin);
  std::array<int64_t, kPathKinds> by_kind{};
  struct Sum {
    int64_t ps = 0, parts = 0;
  };
  boost::unordered_flat_map<std::string, Sum> by_name;
  for (const PathPart& part : path.parts) {
    by_kind[static_cast<size_t>(part.kind)] += part.end - part.begin;
    Sum& sum = by_name[fmt::format("{}\t{}", static_cast<int>(part.kind),
                                   name_of_part(*hosts[part.host], part))];
    sum.ps += part.end - part.begin;
    ++sum.parts;
  }
  report.figure("length", "Length", ms(whole), "ms");
  Table& kinds = report.table("kinds", "By kind");
  kinds.columns = {{"kind", "Kind", Type::kText},
                   {"time", "On the path", Type::kNumber, "ms"},
                   {"percent", "Share", Type::kNumber, "%", "path"}};
  for (size_t k = 0; k < kPathKinds; ++k) {
    if (by_kind[k] == 0) continue;
    const double share = 100 * ratio(static_cast<double>(by_kind[k]), static_cast<double>(whole));
    kinds.rows.push_back({std::string(name_of(static_cast<PathKind>(k))), ms(by_kind[k]), share});
  }
  Table& names = report.table("names", "By name");
  names.columns = {{"name", "Name", Type::kText, "", "", "trace_viewer"},
                   {"kind", "Kind", Type::kText},
                   {"time", "On the path", Type::kNumber, "ms"},
                   {"percent", "Share", Type::kNumber, "%", "path"},
                   {"parts", "Parts"}};
  std::vector<std::pair<std::string, Sum>> order(by_name.begin(), by_name.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second.ps != b.second.ps ? a.second.ps > b.second.ps : a.first < b.first;
  });
  for (size_t i = 0; i < std::min(order.size(), kMostNames); ++i) {
    const auto& [key, sum] = order[i];
    names.rows.push_back(
        {key.substr(2), std::string(name_of(static_cast<PathKind>(key[0] - '0'))), ms(sum.ps),
         100 * ratio(static_cast<double>(sum.ps), static_cast<double>(whole)), sum.parts});
  }
  Table& parts = report.table("path", "The path");
  parts.columns = {{"start_ms", "From", Type::kNumber, "ms"},
                   {"dur_ms", "Length", Type::kNumber, "ms"},
                   {"kind", "Kind", Type::kText},
                   {"name", "Name", Type::kText, "", "", "trace_viewer"},
                   {"host", "Host", Type::kText},
                   {"track", "Track", Type::kText}};
  for (const PathPart& part : thinned(std::move(path.parts))) {
    const HostAnalysis& host = *hosts[part.host];
    parts.rows.push_back(
        {ms(part.begin), ms(part.end - part.begin), std::string(name_of(part.kind)),
         name_of_part(host, part), host.host().name,
         part.track == trace::kNone ? std::string()
                                    : std::string(host.trace().shown_track_name(part.track))});
  }
  if (!parts.rows.empty()) report.findings.push_back(sentence(by_kind, whole, hosts.size()));
  if (hosts.size() > 1)
    report.inferred.push_back(fmt::format("hosts aligned by {}", path.clock.rule));
  if (path.is_cut)
    report.diagnostics.push_back(
        {"warning", "the walk was given up: the beginning of the path is missing"});
  return report;
}

}  // namespace

extern const Tool kCriticalPath;
const Tool kCriticalPath{"critical_path", "Critical path", run, missing};

}  // namespace sonde::capture
