// The What-If plug-in's routes that ask a model: predictions, partial dependence, which features move
// them.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "api/tensorboard/shared.h"
#include "api/tensorboard/whatif_plugin.h"
#include "base/strings.h"
#include "io/file.h"
#include "whatif/dependence.h"
#include "whatif/model/ask.h"

namespace sonde::api::tensorboard::plugin_whatif {
namespace {

constexpr size_t kMaxModels = 10, kMaxAsked = 200'000;
constexpr uint64_t kMaxVocabBytes = 16 << 20;

std::vector<std::string> list_of(const Request& request, std::string_view name) {
  std::vector<std::string> out;
  for (const std::string_view part : split(request.param(name).value_or(""), ','))
    out.emplace_back(trimmed(part));
  return out;
}

// Where the old plug-in spoke gRPC to port 8500, this asks the REST port of the same server.
Result<std::vector<whatif::ModelConfig>> models_of(const Context& context, const Request& request) {
  const auto addresses = list_of(request, "inference_address");
  const auto names = list_of(request, "model_name"), versions = list_of(request, "model_version"),
             signatures = list_of(request, "model_signature");
  if (addresses.size() != names.size() || addresses.size() > kMaxModels || addresses[0].empty())
    return fail(Code::kInvalid, "Every model should have a name and address.");
  const bool is_regression = request.param("model_type") == "regression";
  const bool is_predict = request.param("use_predict") == "true";
  std::vector<whatif::ModelConfig> models;
  for (size_t i = 0; i < addresses.size(); ++i) {
    whatif::ModelConfig model;
    model.name = names[i];
    model.protocol = "tfserving";
    model.task = is_regression ? "regression" : "";
    const bool has_scheme = addresses[i].starts_with("http://");
    const std::string version =
        i < versions.size() && !versions[i].empty() ? fmt::format("/versions/{}", versions[i]) : "";
    model.url = fmt::format("{}{}/v1/models/{}{}:{}", has_scheme ? "" : "http://", addresses[i],
                            names[i], version,
                            is_predict      ? "predict"
                            : is_regression ? "regress"
                                            : "classify");
    if (i < signatures.size()) model.signature = signatures[i];
    if (is_predict) {
      model.input = "examples";
      model.tensor = std::string(request.param("predict_input_tensor").value_or(""));
      model.output = std::string(request.param("predict_output_tensor").value_or(""));
    }
    if (!is_listed_endpoint(context, model.url)) {
      if (!context.settings.is_loopback)
        return fail(Code::kForbidden,
                    "this server is open to the network: it asks only the endpoints listed with "
                    "--whatif_endpoint");
      model.policy = context.settings.connect;
    }
    models.push_back(std::move(model));
  }
  return models;
}

struct Said {
  std::vector<std::string> labels;  // one a score; empty: a regression
  size_t width = 1;
  std::vector<double> scores;
};

Result<Said> ask(const whatif::ModelConfig& model, const whatif::Dataset& rows) {
  std::vector<size_t> columns(rows.columns.size());
  std::iota(columns.begin(), columns.end(), size_t{0});
  Said out;
  constexpr size_t kBatch = 1024;
  for (size_t begin = 0; begin < rows.rows; begin += kBatch) {
    SONDE_TRY(part,
              whatif::ask_model(model, rows, columns, begin, std::min(rows.rows, begin + kBatch)));
    if (begin > 0 && part.width != out.width)
      return fail(Code::kInvalid, "the model answers with a changing number of scores");
    out.width = part.width;
    if (begin == 0) out.labels = std::move(part.labels);
    out.scores.insert(out.scores.end(), part.scores.begin(), part.scores.end());
  }
  if (model.task == "regression") {
    out.labels.clear();
    return out;
  }
  if (out.width == 1) {  // the score of label 1 alone
    Said both{{"0", "1"}, 2, {}};
    for (const double score : out.scores) {
      both.scores.push_back(1 - score);
      both.scores.push_back(score);
    }
    return both;
  }
  for (size_t i = out.labels.size(); i < out.width; ++i) out.labels.push_back(std::to_string(i));
  return out;
}

void write_results(JsonWriter& json, const Said& said) {
  const size_t rows = said.scores.size() / said.width;
  const bool is_regression = said.labels.empty();
  json.object([&] {
    json.key(is_regression ? "regressionResult" : "classificationResult").object([&] {
      json.key(is_regression ? "regressions" : "classifications").array([&] {
        for (size_t row = 0; row < rows; ++row) {
          json.object([&] {
            if (is_regression) return json.key("value").number(said.scores[row * said.width]);
            json.key("classes").array([&] {
              for (size_t i = 0; i < said.width; ++i) {
                json.object([&] {
                  json.key("label").string(said.labels[i]);
                  json.key("score").number(said.scores[row * said.width + i]);
                });
              }
            });
          });
        }
      });
    });
  });
}

Result<std::string> vocabulary(const Context& context, const Request& request) {
  std::string out;
  JsonWriter json(out);
  const auto path = request.param("label_vocab_path");
  std::string text;
  if (path && !path->empty()) {
    SONDE_TRY(const real, whatif_path(context, *path));
    SONDE_TRY(read, io::read_file(real, kMaxVocabBytes));
    text = std::move(read);
  }
  json.array([&] {
    if (text.empty()) return;
    if (text.ends_with('\n')) text.pop_back();
    for (const std::string_view line : split(text, '\n')) json.string(trimmed(line));
  });
  return out;
}

}  // namespace

Answer infer(const Context& context, const Request& request) {
  if (is_from_elsewhere(request)) return foreign();
  const auto models = models_of(context, request);
  if (!models) return wrong(models.error());
  const auto vocab = vocabulary(context, request);
  if (!vocab) return wrong(vocab.error());
  PluginExamples& all = context.services.whatif().plugin();
  std::vector<size_t> rows;
  whatif::Dataset data;
  {
    const std::lock_guard lock(all.mutex);
    rows.assign(all.updated.begin(), all.updated.end());
    data = table_of(all, rows);
  }
  std::string results;
  JsonWriter inner(results);
  std::optional<Error> problem;
  inner.object([&] {
    inner.key("indices").array([&] {
      for (const size_t row : rows) inner.number(static_cast<uint64_t>(row));
    });
    inner.key("results").array([&] {
      for (const whatif::ModelConfig& model : *models) {
        auto said = ask(model, data);
        if (!said) return void(problem = std::move(said).error());
        write_results(inner, *said);
      }
    });
  });
  if (problem) return wrong(*problem);
  {
    const std::lock_guard lock(all.mutex);
    for (const size_t row : rows) all.updated.erase(row);
  }
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("inferences").string(results);
    json.key("vocab").string(*vocab);
    json.key("extraOutputs").array([] {});
    json.key("next").number(-1);
  });
  return fresh(std::move(body));
}

