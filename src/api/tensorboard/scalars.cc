// TensorBoard's scalars plug-in.
#include <unordered_set>

#include "api/tensorboard/areas.h"
#include "api/tensorboard/scalar_json.h"
#include "api/tensorboard/shared.h"

namespace sonde::api::tensorboard {
namespace {

Answer tags(const Context& context, const Request&) {
  return tag_listing(context, store::DataClass::kScalar, "scalars");
}

Answer multirun(const Context& context, const Request& request) {
  const Fields fields = form_fields(request);
  std::vector<std::string_view> tags, runs;
  for (const auto& [name, value] : fields) {
    if (name == "tag") tags.push_back(value);
    if (name == "runs") runs.push_back(value);
  }
  if (tags.size() != 1) return invalid("tag must be specified exactly once");
  const auto snapshot = context.store.snapshot();
  struct Part {
    std::string_view run;
    const store::Series* series;
  };
  std::vector<Part> parts;
  std::unordered_set<std::string_view> seen;
  for (const std::string_view run : runs) {
    if (!seen.insert(run).second) continue;
    const store::Series* series =
        find_series(*snapshot, run, tags[0], store::DataClass::kScalar, "scalars");
    if (series) parts.push_back({run, series});
  }
  const uint64_t limit = samples(context, "scalars", kDefaultSamples);
  std::vector<std::string> pieces(parts.size());
  for_each_part(context, parts.size(), [&](size_t i) {
    append_json_string(pieces[i], parts[i].run);
    pieces[i].push_back(':');
    append_triples(pieces[i], *parts[i].series, limit);
  });
  return Answer::json("{" + joined(pieces) + "}");
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/scalars/tags", tags},
    {"*", "/data/plugin/scalars/scalars", scalar_series, kMaxBodyBytes, nullptr, series_version},
    {"POST", "/data/plugin/scalars/scalars_multirun", multirun},
};

}  // namespace

std::span<const Route> scalars_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
