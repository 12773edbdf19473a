#include "io/roots.h"

#include <glob.h>

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "io/file.h"
#include "io/remote/remote.h"

namespace sonde::io {
namespace {

std::vector<std::string> folders_of(const std::string& typed) {
  const bool is_pattern = typed.find_first_of("*?[") != std::string::npos && !is_address(typed);
  if (!is_pattern || stat_of(typed)) return {typed};
  std::vector<std::string> folders;
  glob_t found{};
  if (::glob(typed.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      if (const auto stat = stat_of(found.gl_pathv[i]); stat && !stat->regular)
        folders.emplace_back(found.gl_pathv[i]);
    }
  }
  ::globfree(&found);
  if (folders.empty()) folders.push_back(typed);
  return folders;
}

// The last `parts` names of a path.
std::string end_of(const std::string& path, size_t parts) {
  std::string_view rest = path;
  while (rest.ends_with('/')) rest.remove_suffix(1);
  size_t at = rest.size();
  for (size_t i = 0; i < parts && at != std::string_view::npos; ++i)
    at = at == 0 ? std::string_view::npos : rest.rfind('/', at - 1);
  return std::string(at == std::string_view::npos ? rest : rest.substr(at + 1));
}

}  // namespace

std::vector<ScanRoot> named_roots(const std::vector<std::string>& typed) {
  std::vector<std::string> paths;
  for (const std::string& one : typed) {
    for (std::string& path : folders_of(one)) {
      if (std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
    }
  }
  if (paths.size() == 1) return {{"", paths.front()}};
  constexpr size_t kMostParts = 64;
  for (size_t parts = 1; parts <= kMostParts; ++parts) {
    std::map<std::string, size_t> names;
    for (size_t i = 0; i < paths.size(); ++i) names.emplace(end_of(paths[i], parts), i);
    if (names.size() < paths.size()) continue;
    std::vector<ScanRoot> roots;
    for (const std::string& path : paths) roots.push_back({end_of(path, parts), path});
    return roots;
  }
  std::vector<ScanRoot> roots;
  for (const std::string& path : paths) roots.push_back({path, path});
  return roots;
}

}  // namespace sonde::io