namespace {

// --- partial dependence

using Points = std::vector<std::pair<size_t, double>>;       // which value, mean score
using Series = std::vector<std::pair<std::string, Points>>;  // by label

Series means_of(const Said& said, size_t values, size_t rows) {
  Series out;
  for (size_t i = 0; i < said.width; ++i) {
    const bool is_binary = said.labels.size() == 2;
    if (is_binary && said.labels[i] == "0") continue;
    Points points;
    for (size_t v = 0; v < values; ++v) {
      double sum = 0;
      for (size_t r = 0; r < rows; ++r) sum += said.scores[(v * rows + r) * said.width + i];
      points.emplace_back(v, sum / static_cast<double>(rows));
    }
    out.emplace_back(said.labels.empty() ? "value" : said.labels[i], std::move(points));
  }
  return out;
}

struct Charts {
  whatif::TryValues values;
  std::vector<std::vector<Series>> lines;  // by element, then model
  double interest = 0;
};

Result<Charts> charts_of(const PluginExamples& all, const whatif::Dataset& data,
                         const std::vector<whatif::ModelConfig>& models, std::string_view feature,
                         int64_t example, const whatif::TryRange& range, std::string_view pattern) {
  const size_t at = data.index_of(feature);
  if (at == data.columns.size())
    return fail(Code::kInvalid, fmt::format("there is no feature '{}'", to_utf8(feature)));
  if (example >= static_cast<int64_t>(all.messages.size()))
    return fail(Code::kInvalid, "invalid index provided");
  std::vector<uint32_t> rows;
  if (example >= 0) rows.push_back(static_cast<uint32_t>(example));
  for (uint32_t row = 0; example < 0 && row < data.rows; ++row) rows.push_back(row);
  Charts out;
  out.values = whatif::values_to_try(data.columns[at], range);
  if (rows.size() * std::max<size_t>(out.values.size(), 1) * models.size() > kMaxAsked)
    return fail(Code::kTooLarge,
                fmt::format("this asks the model about more than {} examples", kMaxAsked));
  size_t longest = 1;
  for (size_t row = 0; row < data.rows; ++row)
    longest = std::max(longest, data.columns[at].length(row));
  SONDE_TRY(const elements, whatif::element_indices(pattern.empty() ? "0" : pattern, longest));
  for (const size_t element : elements) {
    std::vector<Series> by_model;
    const whatif::Dataset changed = whatif::substituted(data, rows, at, element, out.values);
    for (const whatif::ModelConfig& model : models) {
      SONDE_TRY(const said, ask(model, changed));
      by_model.push_back(means_of(said, out.values.size(), rows.size()));
      for (auto& [label, points] : by_model.back()) {
        std::vector<double> line;
        for (const auto& point : points) line.push_back(point.second);
        out.interest = std::max(out.interest, whatif::interest_of(line, out.values.is_numeric));
        if (elements.size() > 1) label += fmt::format(" (index {})", element);
      }
    }
    out.lines.push_back(std::move(by_model));
  }
  return out;
}

struct AskedCharts {
  std::vector<whatif::ModelConfig> models;
  whatif::Dataset data;
  int64_t example = 0;
};
Result<AskedCharts> asked_charts(const Context& context, const Request& request,
                                 const PluginExamples& all) {
  AskedCharts out;
  SONDE_TRY(models, models_of(context, request));
  out.models = std::move(models);
  out.data = table_of(all, all_rows(all));
  out.example = number(request, "example_index", 0);
  return out;
}

}  // namespace

