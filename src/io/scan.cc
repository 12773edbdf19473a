#include "io/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>

#include "base/strings.h"
#include "io/other_files.h"
#include "io/remote/beside.h"
#include "io/remote/remote.h"

namespace sonde::io {
namespace {

constexpr size_t kMaxDepth = 100;
constexpr size_t kMaxFolders = 1'000'000;  // links between siblings can multiply without a loop

struct FolderId {
  uint64_t device, inode;
  friend bool operator==(const FolderId&, const FolderId&) = default;
};

struct Folder {
  std::string path;
  std::string run;  // path below the root, empty for the root
  std::vector<FolderId> ancestors;
};

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

std::string joined(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (path.empty() || path.back() != '/') path += '/';
  return path.append(name);
}

class Walker {
 public:
  Walker(Scan& scan, const ScanRoot& root, bool (*is_wanted)(std::string_view),
         std::vector<OtherFile>& others)
      : scan_(scan), prefix_(root.name), is_wanted_(is_wanted), others_(others) {}

  std::vector<FoundRun> walk(const std::string& root) {
    pending_.push_back({root, "", {}});
    while (!pending_.empty()) {
      const Folder folder = std::move(pending_.back());
      pending_.pop_back();
      if (scan_.folders.size() >= kMaxFolders) {
        skip(folder.path, "more than a million folders");
        break;
      }
      visit(folder);
    }
    return std::move(runs_);
  }

 private:
  void skip(std::string path, std::string reason) {
    if (scan_.skipped.size() < 1000) scan_.skipped.push_back({std::move(path), std::move(reason)});
  }

