// What needs a model that can be asked: predictions about changed examples, partial dependence,
// adding an endpoint. An endpoint is called only when the command line lists it or a user of this
// machine says so.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "api/v1/whatif/shared.h"
#include "whatif/dependence.h"
#include "whatif/files/csv.h"
#include "whatif/files/examples.h"
#include "whatif/model/http_post.h"
#include "whatif/model/serving_grpc.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMaxAsked = 200'000;  // examples one question may make of it
constexpr size_t kMaxCurves = 200;     // examples shown as lines of their own

void write_scores(JsonWriter& json, const whatif::Predictions& p, size_t row) {
  json.array([&] {
    for (size_t i = 0; i < p.width(); ++i) json.number(p.score(row, i));
  });
}

// Series of a model: one a label, only the positive one of two.
size_t series_of(const whatif::Predictions& p) { return p.width(); }

void write_series_names(JsonWriter& json, const whatif::Predictions& p) {
  for (size_t s = 0; s < series_of(p); ++s)
    json.string(p.task == whatif::Task::kMulticlass ? p.labels[s]
                : p.task == whatif::Task::kBinary   ? p.labels[1]
                                                    : "prediction");
}

std::vector<uint32_t> rows_of(const LoadedSet& set, int64_t row, size_t most) {
  if (row >= 0) return {static_cast<uint32_t>(row)};
  // Everybody, evenly thinned to what may be asked.
  const size_t n = set.data().rows, count = std::min(n, most);
  std::vector<uint32_t> rows;
  for (size_t i = 0; i < count; ++i) rows.push_back(static_cast<uint32_t>(i * n / count));
  return rows;
}

}  // namespace

Answer whatif_predict(const Context&, const Request& request,
                      const std::shared_ptr<LoadedSet>& set) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const name, text_in(body, "model"));
  SONDE_ANSWER(const model, set->live_model(name));
  SONDE_ANSWER(const edited, edits_in(*set, body));
  SONDE_ANSWER(raw, set->ask(model, edited.data));
  const std::vector<std::string> attributions = raw.attributions;
  SONDE_ANSWER(const predictions, whatif::to_predictions(model, std::move(raw), set->label()));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("model").string(model.name);
    json.key("task").string(whatif::name_of(predictions.task));
    json.key("labels").array([&] {
      for (const std::string& label : predictions.labels) json.string(label);
    });
    json.key("rows").array([&] {
      for (size_t i = 0; i < edited.rows.size(); ++i) {
        json.object([&] {
          json.key("row").number(edited.rows[i]);
          json.key("scores");
          write_scores(json, predictions, i);
          if (i < attributions.size()) json.key("attributions").raw(attributions[i]);
        });
      }
    });
  });
  return Answer::json(std::move(out));
}