Answer infer_mutants(const Context& context, const Request& request) {
  if (is_from_elsewhere(request)) return foreign();
  PluginExamples& all = context.services.whatif().plugin();
  const std::lock_guard lock(all.mutex);
  const auto asked = asked_charts(context, request, all);
  if (!asked) return wrong(asked.error());
  whatif::TryRange range;
  double limit = 0;
  if (whatif::parse_number(request.param("x_min").value_or(""), limit)) range.low = limit;
  if (whatif::parse_number(request.param("x_max").value_or(""), limit)) range.high = limit;
  const auto charts =
      charts_of(all, asked->data, asked->models, request.param("feature_name").value_or(""),
                asked->example, range, request.param("feature_index_pattern").value_or(""));
  if (!charts) return wrong(charts.error());
  const whatif::TryValues& values = charts->values;
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("chartType").string(values.is_numeric ? "numeric" : "categorical");
    json.key("data").array([&] {
      for (const auto& by_model : charts->lines) {
        json.array([&] {
          for (const Series& series : by_model) {
            json.object([&] {
              for (const auto& [label, points] : series) {
                json.key(label).array([&] {
                  for (const auto& [v, mean] : points) {
                    json.object([&] {
                      json.key("step");
                      values.is_numeric ? json.number(values.numbers[v])
                                        : json.string(values.words[v]);
                      json.key("scalar").number(mean);
                    });
                  }
                });
              }
            });
          }
        });
      }
    });
  });
  return fresh(std::move(body));
}

namespace {

struct Eligible {
  std::string name;
  double low = 0, high = 0, interest = 0;
  std::vector<std::string> samples;
  bool is_numeric = true;
};

std::vector<Eligible> eligible_of(const whatif::Dataset& data) {
  std::vector<Eligible> out;
  for (const whatif::Column& column : data.columns) {
    if (column.kind == whatif::Kind::kImage) continue;
    const whatif::TryValues values = whatif::values_to_try(column, {});
    if (values.size() == 0) continue;
    Eligible one;
    one.name = column.name;
    one.is_numeric = values.is_numeric;
    if (values.is_numeric) one.low = values.numbers.front(), one.high = values.numbers.back();
    one.samples = values.words;
    out.push_back(std::move(one));
  }
  std::ranges::sort(out, {}, &Eligible::name);
  return out;
}

Answer write_eligible(const std::vector<Eligible>& features, bool has_interest) {
  std::string body;
  JsonWriter json(body);
  json.array([&] {
    for (const Eligible& one : features) {
      json.object([&] {
        json.key("name").string(one.name);
        if (one.is_numeric) {
          json.key("observedMin").number(one.low);
          json.key("observedMax").number(one.high);
        } else {
          json.key("samples").array([&] {
            for (const std::string& word : one.samples) json.string(word);
          });
        }
        if (has_interest) json.key("interestingness").number(one.interest);
      });
    }
  });
  return fresh(std::move(body));
}

}  // namespace

Answer eligible_features(const Context& context, const Request&) {
  PluginExamples& all = context.services.whatif().plugin();
  const std::lock_guard lock(all.mutex);
  return write_eligible(eligible_of(table_of(all, all_rows(all))), false);
}

namespace {}  // namespace

Answer sort_eligible_features(const Context& context, const Request& request) {
  if (is_from_elsewhere(request)) return foreign();
  PluginExamples& all = context.services.whatif().plugin();
  const std::lock_guard lock(all.mutex);
  const auto asked = asked_charts(context, request, all);
  if (!asked) return wrong(asked.error());
  std::vector<Eligible> features = eligible_of(asked->data);
  for (Eligible& one : features) {
    const auto charts =
        charts_of(all, asked->data, asked->models, one.name, asked->example, {}, "");
    if (!charts) return wrong(charts.error());
    one.interest = charts->interest;
  }
  std::ranges::stable_sort(features, std::greater<>(), &Eligible::interest);
  return write_eligible(features, true);
}

}  // namespace sonde::api::tensorboard::plugin_whatif
