// TensorBoard's profile plug-in as xprof serves it: runs, tools, hosts and the data of a tool. The
// shapes are xprof's, the numbers Sonde's. Nothing is read outside the log directory, and only
// capture_profile writes into it.
#include <fmt/format.h>

#include <algorithm>

#include "api/services/captures.h"
#include "api/tensorboard/areas.h"
#include "api/tensorboard/capture_profile.h"
#include "api/tensorboard/core.h"
#include "api/tensorboard/shared.h"
#include "capture/analysis/analysis.h"
#include "capture/report/render.h"
#include "capture/trace/questions.h"

namespace sonde::api::tensorboard {
namespace {

// The version of xprof whose routes these are; clients compare it with what wrote their caches.
constexpr std::string_view kVersion = "2.24.2";

// Sessions of the profile plug-in. Run metadata and captures that lie about loosely are Sonde's own
// extra: TensorBoard shows no Profile tab for them, and its page must not be told otherwise.
bool is_listed(const Captures::Entry& entry) {
  return entry.files.path.find("/plugins/profile/") != std::string::npos;
}

Answer runs(const Context& context, const Request&) {
  std::string out;
  JsonWriter json(out);
  json.array([&] {
    for (const Captures::Entry& entry : *context.services.captures().list(context)) {
      if (is_listed(entry)) json.string(entry.id);
    }
  });
  return Answer::json(std::move(out));
}

Result<std::shared_ptr<const Capture>> capture_of(const Context& context, const Request& request) {
  const auto run = request.param("run");
  if (!run || run->empty()) return fail(Code::kInvalid, "the parameter run is missing");
  return context.services.captures().load(context, *run);
}

// xprof's order of tools; the trace viewer is a page of its own there.
constexpr std::string_view kOrder[] = {"overview_page",
                                       "trace_viewer@",
                                       "graph_viewer",
                                       "op_profile",
                                       "input_pipeline_analyzer",
                                       "kernel_stats",
                                       "memory_profile",
                                       "memory_viewer",
                                       "roofline_model",
                                       "pod_viewer",
                                       "framework_op_stats",
                                       "hlo_stats",
                                       "inference_profile",
                                       "tf_data_bottleneck_analysis"};

Answer run_tools(const Context& context, const Request& request) {
  auto capture = capture_of(context, request);
  if (!capture) return failed(capture.error());
  std::string out;
  JsonWriter json(out);
  json.array([&] {
    for (const std::string_view name : kOrder) {
      const capture::Tool* tool = capture::find_tool(name);
      const bool can_run =
          tool ? why_not(**capture, *tool).empty() : !(*capture)->session.hosts().empty();
      if (can_run) json.string(name);
    }
  });
  return Answer::json(std::move(out));
}

Answer hosts(const Context& context, const Request& request) {
  auto capture = capture_of(context, request);
  if (!capture) return failed(capture.error());
  std::string tag(request.param("tag").value_or(""));
  while (tag.ends_with('^') || tag.ends_with('@') || tag.ends_with('#')) tag.pop_back();
  std::vector<std::string> names = host_names(**capture);
  const auto is_any = [&](std::initializer_list<std::string_view> tags) {
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
  };
  if (names.size() > 1) {
    if (is_any(
            {"overview_page", "pod_viewer", "smart_suggestion", "tf_data_bottleneck_analysis"})) {
      names = {"ALL_HOSTS"};
    } else if (is_any({"input_pipeline_analyzer", "framework_op_stats", "tensorflow_stats",
                       "kernel_stats", "megascale_stats"})) {
      names.push_back("ALL_HOSTS");
    }
  }
  std::sort(names.begin(), names.end());
  std::string out;
  JsonWriter json(out);
  json.array([&] {
    for (const std::string& name : names) json.object([&] { json.key("hostname").string(name); });
  });
  return Answer::json(std::move(out));
}

capture::Options options_of(const Request& request) {
  capture::Options options;
  for (const auto& [key, value] : request.query) {
    if (key == "host" || key == "hosts") {
      options.host = value;
    } else {
      options.parameters.emplace_back(key, value);
    }
  }
  return options;
}

// The whole trace as Chrome JSON, for pages that draw it themselves.
Answer trace_viewer(const Capture& capture, const Request& request) {
  const std::string host(request.param("host").value_or(request.param("hosts").value_or("")));
  for (const trace::Host& candidate : capture.session.hosts()) {
    if (!host.empty() && candidate.name != host) continue;
    trace::Selection everything;
    everything.begin = candidate.trace->first_begin();
    everything.end = candidate.trace->last_end();
    Answer answer;
    auto stream = std::make_shared<Stream>();
    stream->next = trace::chrome_json(candidate.trace, everything);
    answer.body = std::move(stream);
    return answer;
  }
  return plain_error(404, "No xplane file found for host: " + host);
}

Result<capture::Report> report_of(const Context& context, const Request& request,
                                  const capture::Tool*& tool) {
  SONDE_TRY(capture, capture_of(context, request));
  const std::string tag(request.param("tag").value_or(""));
  tool = capture::find_tool(tag);
  if (!tool) return fail(Code::kNotFound, "No Data");
  return api::report_of(*capture, *tool, options_of(request));
}

// A result stored as the very JSON that is asked for.
std::optional<std::string> stored_json(const Context& context, const Request& request) {
  const auto capture = capture_of(context, request);
  if (!capture) return std::nullopt;
  const capture::RecordedFile* file = capture::recorded_file(
      (*capture)->recorded, request.param("tag").value_or(""), request.param("host").value_or(""));
  if (!file || !capture::is_json(*file)) return std::nullopt;
  return file->content;
}

Answer data(const Context& context, const Request& request) {
  const std::string_view tag = request.param("tag").value_or("");
  if (tag.starts_with("trace_viewer")) {
    auto capture = capture_of(context, request);
    if (!capture) return failed(capture.error());
    return trace_viewer(**capture, request);
  }
  const capture::Tool* tool = nullptr;
  auto report = report_of(context, request, tool);
  if (!report) return failed(report.error());
  if (auto stored = stored_json(context, request)) return Answer::json(std::move(*stored));
  Answer answer;
  answer.body = capture::to_xprof(*report, *tool);
  if (!report->document && !report->text.empty() && tool->gviz.empty())
    answer.content_type = report->text_type;
  return answer;
}

Answer data_csv(const Context& context, const Request& request) {
  const capture::Tool* tool = nullptr;
  auto report = report_of(context, request, tool);
  if (!report) return failed(report.error());
  const capture::Table* table = nullptr;
  for (const std::string_view name : tool->gviz) {
    if (!table) table = report->find(name);
  }
  if (!table && !report->tables.empty()) table = &report->tables[0];
  Answer answer;
  answer.content_type = "text/csv";
  if (table) answer.body = capture::to_csv(*table);
  std::string run(request.param("run").value_or("")), host(request.param("host").value_or(""));
  host = host.substr(host.rfind('-') + 1);
  std::string name = fmt::format("{}_{}_{}.csv", tool->id, run, host);
  for (char& c : name) {
    if (c == '/' || c == '"' || c == '\\' || static_cast<unsigned char>(c) < 32) c = '_';
  }
  answer.headers.emplace_back("Content-Disposition",
                              fmt::format("attachment; filename=\"{}\"", name));
  return answer;
}

Answer module_list(const Context& context, const Request& request) {
  auto capture = capture_of(context, request);
  if (!capture) return failed(capture.error());
  Answer answer;
  answer.content_type = "text/plain";
  for (const auto& host : (*capture)->session.analysis().hosts) {
    for (const auto& module : host->modules().all()) {
      if (!answer.text().empty()) answer.text() += ",";
      answer.text() += module->display_name;
    }
  }
  return answer;
}

Answer version(const Context&, const Request&) {
  Answer answer;
  answer.content_type = "text/plain";
  answer.body = std::string(kVersion);
  return answer;
}

Answer config(const Context& context, const Request&) {
  return Answer::json(fmt::format(R"({{"enableTabNameLabel":false,"hideCaptureProfileButton":{},)"
                                  R"("srcPathPrefix":""}})",
                                  !context.settings.no_capture.empty()));
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/profile/runs", runs},
    {"GET", "/data/plugin/profile/run_tools", run_tools},
    {"GET", "/data/plugin/profile/hosts", hosts},
    {"GET", "/data/plugin/profile/data", data},
    {"GET", "/data/plugin/profile/data_csv", data_csv},
    {"GET", "/data/plugin/profile/module_list", module_list},
    {"GET", "/data/plugin/profile/version", version},
    {"GET", "/data/plugin/profile/config", config},
    {"*", "/data/plugin/profile/capture_profile", capture_profile, kMaxBodyBytes, takes_long},
};

}  // namespace

bool has_profile_data(const Context& context, const store::Snapshot&) {
  const auto entries = context.services.captures().list(context);
  return std::any_of(entries->begin(), entries->end(), is_listed);
}

std::span<const Route> profile_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
