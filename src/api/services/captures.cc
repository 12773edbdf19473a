#include "api/services/captures.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "api/services/upload_keeper.h"
#include "capture/analysis/arrows.h"
#include "capture/analysis/pytorch/common_clock.h"
#include "capture/import/registry.h"
#include "capture/trace/clip.h"
#include "capture/trace/merge.h"
#include "io/confine.h"
#include "io/mapped_file.h"
#include "io/remote/beside.h"

namespace sonde::api {
namespace {

constexpr size_t kKeptUploads = 4;
constexpr size_t kKeptParts = 4;

// Sizes and times of the files: a capture that is still being written is loaded again.
std::string mark_of(const imports::SessionFiles& files) {
  std::string mark;
  for (const imports::CaptureFile& file : files.files)
    mark += fmt::format("{}:{};", file.bytes, file.modified_ns);
  return mark;
}

// What to add to a time of one trace to get that of another, by their starts on the wall clock; 0
// when these are not known or too far apart to be meant.
Picos offset_between(const trace::Trace& from, const trace::Trace& to) {
  constexpr int64_t kMostNs = int64_t{1} << 50;  // 13 days
  int64_t ns = 0;
  if (!from.start_ns() || !to.start_ns() ||
      __builtin_sub_overflow(*from.start_ns(), *to.start_ns(), &ns)) {
    return {};
  }
  return ns > -kMostNs && ns < kMostNs ? from_nanos(ns) : Picos{};
}

// The runs whose event files hold run metadata: one session each.
void add_traced_runs(const Context& context, std::vector<Captures::Entry>& entries) {
  constexpr uint64_t kHeadBytes = 4096;
  const auto snapshot = context.store.snapshot();
  for (const auto& run : snapshot->runs) {
    imports::SessionFiles files;
    for (const auto& series : run->series) {
      if (series->metadata().plugin != "graph_tagged_run_metadata" || series->size() == 0) continue;
      for (const store::BlobPoint& point : series->points({0, series->size()})) {
        const auto file = static_cast<size_t>(point.where.file);
        // A database names files that are not among those of this machine.
        if (file >= snapshot->files.size() || !snapshot->files[file]) continue;
        const std::string& path = snapshot->files[file]->path;
        const bool known = std::any_of(files.files.begin(), files.files.end(),
                                       [&](const auto& f) { return f.path == path; });
        const auto head =
            known ? std::string() : context.store.blobs().head(point.where, kHeadBytes);
        if (known || !head || !imports::holds_step_stats(as_bytes(*head))) continue;
        imports::CaptureFile capture;
        capture.path = path;
        capture.kind = imports::FileKind::kEventFile;
        capture.host = "localhost";
        capture.bytes = snapshot->files[file]->size_bytes;
        capture.modified_ns = static_cast<int64_t>(run->last_wall_time * 1e9);
        files.files.push_back(std::move(capture));
      }
    }
    if (files.files.empty()) continue;
    files.run = run->name == "." ? "" : run->name;
    files.name = imports::kRunMetadataSession;
    files.path = run->folder;
    std::string id = files.id();
    entries.push_back({std::move(id), std::move(files)});
  }
}

}  // namespace

const Capture::Merged& Capture::merged() const {
  std::call_once(merged_once_, [&] {
    std::vector<const capture::HostAnalysis*> hosts;
    for (const auto& host : session.analysis().hosts) hosts.push_back(host.get());
    const capture::pytorch::CommonClock clock = capture::pytorch::common_clock(hosts);
    std::vector<trace::MergedPart> parts;
    for (size_t i = 0; i < hosts.size(); ++i) {
      parts.push_back({&hosts[i]->host(), clock.offset_ps[i]});
      capture::for_each_arrow(
          *hosts[i], [&](const trace::Flow& flow) { parts.back().arrows.push_back(flow); });
    }
    trace::Session all;
    all.name = session.loaded().name;
    all.hosts.push_back({"all hosts", "", 0,
                         std::make_shared<const trace::Trace>(trace::merged(parts, clock.rule))});
    merged_ = std::make_unique<Merged>(std::move(all));
  });
  return *merged_;
}

std::vector<capture::RecordedFile> recorded_results(const imports::SessionFiles& files) {
  std::vector<capture::RecordedFile> results;
  if (!files.captures().empty()) return results;
  constexpr uint64_t kMostBytes = uint64_t{256} << 20;
  for (const imports::CaptureFile& file : files.files) {
    if (file.kind != imports::FileKind::kToolData) continue;
    auto content = io::read_content(file.path, kMostBytes);
    if (!content) continue;
    results.push_back({file.tool, file.host, file.path.substr(file.path.rfind('/') + 1),
                       std::string(as_text(content->bytes()))});
    if (!content->check_whole(file.path)) results.pop_back();
  }
  return results;
}

std::string why_not(const Capture& capture, const capture::Tool& tool) {
  if (capture.recorded.empty()) return tool.missing(capture.session);
  const bool is_recorded =
      std::any_of(capture.recorded.begin(), capture.recorded.end(),
                  [&](const capture::RecordedFile& file) { return file.tool == tool.id; });
  return is_recorded ? "" : "the session holds stored results of other tools only, and no capture";
}

Result<capture::Report> report_of(const Capture& capture, const capture::Tool& tool,
                                  const capture::Options& options) {
  if (!capture.recorded.empty())
    return capture::recorded_report(capture.recorded, tool.id, options.host);
  return capture::run_tool(tool, capture.session, options);
}

std::vector<std::string> host_names(const Capture& capture) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const trace::Host& host : capture.session.hosts()) add(host.name);
  for (const capture::RecordedFile& file : capture.recorded) add(file.host);
  return names;
}