Answer whatif_dependence(const Context&, const Request& request,
                         const std::shared_ptr<LoadedSet>& set) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const name, text_in(body, "model"));
  SONDE_ANSWER(const model, set->live_model(name));
  SONDE_ANSWER(const features, texts_in(body, "features"));
  SONDE_ANSWER(const row, integer_in(body, "row", -1));
  SONDE_ANSWER(const samples, integer_in(body, "samples", 10));
  SONDE_ANSWER(const most, integer_in(body, "examples", 200));
  SONDE_ANSWER(const low, number_in(body, "low", whatif::kNaN));
  SONDE_ANSWER(const high, number_in(body, "high", whatif::kNaN));
  SONDE_ANSWER(const pattern, text_in(body, "elements", "0"));
  if (row >= static_cast<int64_t>(set->data().rows))
    return error({Code::kInvalid, fmt::format("there is no example {}", row)}, "row");
  if (features.empty() || features.size() > 100)
    return error({Code::kInvalid, "'features' must name 1 to 100 features"}, "features");
  if (samples < 2 || samples > 100 || most < 1 || most > 10'000)
    return error(
        {Code::kInvalid, "'samples' must lie between 2 and 100, 'examples' between 1 and 10000"});
  const std::vector<uint32_t> rows = rows_of(*set, row, static_cast<size_t>(most));
  if (rows.size() * features.size() * static_cast<size_t>(samples) > kMaxAsked)
    return error(
        {Code::kTooLarge,
         fmt::format(
             "this asks the model about more than {} examples; name fewer features or examples",
             kMaxAsked)});
  struct Line {
    std::string feature;
    size_t element = 0;
    whatif::TryValues values;
    whatif::Predictions predictions;
    std::vector<std::vector<double>> means;  // by series
    double interest = 0;
  };
  std::vector<Line> lines;
  for (const std::string& feature : features) {
    const size_t at = set->data().index_of(feature);
    if (at == set->data().columns.size())
      return error({Code::kNotFound, fmt::format("there is no feature '{}'", feature)}, "features");
    const whatif::Column& column = set->data().columns[at];
    size_t longest = 1;
    for (size_t i = 0; column.is_list() && i < set->data().rows; ++i)
      longest = std::max(longest, column.length(i));
    SONDE_ANSWER(const elements, whatif::element_indices(pattern, longest));
    for (const size_t element : elements) {
      Line line{feature,
                element,
                whatif::values_to_try(column, {low, high, static_cast<size_t>(samples)}),
                {},
                {},
                0};
      if (line.values.size() == 0) continue;
      SONDE_ANSWER(
          raw, set->ask(model, whatif::substituted(set->data(), rows, at, element, line.values)));
      SONDE_ANSWER(predictions, whatif::to_predictions(model, std::move(raw), set->label()));
      line.predictions = std::move(predictions);
      for (size_t s = 0; s < series_of(line.predictions); ++s) {
        std::vector<double> mean;
        for (size_t v = 0; v < line.values.size(); ++v) {
          double sum = 0;
          for (size_t r = 0; r < rows.size(); ++r)
            sum += line.predictions.score(v * rows.size() + r, s);
          mean.push_back(sum / static_cast<double>(rows.size()));
        }
        line.interest = std::max(line.interest, whatif::interest_of(mean, line.values.is_numeric));
        line.means.push_back(std::move(mean));
      }
      lines.push_back(std::move(line));
    }
  }
  std::ranges::stable_sort(lines, std::greater<>(), &Line::interest);
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("model").string(model.name);
    json.key("examples").number(static_cast<uint64_t>(rows.size()));
    json.key("features").array([&] {
      for (const Line& line : lines) {
        json.object([&] {
          json.key("name").string(line.feature);
          json.key("element").number(static_cast<uint64_t>(line.element));
          json.key("numeric").boolean(line.values.is_numeric);
          json.key("interest").number(line.interest);
          json.key("values").array([&] {
            for (const double v : line.values.numbers) json.number(v);
            for (const std::string& word : line.values.words) json.string(word);
          });
          json.key("labels").array([&] { write_series_names(json, line.predictions); });
          json.key("means").array([&] {
            for (const auto& mean : line.means) {
              json.array([&] {
                for (const double v : mean) json.number(v);
              });
            }
          });
          // Single examples behind the mean, of the series that moves most.
          if (row >= 0) return;
          size_t moving = 0;
          for (size_t s = 1; s < line.means.size(); ++s)
            if (whatif::interest_of(line.means[s], line.values.is_numeric) >
                whatif::interest_of(line.means[moving], line.values.is_numeric))
              moving = s;
          json.key("single").array([&] {
            for (size_t r = 0; r < std::min(rows.size(), kMaxCurves); ++r) {
              json.array([&] {
                for (size_t v = 0; v < line.values.size(); ++v)
                  json.number(line.predictions.score(v * rows.size() + r, moving));
              });
            }
          });
        });
      }
    });
  });
  return Answer::json(std::move(out));
}

// Two features at once: the mean prediction for each pair of values.
Answer whatif_pair(const Context&, const Request& request, const std::shared_ptr<LoadedSet>& set) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const name, text_in(body, "model"));
  SONDE_ANSWER(const model, set->live_model(name));
  SONDE_ANSWER(const features, texts_in(body, "features"));
  SONDE_ANSWER(const row, integer_in(body, "row", -1));
  SONDE_ANSWER(const samples, integer_in(body, "samples", 10));
  SONDE_ANSWER(const most, integer_in(body, "examples", 50));
  if (row >= static_cast<int64_t>(set->data().rows))
    return error({Code::kInvalid, fmt::format("there is no example {}", row)}, "row");
  if (features.size() != 2 || features[0] == features[1])
    return error({Code::kInvalid, "'features' must name two features"}, "features");
  if (samples < 2 || samples > 40 || most < 1 || most > 1000)
    return error(
        {Code::kInvalid, "'samples' must lie between 2 and 40, 'examples' between 1 and 1000"});
  size_t at[2];
  whatif::TryValues values[2];
  for (size_t i = 0; i < 2; ++i) {
    at[i] = set->data().index_of(features[i]);
    if (at[i] == set->data().columns.size())
      return error({Code::kNotFound, fmt::format("there is no feature '{}'", features[i])},
                   "features");
    values[i] = whatif::values_to_try(set->data().columns[at[i]],
                                      {whatif::kNaN, whatif::kNaN, static_cast<size_t>(samples)});
    if (values[i].size() == 0)
      return error({Code::kInvalid, fmt::format("'{}' has no values to try", features[i])},
                   "features");
  }
  const std::vector<uint32_t> rows = rows_of(*set, row, static_cast<size_t>(most));
  if (rows.size() * values[0].size() * values[1].size() > kMaxAsked)
    return error({Code::kTooLarge, fmt::format("this asks the model about more than {} examples; "
                                               "name fewer examples or samples",
                                               kMaxAsked)});
  const whatif::Dataset first = whatif::substituted(set->data(), rows, at[0], 0, values[0]);
  std::vector<uint32_t> all(first.rows);
  std::iota(all.begin(), all.end(), 0);
  SONDE_ANSWER(raw, set->ask(model, whatif::substituted(first, all, at[1], 0, values[1])));
  SONDE_ANSWER(const predictions, whatif::to_predictions(model, std::move(raw), set->label()));
  const auto mean = [&](size_t x, size_t y, size_t series) {
    double sum = 0;
    for (size_t r = 0; r < rows.size(); ++r)
      sum += predictions.score(y * first.rows + x * rows.size() + r, series);
    return sum / static_cast<double>(rows.size());
  };
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("model").string(model.name);
    json.key("examples").number(static_cast<uint64_t>(rows.size()));
    for (size_t i = 0; i < 2; ++i) {
      json.key(i == 0 ? "x" : "y").object([&] {
        json.key("name").string(features[i]);
        json.key("numeric").boolean(values[i].is_numeric);
        json.key("values").array([&] {
          for (const double v : values[i].numbers) json.number(v);
          for (const std::string& word : values[i].words) json.string(word);
        });
      });
    }
    json.key("labels").array([&] { write_series_names(json, predictions); });
    // By series, then y, then x.
    json.key("means").array([&] {
      for (size_t s = 0; s < series_of(predictions); ++s) {
        json.array([&] {
          for (size_t y = 0; y < values[1].size(); ++y)
            json.array([&] {
              for (size_t x = 0; x < values[0].size(); ++x) json.number(mean(x, y, s));
            });
        });
      }
    });
  });
  return Answer::json(std::move(out));
}

