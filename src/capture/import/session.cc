#include "capture/import/session.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "capture/import/registry.h"
#include "capture/import/salvage.h"
#include "capture/import/step_stats/event_file.h"
#include "io/file.h"
#include "io/mapped_file.h"
#include "io/remote/beside.h"

namespace sonde::imports {
namespace {

namespace fs = std::filesystem;
constexpr int kMaxFolderDepth = 64;

// Endings of the per-tool files old plug-ins wrote, and the tool each belongs to.
struct ToolEnding {
  std::string_view ending, tool;
};
constexpr ToolEnding kToolEndings[] = {
    {"overview_page.pb", "overview_page"},
    {"overview_page.json", "overview_page"},
    {"input_pipeline.pb", "input_pipeline_analyzer"},
    {"input_pipeline.json", "input_pipeline_analyzer"},
    {"tensorflow_stats.pb", "framework_op_stats"},
    {"kernel_stats.pb", "kernel_stats"},
    {"memory_profile.json.gz", "memory_profile"},
    {"memory_profile.json", "memory_profile"},
    {"pod_viewer.json", "pod_viewer"},
    {"op_profile.json", "op_profile"},
    {"memory_viewer.json", "memory_viewer"},
    {"tf_data_bottleneck_analysis.json", "tf_data_bottleneck_analysis"},
};

std::string host_before(std::string_view name, std::string_view ending) {
  std::string_view host = name.substr(0, name.size() - ending.size());
  if (host.ends_with('.')) host.remove_suffix(1);
  return std::string(host);
}

// Recognises a file of a session by its name; false for anything else (caches, hlo protos …).
bool classify(std::string_view name, CaptureFile& file) {
  const auto is = [&](std::string_view ending, FileKind kind) {
    if (!name.ends_with(ending)) return false;
    file.kind = kind;
    file.host = host_before(name, ending);
    return true;
  };
  if (is("xplane.pb", FileKind::kXplane) || is("xplane.pb.gz", FileKind::kXplane)) return true;
  for (const ToolEnding& entry : kToolEndings) {
    if (is(entry.ending, FileKind::kToolData) ||
        is(std::string(entry.ending) + ".gz", FileKind::kToolData)) {
      file.tool = entry.tool;
      return true;
    }
  }
  if (is(".pt.trace.json.gz", FileKind::kTraceJson) || is(".pt.trace.json", FileKind::kTraceJson)) {
    // worker0.1623143089861: the number is the time of the span, not part of the worker's name.
    const size_t dot = file.host.rfind('.');
    if (dot != std::string::npos && dot + 1 < file.host.size() &&
        file.host.find_first_not_of("0123456789", dot + 1) == std::string::npos) {
      file.span = file.host.substr(dot + 1);
      file.host.resize(dot);
    }
    return true;
  }
  if (is("trace.json.gz", FileKind::kTraceJson) || is("trace.json", FileKind::kTraceJson))
    return true;
  if (name.starts_with("timeline") &&
      (is(".json", FileKind::kTraceJson) || is(".json.gz", FileKind::kTraceJson)))
    return true;
  return is("run_metadata.pb", FileKind::kRunMetadata) ||
         is("run_metadata.pb.gz", FileKind::kRunMetadata) ||
         is("step_stats.pb", FileKind::kRunMetadata);
}

void stat_into(CaptureFile& file) {
  struct stat info;
  if (::stat(file.path.c_str(), &info) != 0) return;
  file.bytes = static_cast<uint64_t>(info.st_size);
  file.modified_ns = int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

std::vector<CaptureFile> files_of(const fs::path& folder) {
  std::vector<CaptureFile> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_regular_file(error)) continue;
    CaptureFile file;
    if (!classify(it->path().filename().string(), file)) continue;
    file.path = it->path().string();
    stat_into(file);
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const CaptureFile& a, const CaptureFile& b) {
    return std::tie(a.host, a.path) < std::tie(b.host, b.path);
  });
  return files;
}

SessionFiles session_of(const fs::path& folder, const fs::path& root) {
  SessionFiles session;
  session.name = folder.filename().string();
  session.path = folder.string();
  // <root>/<run>/plugins/profile/<session>
  const fs::path run = folder.parent_path().parent_path().parent_path().lexically_relative(root);
  session.run = run == "." || run.empty() ? "" : run.generic_string();
  session.files = files_of(folder);
  return session;
}

