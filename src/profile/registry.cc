// The list of tools. A new tool is a folder beside this file and one line here.
#include <array>

#include "profile/tool.h"

namespace sonde::profile {

extern const Tool kOverview, kInputPipeline, kOpStats, kKernelStats, kPodViewer, kTfData, kDigest,
    kMemoryProfile, kOpProfile, kHloStats, kRoofline, kMemoryViewer, kGraphViewer, kInference,
    kPerfCounters, kSmartSuggestion;

namespace {

constexpr std::array kTools = {
    &kOverview,  &kInputPipeline, &kTfData,          &kOpStats,  &kKernelStats,  &kMemoryProfile,
    &kPodViewer, &kOpProfile,     &kHloStats,        &kRoofline, &kMemoryViewer, &kGraphViewer,
    &kInference, &kPerfCounters,  &kSmartSuggestion, &kDigest,
};

struct Spelling {
  std::string_view other, id;
};
constexpr Spelling kSpellings[] = {
    {"tensorflow_stats", "framework_op_stats"},
    {"overview", "overview_page"},
    {"input_pipeline", "input_pipeline_analyzer"},
    {"op_stats", "framework_op_stats"},
    {"roofline", "roofline_model"},
    {"tf_data", "tf_data_bottleneck_analysis"},
    {"memory", "memory_profile"},
    {"hlo_op_stats", "hlo_stats"},
    {"hlo_op_profile", "op_profile"},
    {"inference", "inference_profile"},
    {"pod", "pod_viewer"},
};

}  // namespace

std::span<const Tool* const> all_tools() { return kTools; }

const Tool* find_tool(std::string_view name) {
  while (name.ends_with('^') || name.ends_with('@') || name.ends_with('#')) name.remove_suffix(1);
  for (const Spelling& spelling : kSpellings) {
    if (spelling.other == name) name = spelling.id;
  }
  for (const Tool* tool : kTools) {
    if (tool->id == name) return tool;
  }
  return nullptr;
}

Result<Report> run_tool(const Tool& tool, const Session& session, const Options& options) {
  if (!options.host.empty() && options.host != "ALL_HOSTS") {
    bool known = false;
    for (const trace::Host& host : session.hosts()) known |= host.name == options.host;
    if (!known) return fail(Code::kNotFound, "no host '" + options.host + "' in this session");
  }
  SONDE_TRY(report, tool.run(session, options));
  report.tool = tool.id;
  report.title = tool.title;
  return report;
}

}  // namespace sonde::profile
