#include "api/services/whatif_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>

#include "api/services/found_folders.h"
#include "base/sha256.h"
#include "io/confine.h"
#include "io/file.h"
#include "io/scan.h"

namespace sonde::api {
namespace {

constexpr uint64_t kMaxConfigBytes = 1 << 20;
constexpr size_t kMaxSets = 500, kMaxDropped = 20, kMaxEdited = 20, kMaxOpen = 20;

struct Found {
  std::string id, run, folder, root;
};

uint64_t seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

std::vector<Found> find_files(const std::vector<io::NamedFolder>& folders) {
  std::vector<Found> found;
  for (const io::NamedFolder& folder : folders) {
    if (found.size() >= kMaxSets || !io::stat_of(folder.path + "/whatif.json")) continue;
    found.push_back({sha256_hex(folder.name).substr(0, 12), folder.name, folder.path, folder.root});
  }
  return found;
}

// A look into each of many folders takes a while: once in five seconds, or when there are others.
std::shared_ptr<const std::vector<Found>> files_of(const Context& context) {
  const auto folders = found_folders(context);
  const uint64_t mark = seconds_now() / 5 * 1'000'003 + folders->size();
  return context.services.memo().get<std::vector<Found>>(
      "whatif/files", mark, [&](const std::vector<Found>*) { return find_files(*folders); });
}

// Inside the log directory, or inside a folder that the command line names.
Result<std::string> allowed_path(const Context& context, const std::string& root,
                                 const std::string& place) {
  std::vector<std::string> roots{root};
  roots.insert(roots.end(), context.settings.whatif_data.begin(),
               context.settings.whatif_data.end());
  for (const std::string& one : roots)
    if (auto real = io::is_inside_root(io::absolute_path(one), place); real) return real;
  return fail(
      Code::kForbidden,
      fmt::format("'{}' lies outside the log directory; allow its folder with --whatif_data",
                  place));
}

whatif::Resolve resolver(const Context& context, const Found& found) {
  return [&context, found](std::string_view path) -> Result<std::string> {
    const std::string whole =
        path.starts_with('/') ? std::string(path) : found.folder + "/" + std::string(path);
    // A pattern's folder is what must lie inside.
    const size_t slash = whole.find_last_of('/');
    const bool is_pattern = whole.find_first_of("*?") != std::string::npos;
    if (is_pattern && whole.find_first_of("*?") < slash)
      return fail(Code::kInvalid,
                  fmt::format("'{}': only the last part of a path may be a pattern", path));
    const std::string place = is_pattern ? whole.substr(0, slash) : whole;
    SONDE_TRY(const real, allowed_path(context, found.root, place));
    return is_pattern ? real + whole.substr(slash) : real;
  };
}

Result<whatif::SetConfig> config_of(const Found& found) {
  const std::string path = found.folder + "/whatif.json";
  SONDE_TRY(const text, io::read_file(path, kMaxConfigBytes));
  auto config = whatif::set_config(text);
  if (!config) return fail(std::move(config).error().in(path));
  if (config->name.empty()) config->name = found.run == "." ? "What-If" : found.run;
  return config;
}

}  // namespace

Result<std::string> whatif_path(const Context& context, std::string_view path) {
  std::string last_root;
  Result<std::string> found = fail(Code::kNotFound, "there is no log directory");
  const auto folders = found_folders(context);  // held while it is walked
  for (const io::NamedFolder& folder : *folders) {
    if (folder.root == last_root) continue;
    last_root = folder.root;
    const std::string whole =
        path.starts_with('/') ? std::string(path) : folder.root + "/" + std::string(path);
    found = allowed_path(context, folder.root, whole);
    if (found) return found;
  }
  return found;
}

bool is_listed_endpoint(const Context& context, std::string_view url) {
  return std::ranges::any_of(context.settings.whatif_endpoints, [&](const std::string& listed) {
    // The same address, or one below it: never another host that begins with the same letters.
    return url == listed ||
           (url.starts_with(listed) && (listed.ends_with('/') || url[listed.size()] == '/'));
  });
}

std::vector<WhatIfEntry> WhatIfSets::list(const Context& context,
                                          const std::vector<std::string_view>& mine) {
  std::vector<WhatIfEntry> entries;
  for (const Found& found : *files_of(context)) {
    WhatIfEntry entry{found.id, found.run, found.run, found.folder + "/whatif.json", ""};
    const auto config = config_of(found);
    if (config)
      entry.name = config->name;
    else
      entry.problem = config.error().text;
    entries.push_back(std::move(entry));
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [id, set] : dropped_) entries.push_back({id, set->config().name, "", "", ""});
  for (const auto& [id, set] : edited_)
    if (std::ranges::find(mine, id) != mine.end())
      entries.push_back({id, set->config().name, "", "", ""});
  return entries;
}

Result<std::shared_ptr<whatif::LoadedSet>> WhatIfSets::open(const Context& context,
                                                            std::string_view id) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto dropped = dropped_.find(std::string(id)); dropped != dropped_.end())
      return dropped->second;
    if (const auto edited = edited_.find(std::string(id)); edited != edited_.end())
      return edited->second;
  }
  const auto files = files_of(context);
  const auto found =
      std::ranges::find(*files, id, [](const Found& f) { return std::string_view(f.id); });
  if (found == files->end()) return fail(Code::kNotFound, "there is no such set of examples");
  SONDE_TRY(const stat, io::stat_of(found->folder + "/whatif.json"));
  {
    const std::lock_guard lock(mutex_);
    const auto kept = open_.find(found->id);
    if (kept != open_.end() && kept->second.mtime_ns == stat.mtime_ns) return kept->second.set;
  }
  SONDE_TRY(config, config_of(*found));
  SONDE_TRY(set, whatif::LoadedSet::load(
                     std::move(config), resolver(context, *found), &context.pool,
                     [&](const std::string& url) { return is_listed_endpoint(context, url); }));
  const std::lock_guard lock(mutex_);
  if (open_.size() >= kMaxOpen) open_.erase(open_.begin());
  // Of two that loaded at once the first stays, so that what a user adds to it is not lost.
  Open& kept = open_[found->id];
  if (!kept.set || kept.mtime_ns != stat.mtime_ns) kept = {stat.mtime_ns, std::move(set)};
  return kept.set;
}

Result<std::string> WhatIfSets::keep(whatif::SetConfig config, whatif::Dataset data) {
  auto set = whatif::LoadedSet::of(std::move(config), std::move(data));
  const std::lock_guard lock(mutex_);
  if (dropped_.size() >= kMaxDropped) dropped_.erase(dropped_.begin());
  std::string id = fmt::format("dropped-{:06}", next_++);
  dropped_[id] = std::move(set);
  return id;
}

std::string WhatIfSets::keep_edited(std::shared_ptr<whatif::LoadedSet> set) {
  std::random_device random;
  const std::lock_guard lock(mutex_);
  if (edited_.size() >= kMaxEdited) edited_.erase(edited_.begin());  // the oldest: ids count up
  std::string id = fmt::format("edited-{:06}-{:08x}{:08x}", next_++, random(), random());
  edited_[id] = std::move(set);
  return id;
}

}  // namespace sonde::api