std::shared_ptr<const std::vector<Captures::Entry>> Captures::list(const Context& context) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto seconds =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
  // Stores are known once they have been listed: what was said before is not kept.
  uint64_t listed = 0;
  for (const auto& root : context.store.options().roots)
    listed += io::local_view(root.path) != root.path ? 1 : 0;
  using Entries = std::vector<Entry>;
  return context.services.memo().get<Entries>(
      "captures/list", (*looks_ << 40) + seconds / 5 * 1024 + listed, [&](const Entries*) {
        Entries entries;
        for (const auto& root : context.store.options().roots) {
          for (imports::SessionFiles& files : imports::find_sessions(io::local_view(root.path))) {
            std::string id = (root.name.empty() ? "" : root.name + "/") + files.id();
            entries.push_back({std::move(id), std::move(files)});
          }
        }
        add_traced_runs(context, entries);
        const std::lock_guard lock(mutex_);
        for (const Entry& entry : opened_) {
          const auto is_same = [&](const Entry& other) { return other.id == entry.id; };
          if (std::ranges::none_of(entries, is_same)) entries.push_back(entry);
        }
        return entries;
      });
}

Result<std::shared_ptr<const Capture>> Captures::load(const Context& context, std::string_view id) {
  const auto entries = list(context);
  const Entry* entry = nullptr;
  for (const Entry& candidate : *entries) {
    if (candidate.id == id) entry = &candidate;
  }
  std::unique_lock lock(mutex_);
  if (!entry) {
    for (const auto& [name, capture] : uploads_) {
      if (name == id) return capture;
    }
    return fail(Code::kNotFound, fmt::format("there is no profile session '{}'", id));
  }
  const std::string mark = mark_of(entry->files);
  for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
    if ((*slot)->id != id || (*slot)->mark != mark) continue;
    slots_.splice(slots_.begin(), slots_, slot);
    const std::shared_ptr<Slot> found = *slots_.begin();
    loaded_.wait(lock, [&] { return !found->is_loading; });
    return found->capture;
  }
  const auto slot = std::make_shared<Slot>();
  slot->id = id;
  slot->mark = mark;
  for (const imports::CaptureFile* file : entry->files.captures()) {
    ++slot->files;
    slot->bytes += file->bytes;
  }
  slots_.push_front(slot);
  if (slots_.size() > kKept) slots_.pop_back();
  lock.unlock();

  std::vector<capture::RecordedFile> recorded = recorded_results(entry->files);
  const auto began = std::chrono::steady_clock::now();
  auto session = imports::load_session(entry->files, &context.pool, {}, &slot->done);
  Result<std::shared_ptr<const Capture>> result = std::shared_ptr<const Capture>();
  if (!recorded.empty()) {
    trace::Session empty;
    empty.name = entry->files.name;
    result = std::make_shared<const Capture>(std::move(empty), std::move(recorded));
  } else if (session) {
    auto capture = std::make_shared<Capture>(std::move(*session));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    capture->load_ms = took.count();
    result = std::shared_ptr<const Capture>(std::move(capture));
  } else {
    result = fail(std::move(session).error());
  }
  lock.lock();
  slot->capture = result;
  slot->is_loading = false;
  loaded_.notify_all();
  return result;
}

std::shared_ptr<const Capture> Captures::in_memory(std::string_view id) {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, capture] : uploads_) {
    if (name == id) return capture;
  }
  for (const auto& slot : slots_) {
    if (slot->id == id && !slot->is_loading && slot->capture) return *slot->capture;
  }
  return nullptr;
}

Result<std::shared_ptr<const Capture>> Captures::shown(const Context& context,
                                                       std::string_view id) {
  if (auto capture = in_memory(id)) return capture;
  return load(context, id);
}

std::string Captures::mark_in_memory(std::string_view id) {
  const std::lock_guard lock(mutex_);
  for (const auto& slot : slots_) {
    if (slot->id == id) return slot->mark;
  }
  return {};
}