bool is_pytorch(const CaptureFile& file) {
  return file.path.ends_with(".pt.trace.json") || file.path.ends_with(".pt.trace.json.gz");
}

// The n-th capture of every worker belongs to the n-th session. Files are sorted by worker and
// then by name, so by time.
std::vector<SessionFiles> by_span(SessionFiles all) {
  std::vector<SessionFiles> spans;
  std::map<std::string, size_t> seen;
  for (CaptureFile& file : all.files) {
    const size_t index = is_pytorch(file) ? seen[file.host]++ : 0;
    if (index >= spans.size()) {
      spans.resize(index + 1);
      spans[index].run = all.run;
      spans[index].path = all.path;
    }
    spans[index].files.push_back(std::move(file));
  }
  for (size_t i = 0; i < spans.size(); ++i)
    spans[i].name = spans.size() == 1 ? all.name : fmt::format("{} span {}", all.name, i + 1);
  return spans;
}

// Captures that torch.profiler's tensorboard_trace_handler left in a folder of the log directory.
void add_loose(const fs::path& folder, const fs::path& root, std::vector<SessionFiles>& found) {
  std::vector<CaptureFile> files = files_of(folder);
  std::erase_if(files, [](const CaptureFile& file) { return !is_pytorch(file); });
  if (files.empty()) return;
  SessionFiles session;
  const fs::path run = folder.lexically_relative(root);
  session.run = run == "." || run.empty() ? "" : run.generic_string();
  session.name = folder.filename().string();
  session.path = folder.string();
  session.files = std::move(files);
  for (SessionFiles& span : by_span(std::move(session))) found.push_back(std::move(span));
}

// A name may be anybody's (a data set is a .pickle too): the first bytes decide.
bool is_lone_capture(const fs::path& path, CaptureFile& file) {
  const std::string name = path.filename().string();
  const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
  std::string_view wanted;
  if (ends(".sqlite") || ends(".sqlite3")) wanted = "nsys";
  if (ends(".pickle") || ends(".pkl")) wanted = "torch_memory";
  if (ends(".prof") || ends(".pprof")) wanted = "device_memory";
  if (wanted.empty()) return false;
  constexpr size_t kHeadBytes = 1 << 16;
  auto opened = io::File::open(path.string());
  if (!opened) return false;
  std::string head(kHeadBytes, '\0');
  const auto got = opened->read_at(0, std::as_writable_bytes(std::span(head)));
  if (!got) return false;
  head.resize(*got);
  if (head.starts_with("\x1f\x8b")) {
    // The head of a packed file: what can be unpacked of it.
    std::string damage;
    auto unpacked = io::gunzipped(as_bytes(head), uint64_t{64} << 20, &damage);
    if (!unpacked) return false;
    head = std::move(*unpacked);
  }
  const Importer* importer = importer_for(name, as_bytes(head));
  if (!importer || importer->id != wanted) return false;
  file.kind = wanted == "nsys" ? FileKind::kNsys : FileKind::kMemory;
  file.path = path.string();
  file.host = path.stem().string();
  stat_into(file);
  return true;
}

// Each file is a session by itself, under its own name.
void add_lone(const fs::path& path, const fs::path& root, std::vector<SessionFiles>& found) {
  CaptureFile file;
  if (!is_lone_capture(path, file)) return;
  SessionFiles session;
  const fs::path run = path.parent_path().lexically_relative(root);
  session.run = run == "." || run.empty() ? "" : run.generic_string();
  session.name = path.filename().string();
  session.path = path.string();
  session.files.push_back(std::move(file));
  found.push_back(std::move(session));
}

void walk(const fs::path& folder, const fs::path& root, int depth,
          std::vector<SessionFiles>& found) {
  if (depth > kMaxFolderDepth) return;
  const bool is_profile =
      folder.filename() == "profile" && folder.parent_path().filename() == "plugins";
  std::error_code error;
  if (!is_profile) add_loose(folder, root, found);
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!it->is_directory(ignored)) {
      if (it->is_regular_file(ignored)) add_lone(it->path(), root, found);
      continue;
    }
    const std::string name = it->path().filename().string();
    if (is_profile) {
      found.push_back(session_of(it->path(), root));
    } else if (!it->is_symlink(ignored) && name != ".sonde") {
      walk(it->path(), root, depth + 1, found);
    }
  }
}

