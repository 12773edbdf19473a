// Which stage of a tf.data pipeline the program waits for: the critical path of each call of the
// pipeline, from the iterators' own events.
#include <fmt/format.h>

#include <algorithm>

#include "capture/analysis/merged.h"
#include "capture/analysis/tf_data_pipelines.h"

namespace sonde::capture {
namespace {

int64_t us(int64_t ps) { return ps / 1'000'000; }

std::string what_is_missing(const Session& session) {
  for (const auto& host : session.analysis().hosts) {
    for (const LabelInfo& label : host->words().labels) {
      if (label.op.category == OpCategory::kTfData) return {};
    }
  }
  return "no tf.data iterator in this capture";
}

struct Slowest {
  std::string host;
  const Pipeline* pipeline;
  const IteratorInfo* iterator;
  int64_t self_ps;
  bool python;
};

Result<Report> tf_data(const Session& session, const Options& options) {
  Report report;
  Table iterators{"iterators", "Iterators of each call"};
  iterators.columns = {
      {"host", "Host", Type::kText},        {"input_pipeline", "Pipeline", Type::kText},
      {"rank", "Call, slowest first"},      {"name", "Iterator id", Type::kText},
      {"parent", "Called by", Type::kText}, {"type", "0 beside, 1 on the path, 2 bottleneck"}};
  for (Column extra : {Column{"iterator", "Iterator", Type::kText},
                       Column{"total_us", "Total", Type::kNumber, "us"},
                       Column{"self_us", "Self", Type::kNumber, "us"}, Column{"calls", "Calls"}}) {
    extra.own = true;
    iterators.columns.push_back(std::move(extra));
  }
  Table summary{"pipelines", "Pipelines"};
  summary.columns = {{"host", "Host", Type::kText},
                     {"input_pipeline", "Pipeline", Type::kText},
                     {"min", "Shortest", Type::kNumber, "us"},
                     {"mean", "Mean", Type::kNumber, "us"},
                     {"max", "Longest", Type::kNumber, "us"},
                     {"num_calls", "Calls"},
                     {"num_slow_calls", "Slow calls"}};
  std::vector<TfData> kept;
  const auto hosts = chosen_hosts(session, options);
  kept.reserve(hosts.size());
  std::vector<Slowest> slowest;
  for (const HostAnalysis* host : hosts) {
    const TfData& data = kept.emplace_back(tf_data_of(*host));
    const std::string& host_name = host->host().name;
    for (const Pipeline& pipeline : data.pipelines) {
      summary.rows.push_back({host_name, pipeline.name, us(pipeline.min_ps), us(pipeline.mean_ps),
                              us(pipeline.max_ps), static_cast<int64_t>(pipeline.calls.size()),
                              pipeline.slow_calls});
      for (size_t rank = 0; rank < pipeline.calls.size(); ++rank) {
        const PipelineCall& call = pipeline.calls[rank];
        for (const auto& [id, stat] : call.iterators) {
          const auto info = data.iterators.find(id);
          const auto id_text = [&](uint64_t number) {
            const auto known = data.iterators.find(number);
            return known != data.iterators.end() && known->second.is_signed
                       ? fmt::format("{}", static_cast<int64_t>(number))
                       : fmt::format("{}", number);
          };
          const uint64_t parent = info == data.iterators.end() ? 0 : info->second.parent_id;
          const bool parent_here = call.iterators.contains(parent);
          iterators.rows.push_back(
              {host_name, pipeline.name, static_cast<int64_t>(rank), id_text(id),
               parent_here ? id_text(parent) : std::string(),
               int64_t{id == call.bottleneck ? 2
                       : stat.blocking       ? 1
                                             : 0},
               std::string(info == data.iterators.end() ? "" : info->second.name),
               micros(stat.duration_ps), micros(stat.self_ps), stat.calls});
        }
      }
      if (pipeline.on_device || pipeline.calls.empty()) continue;
      const PipelineCall& worst = pipeline.calls.front();
      const auto info = data.iterators.find(worst.bottleneck);
      if (info == data.iterators.end()) continue;
      slowest.push_back({host_name, &pipeline, &info->second,
                         worst.iterators.at(worst.bottleneck).self_ps, data.python_calls > 0});
    }
  }
  std::stable_sort(slowest.begin(), slowest.end(), [](const Slowest& a, const Slowest& b) {
    return a.pipeline->max_ps > b.pipeline->max_ps;
  });
  Table bottlenecks{"bottlenecks", "Bottlenecks"};
  bottlenecks.columns = {{"host", "Host", Type::kText},
                         {"input_pipeline", "Pipeline", Type::kText},
                         {"max_latency", "Longest call", Type::kNumber, "us"},
                         {"bottleneck", "Bottleneck", Type::kText},
                         {"suggestion", "What to do", Type::kText}};
  bool input_bound = false;
  for (const Slowest& s : slowest) {
    const Remedy remedy = remedy_for(*s.iterator, s.python);
    bottlenecks.rows.push_back(
        {s.host, s.pipeline->name, us(s.pipeline->max_ps),
         fmt::format("{} ({}): {:.1f} ms of its own", s.iterator->name, s.iterator->long_name,
                     static_cast<double>(s.self_ps) / 1e9),
         remedy.text});
    if (s.pipeline->max_ps <= kSlowCallPs) continue;
    input_bound = true;
    Finding finding;
    finding.id = "TF-DATA";
    finding.severity = Severity::kMajor;
    finding.text = fmt::format(
        "{:.1f} ms: the slowest call of pipeline {} waits for {} ({:.1f} ms of its own).",
        static_cast<double>(s.pipeline->max_ps) / 1e9, s.pipeline->name, s.iterator->name,
        static_cast<double>(s.self_ps) / 1e9);
    finding.action = remedy.text + ".";
    finding.diff = remedy.code;
    finding.numbers = {{"max_ms", static_cast<double>(s.pipeline->max_ps) / 1e9}};
    finding.evidence = {{"tf_data_bottleneck_analysis", std::string(s.iterator->long_name)}};
    report.findings.push_back(std::move(finding));
  }
  bottlenecks.property("is_input_bound", input_bound ? "true" : "false");
  bottlenecks.property("summary_message",
                       input_bound
                           ? "A tf.data pipeline takes longer than 50 us a call; its bottleneck "
                             "and a remedy are listed for each."
                           : "No tf.data pipeline takes longer than 50 us a call.");
  report.tables = {std::move(iterators), std::move(summary), std::move(bottlenecks)};
  if (const std::string why = what_is_missing(session); !why.empty()) {
    report.missing.push_back({"tf.data iterators", why,
                              "build the input with tf.data and capture with host_tracer_level=2"});
  }
  return report;
}

constexpr std::string_view kTables[] = {"iterators", "pipelines", "bottlenecks"};

}  // namespace

extern const Tool kTfData;
const Tool kTfData{"tf_data_bottleneck_analysis", "tf.data bottlenecks", tf_data, what_is_missing,
                   kTables};

}  // namespace sonde::capture
