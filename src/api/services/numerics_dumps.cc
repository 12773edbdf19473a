#include "api/services/numerics_dumps.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/services/found_folders.h"

namespace sonde::api {
namespace {

constexpr std::chrono::seconds kLookAgain{5};

// The same files: what was read of them stays.
bool is_same(const numerics::DumpFiles& a, const numerics::DumpFiles& b) {
  return a.name == b.name && a.run_id == b.run_id &&
         std::ranges::equal(a.sets, b.sets, [](const auto& left, const auto& right) {
           return left.prefix == right.prefix && left.wall_time == right.wall_time;
         });
}

}  // namespace

NumericsDumps::Listing NumericsDumps::list(const Context& context) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (looked_ != std::chrono::steady_clock::time_point{} && now - looked_ < kLookAgain)
    return listing_;
  Listing fresh;
  for (numerics::DumpFiles& files : numerics::dumps_in(*found_folders(context), &fresh.problems)) {
    std::shared_ptr<numerics::Dump> dump;
    for (const auto& known : listing_.dumps) {
      if (is_same(known->files(), files)) dump = known;
    }
    fresh.dumps.push_back(dump ? dump : std::make_shared<numerics::Dump>(std::move(files)));
  }
  listing_ = std::move(fresh);
  looked_ = std::chrono::steady_clock::now();
  return listing_;
}

Result<std::shared_ptr<numerics::Dump>> NumericsDumps::find(const Context& context,
                                                            std::string_view name) {
  const Listing listing = list(context);
  const auto found = std::ranges::find_if(
      listing.dumps, [&](const auto& dump) { return dump->files().name == name; });
  if (found == listing.dumps.end())
    return fail(Code::kNotFound, fmt::format("there is no numerics dump '{}'", name));
  (*found)->update();
  return *found;
}

}  // namespace sonde::api