Result<std::shared_ptr<const Capture>> Captures::part(const Context& context, std::string_view id,
                                                      const Part& part) {
  SONDE_TRY(whole, load(context, id));
  if (whole->session.hosts().empty())
    return fail(Code::kUnsupported, "a session of stored results has no parts");
  if (part.begin >= part.end) return fail(Code::kInvalid, "the range ends before it begins");
  const auto hosts = whole->session.hosts();
  const trace::Host* clock = &hosts.front();
  for (const trace::Host& host : hosts) {
    if (host.name == part.host) clock = &host;
  }
  const std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", id, mark_in_memory(id),
                                      part.begin.value, part.end.value, clock->name);
  {
    const std::lock_guard lock(mutex_);
    for (auto kept = parts_.begin(); kept != parts_.end(); ++kept) {
      if (kept->key != key) continue;
      parts_.splice(parts_.begin(), parts_, kept);
      return parts_.front().capture;
    }
  }
  trace::Session session;
  session.name = whole->session.loaded().name;
  session.diagnostics = whole->session.loaded().diagnostics;
  for (const trace::Host& host : hosts) {
    // Every trace counts from its own start.
    const Picos shift = offset_between(*clock->trace, *host.trace);
    trace::Host clipped = host;
    clipped.trace = std::make_shared<const trace::Trace>(
        trace::clipped(*host.trace, part.begin + shift, part.end + shift));
    session.hosts.push_back(std::move(clipped));
  }
  auto capture = std::make_shared<const Capture>(std::move(session));
  const std::lock_guard lock(mutex_);
  parts_.push_front({key, capture});
  if (parts_.size() > kKeptParts) parts_.pop_back();
  return capture;
}

Result<std::string> Captures::open(const Context& context, const std::string& path) {
  const std::string here = io::local_view(path);
  bool is_inside = false;
  for (const auto& root : context.store.options().roots)
    is_inside = is_inside || io::is_inside_root(io::local_view(root.path), here).has_value();
  if (!is_inside)
    return fail(Code::kForbidden,
                path +
                    ": not inside the log directory; start Sonde on a folder that holds both the "
                    "digests and the captures, or open it with `sonde profile`");
  SONDE_TRY(files, imports::session_at(here));
  std::string id = fmt::format("rank/{}", path.substr(path.rfind('/') + 1));
  {
    constexpr size_t kMostOpened = 16;
    const std::lock_guard lock(mutex_);
    std::erase_if(opened_, [&](const Entry& entry) { return entry.id == id; });
    opened_.push_back({id, std::move(files)});
    if (opened_.size() > kMostOpened) opened_.erase(opened_.begin());
  }
  ++*looks_;
  return id;
}

Captures::Progress Captures::progress(std::string_view id) {
  const std::lock_guard lock(mutex_);
  for (const auto& slot : slots_) {
    if (slot->id != id) continue;
    return {slot->is_loading, slot->files, slot->done.files, slot->bytes, slot->done.bytes};
  }
  return {};
}

bool Captures::is_loaded(std::string_view id) { return in_memory(id) != nullptr; }

void Captures::forget_uploads() {
  const std::lock_guard lock(mutex_);
  uploads_.clear();
  std::erase_if(parts_, [](const KeptPart& part) { return part.key.starts_with("dropped/"); });
}

Result<std::string> Captures::keep_upload(const Context& context, std::string name, Bytes bytes,
                                          std::string_view into) {
  constexpr uint64_t kMostBytes = uint64_t{4} << 30;
  std::string unpacked;
  if (as_text(bytes).starts_with("\x1f\x8b")) {
    SONDE_TRY(inflated, io::gunzipped(bytes, kMostBytes, nullptr));
    unpacked = std::move(inflated);
    bytes = as_bytes(unpacked);
  }
  SONDE_TRY(trace, imports::import_trace({name, bytes, &context.pool}));
  trace::Session session;
  session.name = name;
  std::string id = fmt::format("dropped/{}", name);
  if (!into.empty()) {
    const auto first = in_memory(into);
    if (!first || !into.starts_with("dropped/"))
      return fail(Code::kNotFound, fmt::format("there is no dropped session '{}'", into));
    session = first->session.loaded();
    id = into;
    // Two workers write files of the same name as a rule.
    const auto taken = [&](const std::string& candidate) {
      return std::any_of(session.hosts.begin(), session.hosts.end(),
                         [&](const trace::Host& host) { return host.name == candidate; });
    };
    const std::string plain = name;
    for (int n = 2; taken(name); ++n) name = fmt::format("{} ({})", plain, n);
  }
  session.hosts.push_back(
      {name, name, bytes.size(), std::make_shared<const trace::Trace>(std::move(trace))});
  auto capture = std::make_shared<const Capture>(std::move(session));
  context.services.uploads().note_upload();
  const std::lock_guard lock(mutex_);
  std::erase_if(uploads_, [&](const auto& upload) { return upload.first == id; });
  uploads_.emplace_back(id, std::move(capture));
  if (uploads_.size() > kKeptUploads) uploads_.erase(uploads_.begin());
  return id;
}

}  // namespace sonde::api
