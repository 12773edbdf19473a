// GET columns/first: the first chart of a page that opens, before the page knows any name. The
// page's HTML names it, so that the chart's data come with the page (http/page.h).
#include <algorithm>

#include "api/services/state.h"
#include "api/v1/area.h"
#include "api/v1/support.h"
#include "base/strings.h"
#include "codec/base64.h"

namespace sonde::api::v1 {
namespace {

// Above, the page had better come at once and ask for itself: a million points take about 5 ms.
constexpr uint64_t kMostPoints = 1'000'000;
constexpr int64_t kMostRuns = 1000;

// Runs in the order in which the page lists them.
std::vector<const store::RunSnapshot*> listed(const store::Snapshot& snapshot, const TagRow& tag) {
  std::vector<const store::RunSnapshot*> runs;
  for (const uint32_t id : tag.runs) {
    if (const auto* run = snapshot.find(static_cast<store::RunId>(id))) runs.push_back(run);
  }
  std::ranges::sort(
      runs, [](const auto* a, const auto* b) { return natural_compare(a->name, b->name) < 0; });
  return runs;
}

std::string complete(const JsonValue& question, std::string_view tag,
                     const std::vector<const store::RunSnapshot*>& runs) {
  std::string text;
  JsonWriter json(text);
  json.object([&] {
    for (const auto& [name, value] : question.members) {
      if (name != "series") json.key(name).raw(to_text(value));
    }
    json.key("series").array([&] {
      json.object([&] {
        json.key("tag").string(tag);
        json.key("runs").array([&] {
          for (const auto* run : runs) json.number(static_cast<uint32_t>(run->id));
        });
      });
    });
  });
  return text;
}

Answer first_columns(const Context& context, const Request& request) {
  SONDE_ANSWER(const text, text_param(request, "question"));
  SONDE_ANSWER(const question, read_json(text));
  if (!question.is_object()) return error({Code::kInvalid, "'question' is not a JSON object"});
  SONDE_ANSWER(const most, integer_param(request, "most", 50));
  const auto snapshot = context.store.snapshot();
  const auto tags = context.services.state().tags(*snapshot);
  const auto tag =
      std::ranges::find_if(*tags, [](const TagRow& row) { return row.kind == "scalar"; });
  if (tag == tags->end()) return error({Code::kNotFound, "there is no scalar tag"});
  if (std::cmp_greater(tag->runs.size(), std::min(most, kMostRuns)) || tag->points > kMostPoints)
    return error({Code::kTooLarge, "the first tag has more runs or points than come with a page"});

  Request asked;
  asked.method = "POST";
  asked.path = "/api/v1/columns";
  asked.body = complete(question, tag->name, listed(*snapshot, *tag));
  Answer answer = handle(context, asked);
  if (answer.status != 200) return answer;
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("question").raw(asked.body);
    json.key("columns").string(base64(answer.text()));
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/columns/first", first_columns}};

}  // namespace

std::span<const Route> first_column_routes() { return kRoutes; }

}  // namespace sonde::api::v1
