// GET run: what a run says about itself beside its events: who started it, where, from which commit
// (sonde_run.json) and the changes that were not committed (git.diff).
#include <fmt/format.h>

#include "api/v1/area.h"
#include "api/v1/support.h"
#include "io/file.h"

namespace sonde::api::v1 {
namespace {

constexpr std::string_view kAboutFile = "/sonde_run.json", kDiffFile = "/git.diff";
constexpr uint64_t kMaxAboutBytes = 4 << 20, kMaxDiffBytes = 2 << 20;

Answer run_about(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  SONDE_ANSWER(name, text_param(request, "run"));
  const store::RunSnapshot* run = snapshot->find(name);
  if (!run) return error({Code::kNotFound, fmt::format("there is no run '{}'", name)}, "", kNames);
  const std::string path = run->folder + std::string(kAboutFile);
  const bool has_about = io::stat_of(path).has_value();
  const auto about = io::read_file(path, kMaxAboutBytes);
  const auto diff = io::read_file(run->folder + std::string(kDiffFile), kMaxDiffBytes);
  std::string body, problem;
  if (has_about && !about) problem = about.error().text;
  if (about) {
    const auto read = read_json(*about);
    if (!read)
      problem = fmt::format("{}: {}", path, read.error().text);
    else if (!read->is_object())
      problem = fmt::format("{} is not a JSON object", path);
  }
  JsonWriter json(body);
  json.object([&] {
    json.key("rev").number(snapshot->revision);
    json.key("run").string(run->name);
    json.key("about");
    if (about && problem.empty())
      json.raw(*about);  // read above, so it is JSON
    else
      json.null();
    if (diff) json.key("diff").string(*diff);
    if (!problem.empty()) json.key("problem").string(problem);
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/run", run_about}};

}  // namespace

std::span<const Route> run_about_routes() { return kRoutes; }

}  // namespace sonde::api::v1
