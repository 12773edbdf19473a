// The list of tools. A new tool is a folder beside this file and one line here.
#include <array>
#include <charconv>

#include "capture/report/tool.h"

namespace sonde::capture {

extern const Tool kOverview, kInputPipeline, kOpStats, kKernelStats, kPodViewer, kTfData, kDigest,
    kMemoryProfile, kOpProfile, kHloStats, kRoofline, kMemoryViewer, kGraphViewer, kInference,
    kPerfCounters, kSmartSuggestion, kTorchOverview, kTorchOperator, kTorchKernel, kTorchMemory,
    kTorchModule, kTorchDistributed, kTorchRanks, kCriticalPath, kMemorySnapshot;

namespace {

constexpr std::array kTools = {
    &kOverview,         &kInputPipeline, &kTfData,       &kOpStats,        &kKernelStats,
    &kMemoryProfile,    &kPodViewer,     &kOpProfile,    &kHloStats,       &kRoofline,
    &kMemoryViewer,     &kGraphViewer,   &kInference,    &kPerfCounters,   &kSmartSuggestion,
    &kTorchOverview,    &kTorchOperator, &kTorchKernel,  &kTorchMemory,    &kTorchModule,
    &kTorchDistributed, &kTorchRanks,    &kCriticalPath, &kMemorySnapshot, &kDigest,
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

// Views of the PyTorch plug-in by the names its recordings have, and the tool that makes them.
constexpr Spelling kTorchViews[] = {
    {"torch.overview", "torch.overview"},
    {"torch.gpu_summary", "torch.overview"},
    {"torch.operator", "torch.operator"},
    {"torch.operator_input", "torch.operator"},
    {"torch.operator_pie", "torch.operator"},
    {"torch.operator_stack", "torch.operator"},
    {"torch.kernel", "torch.kernel"},
    {"torch.kernel_op", "torch.kernel"},
    {"torch.kernel_pie", "torch.kernel"},
    {"torch.tensor_core_pie", "torch.kernel"},
    {"torch.memory_stats", "torch.memory"},
    {"torch.memory_curve", "torch.memory"},
    {"torch.memory_events", "torch.memory"},
    {"torch.module", "torch.module"},
    {"torch.distributed_overlap", "torch.distributed"},
    {"torch.distributed_wait", "torch.distributed"},
    {"torch.distributed_comm_ops", "torch.distributed"},
    {"torch.distributed_gpu_info", "torch.distributed"},
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

ToolRequest requested_tool(std::string_view name) {
  ToolRequest request;
  const std::string_view view = name.substr(0, name.find('~'));
  request.tool = find_tool(name);
  if (request.tool) return request;
  for (const Spelling& spelling : kTorchViews) {
    if (spelling.other != view) continue;
    request.tool = find_tool(spelling.id);
    request.options.parameters.emplace_back("view", view.substr(view.find('.') + 1));
  }
  while (request.tool && name.find('~') != std::string_view::npos) {
    name.remove_prefix(name.find('~') + 1);
    const std::string_view part = name.substr(0, name.find('~'));
    if (!part.starts_with("span")) {
      request.options.host = part;
    } else {
      std::from_chars(part.data() + 4, part.data() + part.size(), request.span);
    }
  }
  return request;
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

}  // namespace sonde::capture
