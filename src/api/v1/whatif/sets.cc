// GET whatif: which sets of examples there are; GET whatif/<set>: what one holds; POST whatif:
// examples that a user drops on the page. Everything else about a set is in the files beside this
// one.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/v1/area.h"
#include "api/v1/whatif/shared.h"
#include "whatif/files/read.h"

namespace sonde::api::v1 {
namespace {

constexpr uint64_t kMaxUpload = uint64_t{512} << 20;

Answer fresh(std::string body) {
  Answer answer = Answer::json(std::move(body));
  answer.cache = Cache::kNoStore;
  return answer;
}

Answer list(const Context& context, const Request& request) {
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("sets").array([&] {
      for (const WhatIfEntry& entry :
           context.services.whatif().list(context, request.params("with"))) {
        json.object([&] {
          json.key("id").string(entry.id);
          json.key("name").string(entry.name);
          json.key("run").string(entry.run);
          json.key("path").string(entry.path);
          if (!entry.problem.empty()) json.key("problem").string(entry.problem);
        });
      }
    });
    json.key("may_type_endpoints").boolean(context.settings.is_loopback);
  });
  return fresh(std::move(body));
}

void write_model(JsonWriter& json, const whatif::ModelStatus& model) {
  json.key("name").string(model.config.name);
  json.key("live").boolean(model.is_live);
  if (!model.config.url.empty()) json.key("url").string(model.config.url);
  json.key("needs_consent").boolean(model.needs_consent);
  json.key("asking").boolean(model.is_asking);
  json.key("asked").number(static_cast<uint64_t>(model.asked));
  if (!model.problem.empty()) json.key("problem").string(model.problem);
  if (!model.steps.empty()) {
    json.key("steps").array([&] {
      for (const whatif::StepFile& step : model.steps) json.safe_integer(step.step);
    });
  }
}

Answer describe(const Context&, const Request&, const std::shared_ptr<LoadedSet>& set) {
  const whatif::Dataset& data = set->data();
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("name").string(set->config().name);
    json.key("rows").number(static_cast<uint64_t>(data.rows));
    json.key("label").string(set->config().label);
    if (!data.note.empty()) json.key("note").string(data.note);
    if (set->has_custom_distance()) json.key("custom_distance").boolean(true);
    json.key("columns").array([&] {
      for (size_t i = 0; i < data.columns.size(); ++i) {
        const whatif::Column& column = data.columns[i];
        json.object([&] {
          json.key("name").string(column.name);
          json.key("kind").string(whatif::name_of(column.kind));
          json.key("integer").boolean(column.is_integer);
          json.key("list").boolean(column.is_list());
          json.key("feature").boolean(std::ranges::find(set->features(), i) !=
                                      set->features().end());
          if (!column.is_numeric())
            json.key("words").number(static_cast<uint64_t>(column.words.size()));
        });
      }
    });
    json.key("models").array([&] {
      for (const whatif::ModelStatus& model : set->models()) {
        json.object([&] {
          write_model(json, model);
          if (model.attributions) {
            json.key("attributions").array([&] {
              for (const whatif::Column& column : model.attributions->values.columns)
                json.string(column.name);
            });
          }
          const auto predictions = set->predictions(model.config.name);
          if (!predictions) return;
          json.key("task").string(whatif::name_of((*predictions)->task));
          json.key("labels").array([&] {
            for (const std::string& label : (*predictions)->labels) json.string(label);
          });
        });
      }
    });
  });
  return fresh(std::move(body));
}

Answer upload(const Context& context, const Request& request) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  whatif::SetConfig config;
  config.name = std::string(request.param("name").value_or("dropped examples").substr(0, 200));
  config.label = std::string(request.param("label").value_or(""));
  whatif::ReadOptions options;
  options.pool = &context.pool;
  SONDE_ANSWER(const content, request.content());
  SONDE_ANSWER(data, whatif::read_bytes(as_bytes(content), config.name, options));
  SONDE_ANSWER(const id, context.services.whatif().keep(std::move(config), std::move(data)));
  std::string body;
  JsonWriter json(body);
  json.object([&] { json.key("id").string(id); });
  return fresh(std::move(body));
}

struct Part {
  std::string_view name;
  SetHandler handle;
};
constexpr Part kGets[] = {
    {"", describe},          {"columns", whatif_columns},   {"rows", whatif_rows},
    {"image", whatif_image}, {"features", whatif_features}, {"sprite", whatif_sprite},
};
constexpr Part kPosts[] = {
    {"performance", whatif_performance},
    {"worst", whatif_worst},
    {"nearest", whatif_nearest},
    {"dependence", whatif_dependence},
    {"pair", whatif_pair},
    {"predict", whatif_predict},
    {"models", whatif_models},
    {"ask", whatif_ask},
    {"training", whatif_training},
    {"export", whatif_export},
    {"counterfactual", whatif_counterfactual},
    {"edited", whatif_edited},
};

Answer dispatch(const Context& context, const Request& request, std::span<const Part> parts) {
  const std::string_view path = std::string_view(request.path).substr(kWhatIfPrefix.size());
  const std::string_view id = path.substr(0, path.find('/'));
  const std::string_view what = path.substr(std::min(path.size(), id.size() + 1));
  const auto part = std::ranges::find(parts, what, &Part::name);
  if (part == parts.end()) return error({Code::kNotFound, "there is no such route"}, request.path);
  SONDE_ANSWER(const set, context.services.whatif().open(context, id));
  return part->handle(context, request, set);
}

Answer get_one(const Context& context, const Request& request) {
  return dispatch(context, request, kGets);
}
Answer post_one(const Context& context, const Request& request) {
  return dispatch(context, request, kPosts);
}

constexpr Route kRoutes[] = {
    {"GET", "/api/v1/whatif", list},
    {"POST", "/api/v1/whatif", upload, kMaxUpload},
    {"GET", "/api/v1/whatif/*", get_one},
    {"POST", "/api/v1/whatif/*", post_one},
};

}  // namespace

std::span<const Route> whatif_routes() { return kRoutes; }

}  // namespace sonde::api::v1
