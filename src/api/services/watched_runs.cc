#include "api/services/watched_runs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/strings.h"
#include "codec/json_read.h"
#include "io/write_file.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMostBytes = 16 << 10;
constexpr int64_t kMostSteps = 1000;

std::string text_of(const JsonValue& value, std::string_view name) {
  const JsonValue* found = value.find(name);
  return found && found->is_string() ? to_utf8(found->text.substr(0, 1000)) : "";
}

int64_t number_of(const JsonValue& value, std::string_view name) {
  const JsonValue* found = value.find(name);
  return found ? found->integer().value_or(0) : 0;
}

// Seconds since the file was written; nothing when there is none.
std::optional<double> age_of(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return now - static_cast<double>(info.st_mtim.tv_sec) -
         static_cast<double>(info.st_mtim.tv_nsec) / 1e9;
}

std::optional<WatchedRun> watched(const std::string& name, const std::string& folder) {
  const std::string path = fmt::format("{}/{}", folder, kWatchFile);
  const auto age = age_of(path);
  if (!age || *age > kAliveSeconds) return std::nullopt;
  const auto content = io::read_whole(path, kMostBytes, io::Links::kRefuse);
  if (!content) return std::nullopt;
  const auto json = read_json(*content);
  if (!json || !json->is_object()) return std::nullopt;
  WatchedRun run;
  run.run = name;
  run.folder = folder;
  run.state = text_of(*json, "state") == "recording" ? "recording" : "waiting";
  run.host = text_of(*json, "host");
  run.pid = number_of(*json, "pid");
  run.captures = number_of(*json, "captures");
  run.last = text_of(*json, "last");
  run.error = text_of(*json, "error");
  run.age_s = std::max(0.0, *age);
  run.is_asked = age_of(fmt::format("{}/{}", folder, kRequestFile)).has_value();
  return run;
}

}  // namespace

std::vector<WatchedRun> watched_runs(const Context& context) {
  std::vector<WatchedRun> runs;
  const auto snapshot = context.store.snapshot();
  const auto add = [&](const std::string& name, const std::string& folder) {
    const bool known =
        std::ranges::any_of(runs, [&](const WatchedRun& run) { return run.folder == folder; });
    if (known) return;
    if (auto run = watched(name, folder)) runs.push_back(std::move(*run));
  };
  for (const auto& run : snapshot->runs) add(run->name, run->folder);
  // A program that only profiles writes no event file: its folder is the log directory itself.
  for (const auto& root : context.store.options().roots)
    add(root.name.empty() ? "." : root.name, root.path);
  return runs;
}

void write_watched(JsonWriter& json, const WatchedRun& run) {
  json.object([&] {
    json.key("run").string(run.run);
    json.key("state").string(run.state);
    json.key("asked").boolean(run.is_asked);
    json.key("host").string(run.host);
    json.key("pid").number(run.pid);
    json.key("captures").number(run.captures);
    json.key("last").string(run.last);
    json.key("age_s").number(run.age_s);
    if (!run.error.empty()) json.key("error").string(run.error);
  });
}

Result<WatchedRun> ask_run(const Context& context, std::string_view run, int64_t steps) {
  if (!context.settings.no_capture.empty())
    return fail(Code::kForbidden, context.settings.no_capture);
  if (steps < 1 || steps > kMostSteps)
    return fail(Code::kInvalid, fmt::format("steps must lie between 1 and {}", kMostSteps));
  for (WatchedRun& watched : watched_runs(context)) {
    if (watched.run != run) continue;
    if (watched.is_asked || watched.state == "recording")
      return fail(Code::kBusy, fmt::format("the program of run '{}' is asked already", run));
    std::string request;
    JsonWriter json(request);
    json.object([&] { json.key("steps").number(steps); });
    const std::string path = fmt::format("{}/{}", watched.folder, kRequestFile);
    if (auto written = io::write_whole(path, request + "\n"); !written)
      return fail(std::move(written).error());
    watched.is_asked = true;
    return watched;
  }
  return fail(
      Code::kNotFound,
      fmt::format("no program watches run '{}'; GET profile/capture lists those that do", run));
}

}  // namespace sonde::api::v1
