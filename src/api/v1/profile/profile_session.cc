// GET profile/information: what a session consists of, for its page; GET profile/progress: how far
// its loading is, for a page that waits.
#include "api/services/captures.h"
#include "api/v1/area.h"
#include "api/v1/profile/capture_json.h"
#include "api/v1/support.h"
#include "sonde/version.h"

namespace sonde::api::v1 {

std::string_view file_format(imports::FileKind kind) {
  switch (kind) {
    case imports::FileKind::kXplane:
      return "xplane";
    case imports::FileKind::kTraceJson:
      return "trace_json";
    case imports::FileKind::kRunMetadata:
      return "run_metadata";
    case imports::FileKind::kEventFile:
      return "event_file";
    case imports::FileKind::kToolData:
      return "tool_data";
    case imports::FileKind::kNsys:
      return "nsys";
    case imports::FileKind::kMemory:
      return "memory";
  }
  return "unknown";
}

namespace {

void write_diagnostic(JsonWriter& json, const trace::Diagnostic& diagnostic) {
  using Severity = trace::Diagnostic::Severity;
  json.object([&] {
    json.key("severity")
        .string(diagnostic.severity == Severity::kError     ? "error"
                : diagnostic.severity == Severity::kWarning ? "warning"
                                                            : "info");
    json.key("text").string(diagnostic.text);
  });
}

void write_files(JsonWriter& json, const Captures::Entry* entry, const Capture& capture) {
  json.key("files").array([&] {
    if (!entry) {  // dropped: no file of ours
      for (const trace::Host& host : capture.session.hosts()) {
        json.object([&] {
          json.key("name").string(host.file);
          json.key("host").string(host.name);
          json.key("bytes").number(host.file_bytes);
        });
      }
      return;
    }
    for (const imports::CaptureFile& file : entry->files.files) {
      json.object([&] {
        json.key("name").string(file.path.substr(file.path.rfind('/') + 1));
        json.key("host").string(file.host);
        json.key("format").string(file_format(file.kind));
        json.key("bytes").number(file.bytes);
        json.key("modified").number(static_cast<double>(file.modified_ns) / 1e9);
      });
    }
  });
}

void write_host(JsonWriter& json, const trace::Host& host) {
  const trace::Trace& trace = *host.trace;
  json.object([&] {
    json.key("name").string(host.name);
    json.key("format").string(trace.format());
    json.key("tracks").number(static_cast<uint64_t>(trace.tracks().size()));
    json.key("slices").number(static_cast<uint64_t>(trace.slice_count()));
    json.key("flows").number(static_cast<uint64_t>(trace.flows().size()));
    json.key("names").number(static_cast<uint64_t>(trace.labels().size()));
    json.key("memory").number(static_cast<uint64_t>(trace.memory_bytes()));
    json.key("duration").number(trace.last_end().value - trace.first_begin().value);
    json.key("metadata").array([&] {
      for (const auto& [key, value] : trace.metadata()) {
        constexpr size_t kMost = 2000;  // some producers put whole programs here
        json.array([&] {
          json.string(key);
          json.string(std::string_view(value).substr(0, kMost));
        });
      }
    });
  });
}

Answer information(const Context& context, const Request& request) {
  SONDE_ANSWER(id, text_param(request, "session"));
  Captures& captures = context.services.captures();
  SONDE_ANSWER(capture, captures.load(context, id));
  const auto entries = captures.list(context);
  const Captures::Entry* entry = nullptr;
  for (const Captures::Entry& candidate : *entries) {
    if (candidate.id == id) entry = &candidate;
  }
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("session").string(id);
    json.key("version").string(SONDE_VERSION);
    json.key("load_ms").number(capture->load_ms);
    write_files(json, entry, *capture);
    json.key("hosts").array([&] {
      for (const trace::Host& host : capture->session.hosts()) write_host(json, host);
    });
    write_diagnostics(json, *capture);
  });
  return json_answer(context, context.store.snapshot()->revision, std::move(body));
}

Answer progress(const Context& context, const Request& request) {
  SONDE_ANSWER(id, text_param(request, "session"));
  const Captures::Progress now = context.services.captures().progress(id);
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("loading").boolean(now.is_loading);
    json.key("files").number(static_cast<uint64_t>(now.files));
    json.key("files_done").number(static_cast<uint64_t>(now.files_done));
    json.key("bytes").number(now.bytes);
    json.key("bytes_done").number(now.bytes_done);
  });
  Answer answer = Answer::json(std::move(body));
  answer.cache = Cache::kNoStore;
  return answer;
}

Effort effort_of_loading(const Context&, const Request&) { return Effort::kLong; }

constexpr Route kRoutes[] = {
    {"GET", "/api/v1/profile/information", information, kMaxBodyBytes, effort_of_loading},
    {"GET", "/api/v1/profile/progress", progress},
};

}  // namespace

void write_diagnostics(JsonWriter& json, const Capture& capture) {
  json.key("diagnostics").array([&] {
    for (const auto& diagnostic : capture.session.loaded().diagnostics)
      write_diagnostic(json, diagnostic);
    for (const trace::Host& host : capture.session.hosts()) {
      for (const auto& diagnostic : host.trace->diagnostics()) write_diagnostic(json, diagnostic);
    }
  });
}

std::span<const Route> session_routes() { return kRoutes; }

}  // namespace sonde::api::v1
