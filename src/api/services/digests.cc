#include "api/services/digests.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "api/services/found_folders.h"
#include "io/file.h"

namespace sonde::api {
namespace {

namespace digest = capture::digest;
constexpr std::string_view kSteps = "/steps";

uint64_t mark_of(const DigestFolder& folder) {
  return std::hash<std::string>{}(
      fmt::format("{} {} {} {}", folder.path, folder.captures, folder.bytes, folder.modified_ns));
}

}  // namespace

std::shared_ptr<const std::vector<DigestFolder>> digest_folders(const Context& context) {
  using List = std::vector<DigestFolder>;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto mark = static_cast<uint64_t>(now / std::chrono::seconds(5));
  return context.services.memo().get<List>("digests/list", mark, [&](const List*) {
    List list;
    for (const io::NamedFolder& folder : *found_folders(context)) {
      if (!folder.path.ends_with(kSteps)) continue;
      DigestFolder one;
      for (const std::string& file :
           digest::files_of(folder.path.substr(0, folder.path.size() - kSteps.size()), "steps")) {
        const auto stat = io::stat_of(file);
        if (!stat) continue;
        ++one.captures;
        one.bytes += stat->size;
        one.modified_ns = std::max(one.modified_ns, stat->mtime_ns);
      }
      if (one.captures == 0) continue;
      one.path = folder.path.substr(0, folder.path.size() - kSteps.size());
      const size_t name =
          folder.name.size() < kSteps.size() ? 0 : folder.name.size() - kSteps.size();
      one.id = name == 0 ? "." : folder.name.substr(0, name);
      list.push_back(std::move(one));
    }
    std::ranges::sort(list, {}, &DigestFolder::id);
    return list;
  });
}

Result<DigestFolder> digest_folder(const Context& context, std::string_view id) {
  for (const DigestFolder& folder : *digest_folders(context)) {
    if (folder.id == id) return folder;
  }
  return fail(Code::kNotFound, fmt::format("there is no folder of digests '{}'", id));
}

Result<std::shared_ptr<const digest::Ranks>> digest_ranks(const Context& context,
                                                          const DigestFolder& folder) {
  std::optional<Error> failed;
  auto ranks = context.services.memo().get<digest::Ranks>(
      "digests/ranks\n" + folder.path, mark_of(folder), [&](const digest::Ranks*) {
        auto made = digest::compare_ranks(folder.path, context.pool);
        if (!made) failed = made.error();
        return made ? std::move(*made) : digest::Ranks{};
      });
  if (failed) return fail(*failed);
  return ranks;
}

}  // namespace sonde::api
