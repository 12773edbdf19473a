#include "numerics/find.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/strings.h"
#include "numerics/debug_event.h"
#include "numerics/record_file.h"

namespace sonde::numerics {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStart = "tfdbg_events.";
constexpr std::string_view kEnd = ".metadata";
constexpr size_t kMostDumps = 10'000;

// tfdbg_events.<time>.<host>: the host may hold dots.
std::string host_of(std::string_view stem) {
  stem.remove_prefix(kStart.size());
  const size_t dot = stem.find('.');
  return std::string(dot == stem.npos ? stem : stem.substr(dot + 1));
}

struct Set {
  FileSet set;
  std::string run_id, tensorflow_version, file_version, framework;
};

Result<Set> read_metadata(const fs::path& path) {
  RecordReads reads(path.string());
  SONDE_TRY(payload, reads.at(record::kHeader));
  SONDE_TRY(event, parse_event(payload));
  if (event.kind != EventKind::kMetadata) return fail(Code::kCorrupt, "no metadata record");
  SONDE_TRY(metadata, parse_metadata(event.body));
  Set set;
  set.set.wall_time = event.wall_time;
  set.set.rank = metadata.rank;
  const std::string name = path.filename().string();
  set.set.host = host_of(std::string_view(name).substr(0, name.size() - kEnd.size()));
  set.set.prefix = path.string().substr(0, path.string().size() - kEnd.size());
  set.run_id = to_utf8(metadata.run_id);
  set.tensorflow_version = to_utf8(metadata.tensorflow_version);
  set.file_version = to_utf8(metadata.file_version);
  set.framework = to_utf8(metadata.framework);
  return set;
}

void add_dumps(const std::string& folder, const std::string& name,
               std::vector<std::string>* problems, std::vector<DumpFiles>& found) {
  std::vector<Set> sets;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    if (!file.starts_with(kStart) || !file.ends_with(kEnd) ||
        file.size() <= kStart.size() + kEnd.size())
      continue;
    auto set = read_metadata(entry->path());
    if (set) {
      sets.push_back(std::move(*set));
    } else if (problems) {
      problems->push_back(entry->path().string() + ": " + set.error().text);
    }
  }
  std::sort(sets.begin(), sets.end(), [](const Set& a, const Set& b) {
    return std::pair(a.set.wall_time, a.set.prefix) < std::pair(b.set.wall_time, b.set.prefix);
  });
  // A set without a run id cannot be told to belong to another one.
  std::map<std::string, size_t> by_run;
  for (Set& set : sets) {
    const std::string key = set.run_id.empty() ? set.set.prefix : set.run_id;
    const auto [at, is_new] = by_run.emplace(key, found.size());
    if (is_new) {
      found.push_back(
          {name, folder, set.run_id, set.tensorflow_version, set.file_version, set.framework, {}});
      if (by_run.size() > 1)
        found.back().name =
            (name == "." ? "" : name + "/") + fs::path(set.set.prefix).filename().string();
    }
    found[at->second].sets.push_back(std::move(set.set));
  }
}

}  // namespace

std::vector<DumpFiles> dumps_in(const std::vector<io::NamedFolder>& folders,
                                std::vector<std::string>* problems) {
  std::vector<DumpFiles> found;
  for (const io::NamedFolder& folder : folders) {
    if (found.size() >= kMostDumps) break;
    add_dumps(folder.path, folder.name, problems, found);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const DumpFiles& a, const DumpFiles& b) { return a.name < b.name; });
  return found;
}

std::vector<DumpFiles> find_dumps(const std::vector<io::ScanRoot>& roots,
                                  std::vector<std::string>* problems) {
  return dumps_in(io::named_folders(io::scan(roots), roots), problems);
}

}  // namespace sonde::numerics