// The event files of a folder that hold run metadata, as one session.
std::optional<SessionFiles> event_file_session(const fs::path& folder) {
  SessionFiles session;
  session.name = kRunMetadataSession;
  session.path = folder.string();
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.find("tfevents") == std::string::npos || !it->is_regular_file(error)) continue;
    const auto content = io::read_content(it->path().string());
    if (!content) continue;
    const EventFileRuns found = runs_of_event_file(content->bytes());
    if (std::none_of(found.runs.begin(), found.runs.end(),
                     [](const StepStatsRun& run) { return run.stats.node_count() != 0; }))
      continue;
    CaptureFile file;
    file.path = it->path().string();
    file.kind = FileKind::kEventFile;
    stat_into(file);
    session.files.push_back(std::move(file));
  }
  if (session.files.empty()) return std::nullopt;
  std::sort(session.files.begin(), session.files.end(),
            [](const CaptureFile& a, const CaptureFile& b) { return a.path < b.path; });
  return session;
}

// A run that was restarted has several event files; their traced runs make one trace.
Result<trace::Host> load_event_files(const std::vector<const CaptureFile*>& files) {
  std::vector<io::Content> contents;
  std::vector<StepStatsRun> runs;
  trace::Builder builder("step_stats");
  trace::Host host;
  for (const CaptureFile* file : files) {
    SONDE_TRY(content, io::read_content(file->path));
    contents.push_back(std::move(content));
    EventFileRuns found = runs_of_event_file(contents.back().bytes(),
                                             [&](Bytes part) { contents.back().pass(part); });
    for (std::string& damage : found.damage)
      builder.diagnose(trace::Diagnostic::Severity::kWarning,
                       fmt::format("{}: {}", file->path, damage));
    for (StepStatsRun& run : found.runs) {
      if (run.stats.node_count() != 0) runs.push_back(std::move(run));
    }
    host.file_bytes += contents.back().bytes().size();
  }
  if (runs.empty())
    return fail(
        Code::kUnsupported,
        files.front()->path + ": the event file holds no run metadata with step statistics");
  std::stable_sort(runs.begin(), runs.end(),
                   [](const StepStatsRun& a, const StepStatsRun& b) { return a.step < b.step; });
  StepStatsOptions options;
  options.part_read = [&](Bytes part) {  // of one of them; the others know that it is not theirs
    for (const io::Content& content : contents) content.pass(part);
  };
  fill_trace(runs, options, builder);
  for (size_t i = 0; i < contents.size(); ++i) {
    if (auto whole = contents[i].check_whole(files[i]->path); !whole)
      return fail(std::move(whole).error());
  }
  for (io::Content& content : contents) content.forget();
  host.name = "localhost";
  host.file = files.front()->path;
  host.trace = std::make_shared<const trace::Trace>(std::move(builder).finish());
  return host;
}

}  // namespace

bool holds_step_stats(Bytes event_head) {
  bool cut = false, holds = false;
  walk_fields(event_head, cut, [&](const wire::Field& tagged) {
    if (tagged.number != 8 || !tagged.is_bytes()) return;
    walk_fields(tagged.bytes, cut, [&](const wire::Field& f) {
      if (f.number == 2 && f.is_bytes()) holds |= step_stats_form(f.bytes) != StepStatsForm::kNone;
    });
  });
  return holds;
}

std::vector<const CaptureFile*> SessionFiles::captures() const {
  std::vector<const CaptureFile*> chosen;
  for (const FileKind kind : {FileKind::kXplane, FileKind::kTraceJson, FileKind::kRunMetadata,
                              FileKind::kEventFile, FileKind::kNsys, FileKind::kMemory}) {
    for (const CaptureFile& file : files) {
      if (file.kind == kind) chosen.push_back(&file);
    }
    if (!chosen.empty()) break;
  }
  return chosen;
}

std::vector<SessionFiles> find_sessions(const std::string& root) {
  std::vector<SessionFiles> found;
  fs::path base = fs::path(root).lexically_normal();
  if (!base.has_filename()) base = base.parent_path();
  walk(base, base, 0, found);
  std::sort(found.begin(), found.end(),
            [](const SessionFiles& a, const SessionFiles& b) { return a.id() > b.id(); });
  return found;
}

SessionFiles session_in(const std::string& folder) {
  SessionFiles session;
  session.name = fs::path(folder).filename().string();
  session.path = folder;
  session.files = files_of(folder);
  return session;
}

