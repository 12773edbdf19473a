#include "capture/export/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/regex.h"
#include "base/strings.h"
#include "capture/import/registry.h"
#include "capture/import/session.h"
#include "capture/import/step_stats/event_file.h"
#include "graph/pbtxt.h"
#include "graph/pbtxt_read.h"

namespace sonde::exports {
namespace {

namespace fs = std::filesystem;
constexpr int kMaxDepth = 64;
constexpr uint64_t kMostUnpacked = uint64_t{16} << 30;

std::string stem_of(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  for (const std::string_view ending :
       {".gz", ".pb", ".json", ".pbtxt", ".run_metadata", ".trace", ".pt", ".xplane", ".pftrace"}) {
    if (name.size() > ending.size() && name.ends_with(ending))
      name.resize(name.size() - ending.size());
  }
  return name;
}

// A message in protobuf's text format, by its first field.
const graph::MessageSchema* text_schema(std::string_view head) {
  const auto begins_field = [&](std::string_view field) {
    const size_t at = head.find(field);
    if (at == std::string_view::npos) return false;
    const std::string_view after = trimmed(head.substr(at + field.size(), 16));
    return after.starts_with('{') || after.starts_with(": {") || after.starts_with(":{");
  };
  const std::string_view start = trimmed(head);
  if (start.starts_with("step_stats") && begins_field("step_stats")) return &graph::kRunMetadata;
  if (start.starts_with("dev_stats") && begins_field("dev_stats")) return &graph::kStepStats;
  // A comment may come first.
  if (!start.starts_with('#')) return nullptr;
  if (begins_field("step_stats")) return &graph::kRunMetadata;
  return begins_field("dev_stats") ? &graph::kStepStats : nullptr;
}

class Loader {
 public:
  Loader(const Options& options, ThreadPool& pool) : options_(options), pool_(pool) {}

  Result<Sources> run() {
    if (!options_.tag.empty()) {
      SONDE_TRY(compiled, Regex::compile(options_.tag));
      tag_ = std::move(compiled);
    }
    for (const std::string& input : options_.inputs) {
      const size_t before = sources_.runs.size();
      std::error_code error;
      if (input == "-") {
        add_stdin();
      } else if (fs::is_directory(input, error)) {
        add_folder(input, 0);
        if (sources_.runs.size() == before)
          sources_.problems.push_back(input + ": no capture in this folder");
      } else {
        add_file(input, Found::kNamed);
      }
    }
    if (sources_.runs.empty()) {
      std::string text;
      for (const std::string& problem : sources_.problems)
        text += (text.empty() ? "" : "; ") + problem;
      return fail(Code::kNotFound, text.empty() ? "no capture was given" : text);
    }
    return std::move(sources_);
  }

 private:
  enum class Found : uint8_t { kNamed, kInFolder };

  void add_stdin() {
    std::string text;
    char piece[1 << 16];
    for (size_t got; (got = std::fread(piece, 1, sizeof piece, stdin)) > 0;) {
      text.append(piece, got);
      if (text.size() <= kMostUnpacked) continue;
      sources_.problems.push_back(
          fmt::format("standard input: longer than {} bytes; give a file", kMostUnpacked));
      return;
    }
    if (text.starts_with("\x1f\x8b")) {
      auto unpacked = io::gunzipped(as_bytes(text), kMostUnpacked, nullptr);
      if (!unpacked) {
        sources_.problems.push_back("standard input: " + unpacked.error().text);
        return;
      }
      text = std::move(*unpacked);
    }
    auto kept = std::make_shared<io::Content>();
    kept->unpacked = std::move(text);
    kept->is_unpacked = true;
    add_content("standard input", kept->bytes(), kept, Found::kNamed);
  }

  void add_folder(const fs::path& folder, int depth) {
    if (depth > kMaxDepth) return;
    // A session keeps the same capture in several forms; the best one is taken.
    for (const imports::CaptureFile* file : imports::session_in(folder.string()).captures())
      add_file(file->path, Found::kInFolder);
    std::vector<fs::path> folders, others;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      std::error_code ignored;
      if (it->is_directory(ignored) && !it->is_symlink(ignored)) folders.push_back(it->path());
      if (!it->is_regular_file(ignored)) continue;
      const std::string name = it->path().filename().string();
      const bool other = name.find("tfevents") != std::string::npos || name.ends_with(".pbtxt") ||
                         name.ends_with(".pftrace") || name.ends_with(".perfetto-trace");
      if (other) others.push_back(it->path());
    }
    std::sort(others.begin(), others.end());
    std::sort(folders.begin(), folders.end());
    for (const fs::path& path : others) add_file(path.string(), Found::kInFolder);
    for (const fs::path& path : folders) add_folder(path, depth + 1);
  }