  void visit(const Folder& folder) {
    const std::unique_ptr<DIR, CloseDir> dir(::opendir(folder.path.c_str()));
    if (!dir) return skip(folder.path, std::strerror(errno));
    struct stat own;
    if (::fstat(::dirfd(dir.get()), &own) != 0) return skip(folder.path, std::strerror(errno));
    const FolderId id{own.st_dev, own.st_ino};
    if (std::find(folder.ancestors.begin(), folder.ancestors.end(), id) != folder.ancestors.end())
      return skip(folder.path, "a link to a folder that it lies in");
    if (folder.ancestors.size() >= kMaxDepth)
      return skip(folder.path, "more than 100 folders deep");
    scan_.folders.push_back(folder.path);
    FoundRun run{folder.run.empty() ? "." : to_utf8(folder.run), folder.path, {}};
    while (const dirent* entry = ::readdir(dir.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      visit_entry(folder, id, ::dirfd(dir.get()), *entry, run);
    }
    if (run.files.empty()) return;
    std::sort(run.files.begin(), run.files.end(),
              [](const FoundFile& a, const FoundFile& b) { return a.name < b.name; });
    runs_.push_back(std::move(run));
  }

  void visit_entry(const Folder& folder, FolderId id, int dir, const dirent& entry, FoundRun& run) {
    const std::string_view name = entry.d_name;
    const bool named_like_events = name.find("tfevents") != name.npos;
    const bool is_other = !named_like_events && is_wanted_ && is_wanted_(name);
    if (entry.d_type == DT_REG && !named_like_events && !is_other) return;
    struct stat s;
    bool is_folder = entry.d_type == DT_DIR;
    if (!is_folder) {
      if (::fstatat(dir, entry.d_name, &s, 0) != 0) {
        if (named_like_events || entry.d_type == DT_LNK)
          skip(joined(folder.path, name),
               entry.d_type == DT_LNK ? "a broken link" : std::strerror(errno));
        return;
      }
      is_folder = S_ISDIR(s.st_mode);
    }
    if (is_folder) {
      Folder next{joined(folder.path, name), folder.run, folder.ancestors};
      if (!next.run.empty()) next.run += '/';
      next.run.append(name);
      next.ancestors.push_back(id);
      pending_.push_back(std::move(next));
    } else if (named_like_events) {
      if (!S_ISREG(s.st_mode)) return skip(joined(folder.path, name), "not a regular file");
      run.files.push_back(
          {std::string(name), joined(folder.path, name), converted(s), entry.d_type == DT_LNK});
    } else if (is_other && S_ISREG(s.st_mode)) {
      std::string name_of_run = prefix_;
      if (!prefix_.empty() && !folder.run.empty()) name_of_run += '/';
      name_of_run += to_utf8(folder.run);
      others_.push_back({name_of_run.empty() ? "." : std::move(name_of_run), folder.path,
                         std::string(name), joined(folder.path, name), converted(s)});
    }
  }

  Scan& scan_;
  const std::string prefix_;
  bool (*const is_wanted_)(std::string_view);
  std::vector<OtherFile>& others_;
  std::vector<Folder> pending_;
  std::vector<FoundRun> runs_;
};

}  // namespace

Scan scan(const std::vector<ScanRoot>& roots) {
  std::vector<OtherFile> none;
  return scan(roots, nullptr, none);
}

Scan scan(const std::vector<ScanRoot>& roots, bool (*is_wanted)(std::string_view),
          std::vector<OtherFile>& others) {
  Scan result;
  others.clear();
  std::map<std::string, FoundRun> runs;
  for (const ScanRoot& root : roots) {
    std::vector<FoundRun> found;
    if (is_remote(root.path)) {
      found = scan_remote(root.path, result);
    } else if (const auto stat = stat_of(root.path); stat && stat->regular) {
      const size_t slash = root.path.rfind('/');
      const std::string folder =
          slash == 0 || slash == root.path.npos ? "/" : root.path.substr(0, slash);
      const std::string name = root.path.substr(slash + 1);
      if (is_wanted && name.find("tfevents") == name.npos && is_wanted(name)) {
        others.push_back({root.name.empty() ? "." : root.name, folder, name, root.path, *stat});
        result.folders.push_back(folder);
      } else {
        found.push_back({".", folder, {{name, root.path, *stat, true}}});
      }
    } else if (stat) {
      found = Walker(result, root, is_wanted, others).walk(root.path);
    }
    for (FoundRun& run : found) {
      if (!root.name.empty()) run.name = root.name + "/" + run.name;
      const auto [at, is_new] = runs.try_emplace(run.name, std::move(run));
      if (!is_new) {
        result.skipped.push_back({at->second.folder, "another root has a run of the same name"});
        at->second = std::move(run);
      }
    }
  }
  for (auto& [name, run] : runs) {
    for (const FoundFile& file : run.files) {
      result.bytes += file.stat.size;
      result.has_links = result.has_links || file.is_link;
    }
    result.files += run.files.size();
    result.runs.push_back(std::move(run));
  }
  std::sort(others.begin(), others.end(),
            [](const OtherFile& a, const OtherFile& b) { return a.path < b.path; });
  return result;
}

std::vector<NamedFolder> named_folders(const Scan& scan, const std::vector<ScanRoot>& roots) {
  std::vector<NamedFolder> folders;
  folders.reserve(scan.folders.size());
  std::vector<std::string> paths;
  std::vector<ScanRoot> places = roots;
  for (const std::string& path : scan.folders) {
    if (!is_remote(path)) paths.push_back(path);
  }
  for (ScanRoot& place : places) {
    if (!is_remote(place.path)) continue;
    for (std::string& path : beside_folders(place.path)) paths.push_back(std::move(path));
    place.path = local_view(place.path);
  }
  for (const std::string& path : paths) {
    // The deepest root it lies in: one root may lie inside another.
    const ScanRoot* owner = nullptr;
    for (const ScanRoot& root : places) {
      if (path.starts_with(root.path) && (!owner || root.path.size() > owner->path.size()))
        owner = &root;
    }
    if (!owner) continue;
    std::string_view below = std::string_view(path).substr(owner->path.size());
    while (below.starts_with('/')) below.remove_prefix(1);
    std::string name = owner->name;
    if (!name.empty() && !below.empty()) name += '/';
    name += to_utf8(below);
    folders.push_back({name.empty() ? "." : std::move(name), path, owner->path});
  }
  return folders;
}

std::string absolute_path(const std::string& typed) {
  std::string path = typed;
  if (const std::string_view scheme = scheme_of(typed); scheme == "file") {
    path = percent_decoded(std::string_view(typed).substr(std::strlen("file://")));
    if (path.starts_with("localhost/")) path.erase(0, std::strlen("localhost"));
  } else if (!scheme.empty()) {
    while (path.ends_with('/') && !path.ends_with("://")) path.pop_back();
    return path;
  }
  std::string result = path;
  if (path == "~" || path.starts_with("~/")) {
    const char* home = std::getenv("HOME");
    if (!home) {
      const passwd* user = ::getpwuid(::getuid());
      home = user ? user->pw_dir : nullptr;
    }
    if (home) result = home + path.substr(1);
  }
  if (!result.starts_with('/')) {
    char buffer[PATH_MAX];
    if (const char* here = ::getcwd(buffer, sizeof buffer)) result = joined(here, result);
  }
  while (result.size() > 1 && result.back() == '/') result.pop_back();
  if (result.ends_with("/.") && result.size() > 2) result.resize(result.size() - 2);
  return result;
}

std::vector<ScanRoot> parse_logdir_spec(const std::string& spec) {
  std::vector<ScanRoot> roots;
  for (const std::string_view item : split(spec, ',')) {
    if (item.empty()) continue;
    const size_t colon = item.find(':');
    const bool has_name =
        colon != item.npos && !item.starts_with('/') && item.substr(colon).substr(0, 3) != "://";
    roots.push_back(has_name ? ScanRoot{std::string(item.substr(0, colon)),
                                        absolute_path(std::string(item.substr(colon + 1)))}
                             : ScanRoot{"", absolute_path(std::string(item))});
  }
  return roots;
}

}  // namespace sonde::io