Answer whatif_models(const Context& context, const Request& request,
                     const std::shared_ptr<LoadedSet>& set) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const allow, text_in(body, "allow"));
  const auto may_use = [&](const std::string& url) -> Result<void> {
    if (is_listed_endpoint(context, url) || context.settings.is_loopback) return {};
    return fail(Code::kForbidden,
                "this server is open to the network: it asks only the endpoints listed with "
                "--whatif_endpoint");
  };
  Answer done;
  done.status = 204;
  if (!allow.empty()) {
    for (const whatif::ModelStatus& model : set->models()) {
      if (model.config.name != allow) continue;
      if (const auto may = may_use(model.config.url); !may) return error(may.error());
      set->allow(allow, context.settings.connect);
      return done;
    }
    return error({Code::kNotFound, fmt::format("there is no model '{}'", allow)}, "allow");
  }
  SONDE_ANSWER(model, whatif::model_config(body));
  if (!model.file.empty() || !model.steps.empty() || !model.vocabulary.empty())
    return error({Code::kInvalid, "files are named in whatif.json, not in a request"});
  if (!model.url.empty()) {
    const auto is_url = whatif::is_grpc(model.url)
                            ? whatif::check_grpc(model)
                            : whatif::url_of(model.url).map([](const auto&) {});
    if (!is_url) return error(is_url.error(), "url");
    if (const auto may = may_use(model.url); !may) return error(may.error());
    if (!is_listed_endpoint(context, model.url)) model.policy = context.settings.connect;
  } else if (model.columns.empty()) {
    return error({Code::kInvalid, "a model needs an 'url' or 'columns'"});
  }
  if (const auto added = set->add_model(std::move(model)); !added) return error(added.error());
  return done;
}

Answer whatif_ask(const Context&, const Request& request, const std::shared_ptr<LoadedSet>& set) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const name, text_in(body, "model"));
  Answer done;
  done.status = 202;
  if (const JsonValue* stop = body.find("stop"); stop && stop->is_bool() && stop->boolean) {
    set->stop_asking(name);
    return done;
  }
  if (const auto started = set->start_asking(name); !started) return error(started.error());
  return done;
}

Answer whatif_export(const Context&, const Request& request,
                     const std::shared_ptr<LoadedSet>& set) {
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const format, text_in(body, "format", "csv"));
  SONDE_ANSWER(const edited, edits_in(*set, body));
  Answer answer;
  answer.headers.emplace_back(
      "Content-Disposition",
      fmt::format("attachment; filename=\"edits.{}\"", format == "csv" ? "csv" : "tfrecord"));
  if (format == "csv") {
    answer.content_type = "text/csv; charset=utf-8";
    answer.body = whatif::write_csv(edited.data);
  } else if (format == "tfrecord") {
    answer.content_type = "application/octet-stream";
    answer.body = whatif::write_records(edited.data);
  } else {
    return error({Code::kInvalid, "'format' must be csv or tfrecord"}, "format");
  }
  return answer;
}

}  // namespace sonde::api::v1