  void add_file(const std::string& path, Found found) {
    auto content = io::read_content(path);
    if (!content) {
      sources_.problems.push_back(content.error().text);
      return;
    }
    if (!content->damage.empty()) sources_.problems.push_back(path + ": " + content->damage);
    auto kept = std::make_shared<io::Content>(std::move(*content));
    const size_t before = sources_.runs.size();
    add_content(path, kept->bytes(), kept, found);
    if (auto whole = kept->check_whole(path); !whole) {
      sources_.runs.resize(before);
      sources_.problems.push_back(whole.error().text);
    }
  }

  void add_content(const std::string& path, Bytes bytes, const std::shared_ptr<io::Content>& kept,
                   Found found) {
    const Bytes head = bytes.first(std::min<size_t>(bytes.size(), 1 << 16));
    if (const graph::MessageSchema* schema = text_schema(as_text(head))) {
      auto message = graph::from_pbtxt(as_text(bytes), *schema);
      if (!message) {
        sources_.problems.push_back(path + ": " + message.error().text);
        return;
      }
      auto binary = std::make_shared<io::Content>();
      binary->unpacked = std::move(*message);
      binary->is_unpacked = true;
      return add_stats({stem_of(path), std::nullopt, imports::decode_step_stats(binary->bytes())},
                       path, binary, bytes.size());
    }
    const std::string name = fs::path(path).filename().string();
    const imports::Importer* importer = imports::importer_for(name, head);
    if (importer && importer->id == "event_file") return add_events(path, bytes, kept, found);
    if (importer && importer->id == "step_stats")
      return add_stats({stem_of(path), std::nullopt,
                        imports::decode_step_stats(bytes, [&](Bytes part) { kept->pass(part); })},
                       path, kept, bytes.size());
    const uint64_t size = bytes.size();
    auto trace = imports::import_trace(
        {name, bytes, &pool_, [&](Bytes part) { kept->pass(part); }, [&] { kept->forget(); }});
    if (!trace) {
      sources_.problems.push_back(path + ": " + trace.error().text);
      return;
    }
    Run run;
    run.name = stem_of(path);
    run.source = path;
    run.bytes = size;
    run.trace = std::make_shared<const trace::Trace>(std::move(*trace));
    run.clock_ns = run.trace->start_ns();
    sources_.runs.push_back(std::move(run));
  }

  void add_events(const std::string& path, Bytes bytes, const std::shared_ptr<io::Content>& kept,
                  Found found) {
    imports::EventFileRuns events =
        imports::runs_of_event_file(bytes, [&](Bytes part) { kept->pass(part); });
    for (const std::string& damage : events.damage)
      sources_.problems.push_back(path + ": " + damage);
    size_t taken = 0;
    for (imports::StepStatsRun& run : events.runs) {
      if (tag_ && !tag_->found_in(run.name)) continue;
      ++taken;
      add_stats(std::move(run), path, kept, bytes.size());
    }
    if (taken == 0 && found == Found::kNamed)
      sources_.problems.push_back(path + (events.runs.empty()
                                              ? ": the event file holds no run metadata"
                                              : ": no run metadata with such a tag"));
  }

  void add_stats(imports::StepStatsRun run, const std::string& path,
                 const std::shared_ptr<io::Content>& kept, uint64_t bytes) {
    if (run.stats.node_count() == 0) {
      sources_.problems.push_back(fmt::format("{}: {} holds no step statistics", path,
                                              run.name.empty() ? "the run metadata" : run.name));
      return;
    }
    imports::apply_op_time(run.stats, options_.op_time_rule());
    imports::StepStatsOptions fill;
    fill.lanes = options_.lane_rule();
    fill.dataflow = !options_.hides_dataflow;
    fill.memory = true;
    fill.steps = false;
    fill.part_read = [&](Bytes part) { kept->pass(part); };
    fill.keeps_nodes = options_.is_compat();  // else nothing looks into `kept` any more
    Run out;
    out.clock_ns = INT64_MAX;
    for (const imports::DeviceStats& device : run.stats.devices) {
      for (const imports::NodeStats& node : device.nodes)
        out.clock_ns = std::min(*out.clock_ns, node.begin_in_ns());
    }
    trace::Builder builder("step_stats");
    imports::fill_trace({&run, 1}, fill, builder);
    out.name = run.name;
    out.source = path;
    out.step = run.step;
    out.bytes = bytes;
    out.trace = std::make_shared<const trace::Trace>(std::move(builder).finish());
    out.stats = std::make_shared<const imports::StepStats>(std::move(run.stats));
    if (fill.keeps_nodes) out.content = kept;
    sources_.runs.push_back(std::move(out));
  }

  const Options& options_;
  ThreadPool& pool_;
  std::optional<Regex> tag_;
  Sources sources_;
};

}  // namespace

Result<Sources> load(const Options& options, ThreadPool& pool) {
  return Loader(options, pool).run();
}

}  // namespace sonde::exports