Result<SessionFiles> session_at(const std::string& typed, uint32_t span) {
  SONDE_TRY(const path, io::here(typed));
  std::error_code error;
  fs::path place = fs::path(path).lexically_normal();
  if (!place.has_filename() && place.has_parent_path()) place = place.parent_path();
  const fs::file_status status = fs::status(place, error);
  if (!fs::exists(status)) return fail(Code::kNotFound, path + ": no such file or folder");
  if (!fs::is_directory(status)) {
    SessionFiles session;
    session.name = place.filename().string();
    session.path = path;
    CaptureFile file;
    if (!classify(session.name, file)) {
      file.kind = session.name.ends_with(".pb") ? FileKind::kRunMetadata : FileKind::kTraceJson;
      file.host = place.stem().string();
    }
    file.path = path;
    stat_into(file);
    session.files.push_back(std::move(file));
    return session;
  }
  SessionFiles loose = session_in(place.string());
  if (!loose.files.empty()) {
    std::vector<SessionFiles> spans = by_span(std::move(loose));
    if (span > spans.size())
      return fail(Code::kNotFound,
                  fmt::format("{}: no span {}, there are {}", path, span, spans.size()));
    return std::move(span == 0 ? spans.back() : spans[span - 1]);
  }
  std::vector<SessionFiles> sessions = find_sessions(place.string());
  std::erase_if(sessions, [](const SessionFiles& s) { return s.files.empty(); });
  if (!sessions.empty()) {
    // The newest by name: session names are times.
    const auto newest = std::max_element(
        sessions.begin(), sessions.end(),
        [](const SessionFiles& a, const SessionFiles& b) { return a.name < b.name; });
    return std::move(*newest);
  }
  if (auto session = event_file_session(place)) return std::move(*session);
  return fail(Code::kNotFound,
              path +
                  ": no capture here; looked for plugins/profile/<session>/*.xplane.pb and for "
                  "*.trace.json, *.pt.trace.json and *.run_metadata.pb, also packed with gzip, "
                  "for exports of Nsight Systems (*.sqlite), memory snapshots (*.pickle, *.prof) "
                  "and for event files with run metadata");
}

Result<trace::Host> load_capture(const CaptureFile& file, ThreadPool* pool) {
  SONDE_TRY(content, io::read_content(file.path));
  const std::string name = fs::path(file.path).filename().string();
  trace::Host host;
  host.file_bytes = content.bytes().size();
  auto imported =
      import_trace({name, content.bytes(), pool, [&](Bytes part) { content.pass(part); },
                    [&] { content.forget(); }});
  // First: a file that was cut makes no sense to its importer either.
  if (auto whole = content.check_whole(file.path); !whole) return fail(std::move(whole).error());
  SONDE_TRY(trace, std::move(imported));
  host.name = !file.host.empty() ? file.host : std::string(trace.host());
  if (host.name.empty()) host.name = "localhost";
  host.file = file.path;
  host.trace = std::make_shared<const trace::Trace>(std::move(trace));
  return host;
}

Result<trace::Session> load_session(const SessionFiles& files, ThreadPool* pool,
                                    std::string_view only_host, LoadProgress* progress) {
  trace::Session session;
  session.name = files.name;
  const auto captures = files.captures();
  if (captures.empty())
    return fail(Code::kNotFound, files.path + ": the session holds no capture that can be read");
  if (captures.front()->kind == FileKind::kEventFile) {
    SONDE_TRY(host, load_event_files(captures));
    session.hosts.push_back(std::move(host));
    return session;
  }
  std::optional<Error> first_error;
  for (const CaptureFile* file : captures) {
    if (!only_host.empty() && file->host != only_host) continue;
    auto host = load_capture(*file, pool);
    if (progress) {
      progress->files += 1;
      progress->bytes += file->bytes;
    }
    if (host) {
      session.hosts.push_back(std::move(*host));
      continue;
    }
    session.diagnostics.push_back({trace::Diagnostic::Severity::kError, host.error().text});
    if (!first_error) first_error = host.error();
  }
  if (session.hosts.empty()) {
    if (first_error) return fail(std::move(*first_error));
    return fail(Code::kNotFound, fmt::format("no file of host '{}' in {}", only_host, files.path));
  }
  return session;
}

}  // namespace sonde::imports
