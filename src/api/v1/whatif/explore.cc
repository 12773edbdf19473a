// What the scatter and the editor show: columns with computed ones, whole examples, images, the
// nearest examples, statistics of the features.
#include <fmt/format.h>

#include <algorithm>

#include "api/v1/whatif/shared.h"
#include "base/strings.h"
#include "image/sniff.h"
#include "log/query/series/column_file.h"
#include "whatif/distance.h"
#include "whatif/sprite.h"
#include "whatif/statistics.h"

namespace sonde::api::v1 {
namespace {

constexpr std::string_view kAttribution = "$attribution:";
constexpr size_t kMaxColumnsAsked = 32, kMaxRows = 1000, kMaxWords = 20'000;

// One column of an answer: numbers, or codes of words.
struct Shown {
  std::string name;
  std::string_view kind = "numeric";
  std::vector<double> numbers;
  std::vector<uint32_t> codes;
  std::vector<std::string> words;
};

Shown plain(const whatif::Column& column) {
  Shown out;
  out.name = column.name;
  out.kind = whatif::name_of(column.kind);
  const size_t rows = column.rows();
  if (column.is_numeric()) {
    out.numbers.resize(rows);
    for (size_t row = 0; row < rows; ++row) out.numbers[row] = column.number(row);
    return out;
  }
  out.codes.resize(rows);
  for (size_t row = 0; row < rows; ++row) out.codes[row] = column.code(row);
  if (column.kind == whatif::Kind::kImage) return out;
  for (size_t i = 0; i < std::min(column.words.size(), kMaxWords); ++i)
    out.words.push_back(column.words[i].substr(0, 200));
  return out;
}

struct Asked {
  std::string_view model, against, label;
  double threshold = 0.5;
};

Result<Shown> computed(const LoadedSet& set, std::string_view name, const Asked& asked) {
  Shown out;
  out.name = std::string(name);
  const size_t rows = set.data().rows;
  if (name == "$row") {
    for (size_t row = 0; row < rows; ++row) out.numbers.push_back(static_cast<double>(row));
    return out;
  }
  if (name == "$correct" || name == "$error") {
    SONDE_TRY(const judge, judged(set, asked.model, asked.label));
    const std::vector<double> losses = losses_of(judge, asked.threshold);
    if (judge.predictions->task == whatif::Task::kRegression) {
      out.numbers.resize(rows);
      for (size_t row = 0; row < rows; ++row)
        out.numbers[row] = judge.predictions->scores[row] - judge.truth.values[row];
      return out;
    }
    out.kind = "categorical";
    out.words = {"correct", "wrong"};
    for (const double loss : losses)
      out.codes.push_back(std::isnan(loss) ? whatif::kMissing : loss > 0 ? 1 : 0);
    return out;
  }
  if (name.starts_with(kAttribution)) {
    SONDE_TRY(const attributions, set.attributions(asked.model));
    const whatif::Column* column = attributions->values.find(name.substr(kAttribution.size()));
    if (!column) return fail(Code::kNotFound, fmt::format("there is no column '{}'", name));
    for (size_t row = 0; row < rows; ++row)
      out.numbers.push_back(whatif::attribution(*column, row));
    return out;
  }
  SONDE_TRY(const predictions, set.predictions(asked.model));
  if (name == "$predicted" && predictions->task != whatif::Task::kRegression) {
    out.kind = "categorical";
    out.words = predictions->labels;
    for (size_t row = 0; row < rows; ++row)
      out.codes.push_back(predictions->predicted(row, asked.threshold));
    return out;
  }
  out.numbers.resize(rows);
  if (name == "$confidence") {
    for (size_t row = 0; row < rows; ++row) out.numbers[row] = predictions->confidence(row);
  } else if (name == "$score" || name == "$predicted") {
    for (size_t row = 0; row < rows; ++row)
      out.numbers[row] = predictions->task == whatif::Task::kMulticlass
                             ? predictions->confidence(row)
                             : predictions->scores[row];
  } else if (name == "$delta") {
    SONDE_TRY(const other, set.predictions(asked.against));
    if (other->width() != predictions->width())
      return fail(Code::kInvalid, "the two models have different labels");
    for (size_t row = 0; row < rows; ++row) {
      double most = 0;
      for (size_t i = 0; i < predictions->width(); ++i) {
        const double d = other->score(row, i) - predictions->score(row, i);
        if (std::isnan(d) || std::abs(d) > std::abs(most)) most = d;
      }
      out.numbers[row] = most;
    }
  } else {
    return fail(Code::kNotFound, fmt::format("there is no column '{}'", name));
  }
  return out;
}

Result<whatif::Metric> metric_of(std::string_view name) {
  if (name == "l1" || name.empty()) return whatif::Metric::kL1;
  if (name == "l2") return whatif::Metric::kL2;
  return fail(Code::kInvalid, fmt::format("'{}' is no distance: l1, l2 or custom", name));
}

// By a metric's name; "custom" is what the set's own function says.
Result<std::vector<double>> distances_by(const Context& context, const LoadedSet& set,
                                         std::string_view name, size_t row,
                                         const whatif::DistanceModel& model) {
  if (name == "custom") return set.custom_distances(row);
  SONDE_TRY(const metric, metric_of(name));
  return whatif::distances_to(set.data(), model, row, metric, &context.pool);
}

// Between what the model says each feature moved its answer by, instead of between the features.
Result<std::vector<double>> distances_by_attributions(const Context& context, const LoadedSet& set,
                                                      std::string_view metric_name, size_t row,
                                                      std::string_view model) {
  SONDE_TRY(const metric, metric_of(metric_name));
  SONDE_TRY(const attributions, set.attributions(model));
  return whatif::distances_to(attributions->values, attributions->distances, row, metric,
                              &context.pool);
}

// "$distance:12:l2": to example 12; l1, l2 or custom. "$distance:12:l1:attributions": of the
// model asked about.
Result<Shown> distance_column(const Context& context, const LoadedSet& set, std::string_view name,
                              const Asked& asked) {
  const auto parts = split(name, ':');
  double row = -1;
  if (parts.size() < 2 || !whatif::parse_number(parts[1], row) || row < 0 ||
      row >= static_cast<double>(set.data().rows))
    return fail(Code::kInvalid, "write $distance:ROW or $distance:ROW:l2");
  const std::string_view metric = parts.size() > 2 ? parts[2] : "l1";
  const auto at = static_cast<size_t>(row);
  SONDE_TRY(distances, parts.size() > 3 && parts[3] == "attributions"
                           ? distances_by_attributions(context, set, metric, at, asked.model)
                           : distances_by(context, set, metric, at, set.distances()));
  Shown out;
  out.name = std::string(name);
  out.numbers = std::move(distances);
  return out;
}

Result<size_t> row_in(const LoadedSet& set, int64_t row) {
  if (row < 0 || static_cast<uint64_t>(row) >= set.data().rows)
    return fail(Code::kInvalid,
                fmt::format("there is no example {}; the set has {}", row, set.data().rows));
  return static_cast<size_t>(row);
}

// The examples that `i` names, once or more.
Result<std::vector<uint32_t>> rows_in(const LoadedSet& set, const Request& request) {
  const auto wanted = request.params("i");
  if (wanted.empty() || wanted.size() > kMaxRows)
    return fail(Code::kInvalid, fmt::format("'i' must be given 1 to {} times", kMaxRows));
  std::vector<uint32_t> rows;
  for (const std::string_view text : wanted) {
    double number = -1;
    if (!whatif::parse_number(text, number)) number = -1;
    SONDE_TRY(const row, row_in(set, static_cast<int64_t>(number)));
    rows.push_back(static_cast<uint32_t>(row));
  }
  return rows;
}

void write_numbers(JsonWriter& json, std::string_view key, const std::vector<double>& values) {
  json.key(key).array([&] {
    for (const double v : values) json.number(v);
  });
}

void write_statistics(JsonWriter& json, const whatif::ColumnStatistics& s) {
  json.key("name").string(s.name);
  json.key("kind").string(whatif::name_of(s.kind));
  json.key("count").number(s.count);
  json.key("missing").number(s.missing);
  json.key("mean_list_length").number(s.mean_list_length);
  if (!s.lengths.empty()) {
    json.key("lengths").array([&] {
      for (const uint64_t count : s.lengths) json.number(count);
    });
    write_numbers(json, "length_edges", s.length_edges);
  }
  json.key("non_uniformity").number(s.non_uniformity);
  if (s.kind == whatif::Kind::kNumeric) {
    const whatif::NumericStatistics& n = s.numeric;
    json.key("mean").number(n.mean);
    json.key("deviation").number(n.deviation);
    json.key("zeros").number(n.zeros);
    json.key("not_finite").number(n.not_finite);
    json.key("low").number(n.low);
    json.key("median").number(n.median);
    json.key("high").number(n.high);
    write_numbers(json, "quantiles", n.quantiles);
    write_numbers(json, "edges", n.edges);
    json.key("histogram").array([&] {
      for (const uint64_t count : n.histogram) json.number(count);
    });
    return;
  }
  json.key("unique").number(s.words.unique);
  json.key("mean_length").number(s.words.mean_length);
  json.key("top").array([&] {
    for (const whatif::WordCount& top :
         s.kind == whatif::Kind::kImage ? std::vector<whatif::WordCount>() : s.words.top) {
      json.array([&] {
        json.string(std::string_view(top.word).substr(0, 200));
        json.number(top.count);
      });
    }
  });
}

}  // namespace

Answer whatif_columns(const Context& context, const Request& request,
                      const std::shared_ptr<LoadedSet>& set) {
  const auto names = request.params("name");
  if (names.empty() || names.size() > kMaxColumnsAsked)
    return error(
        {Code::kInvalid, fmt::format("'name' must be given 1 to {} times", kMaxColumnsAsked)},
        "name");
  Asked asked{request.param("model").value_or(""), request.param("against").value_or(""),
              request.param("label").value_or(""), 0.5};
  if (const auto threshold = request.param("threshold");
      threshold && !whatif::parse_number(*threshold, asked.threshold))
    return error({Code::kInvalid, "'threshold' must be a number"}, "threshold");
  std::vector<Shown> shown;
  for (const std::string_view name : names) {
    if (const whatif::Column* column = set->data().find(name)) {
      shown.push_back(plain(*column));
      continue;
    }
    SONDE_ANSWER(one, name.starts_with("$distance:") ? distance_column(context, *set, name, asked)
                                                     : computed(*set, name, asked));
    shown.push_back(std::move(one));
  }
  std::vector<query::Column> columns;
  for (size_t i = 0; i < shown.size(); ++i)
    columns.push_back(shown[i].numbers.empty() && !shown[i].codes.empty()
                          ? query::Column::of(fmt::format("c{}", i), shown[i].codes)
                          : query::Column::of(fmt::format("c{}", i), shown[i].numbers));
  Answer answer;
  answer.content_type = query::kColumnsMime;
  answer.cache = Cache::kNoStore;
  answer.body = query::column_file(columns, [&](JsonWriter& json) {
    json.key("columns").array([&] {
      for (const Shown& one : shown) {
        json.object([&] {
          json.key("name").string(one.name);
          json.key("kind").string(one.kind);
          json.key("words").array([&] {
            for (const std::string& word : one.words) json.string(word);
          });
        });
      }
    });
  });
  return answer;
}

Answer whatif_rows(const Context&, const Request& request, const std::shared_ptr<LoadedSet>& set) {
  const whatif::Dataset& data = set->data();
  std::string body;
  JsonWriter json(body);
  SONDE_ANSWER(const rows, rows_in(*set, request));
  json.object([&] {
    json.key("rows").array([&] {
      for (const uint32_t row : rows) {
        json.object([&] {
          json.key("i").number(row);
          json.key("values").array([&] {
            for (const whatif::Column& column : data.columns) {
              if (column.is_missing(row))
                json.null();
              else if (column.kind == whatif::Kind::kImage)
                json.object([&] {
                  json.key("bytes").number(
                      static_cast<uint64_t>(column.words[column.code(row)].size()));
                });
              else
                whatif::write_value(json, column, row);
            }
          });
          json.key("predictions").object([&] {
            for (const whatif::ModelStatus& model : set->models()) {
              const auto predictions = set->predictions(model.config.name);
              if (!predictions) continue;
              json.key(model.config.name).array([&] {
                for (size_t i = 0; i < (*predictions)->width(); ++i)
                  json.number((*predictions)->score(row, i));
              });
            }
          });
          const auto models = set->models();
          const auto explains = [](const whatif::ModelStatus& model) {
            return model.attributions != nullptr;
          };
          if (std::ranges::none_of(models, explains)) return;
          json.key("attributions").object([&] {
            for (const whatif::ModelStatus& model : models) {
              if (!explains(model)) continue;
              json.key(model.config.name).object([&] {
                for (const whatif::Column& column : model.attributions->values.columns) {
                  if (column.is_missing(row)) continue;
                  json.key(column.name);
                  whatif::write_value(json, column, row);
                }
              });
            }
          });
        });
      }
    });
  });
  return Answer::json(std::move(body));
}

Answer whatif_image(const Context&, const Request& request, const std::shared_ptr<LoadedSet>& set) {
  SONDE_ANSWER(const name, text_param(request, "column"));
  SONDE_ANSWER(const asked, integer_param(request, "i", -1));
  SONDE_ANSWER(const row, row_in(*set, asked));
  const whatif::Column* column = set->data().find(name);
  const uint32_t code = column ? column->code(row) : whatif::kMissing;
  const auto header =
      code == whatif::kMissing ? std::nullopt : image::sniff(as_bytes(column->words[code]));
  if (!header)
    return error({Code::kNotFound, fmt::format("example {} has no image in '{}'", row, name)});
  Answer answer;
  answer.content_type = std::string(header->mime);
  answer.body = column->words[code];
  answer.csp = "sandbox";
  return answer;
}

// The images of some examples side by side, in the order they were asked for.
Answer whatif_sprite(const Context&, const Request& request,
                     const std::shared_ptr<LoadedSet>& set) {
  SONDE_ANSWER(const name, text_param(request, "column"));
  SONDE_ANSWER(const rows, rows_in(*set, request));
  const whatif::Column* column = set->data().find(name);
  if (!column || column->kind != whatif::Kind::kImage)
    return error({Code::kNotFound, fmt::format("'{}' is no column of images", name)}, "column");
  SONDE_ANSWER(png, whatif::sprite_of(*column, rows));
  Answer answer;
  answer.content_type = "image/png";
  answer.body = std::move(png);
  answer.csp = "sandbox";
  return answer;
}

Answer whatif_features(const Context& context, const Request& request,
                       const std::shared_ptr<LoadedSet>& set) {
  std::shared_ptr<LoadedSet> other;
  if (const auto with = request.param("with"); with && !with->empty()) {
    SONDE_ANSWER(opened, context.services.whatif().open(context, *with));
    other = std::move(opened);
  }
  const auto mine = whatif::statistics_of(set->data(), &context.pool);
  const auto theirs = other ? whatif::statistics_of(other->data(), &context.pool)
                            : std::vector<whatif::ColumnStatistics>();
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("rows").number(static_cast<uint64_t>(set->data().rows));
    if (other) json.key("other_rows").number(static_cast<uint64_t>(other->data().rows));
    json.key("features").array([&] {
      for (const whatif::ColumnStatistics& s : mine) {
        json.object([&] {
          write_statistics(json, s);
          const auto match = std::ranges::find(theirs, s.name, &whatif::ColumnStatistics::name);
          if (match == theirs.end()) return;
          const double drift =
              whatif::drift_between(*set->data().find(s.name), *other->data().find(s.name));
          json.key("drift");
          if (std::isnan(drift))
            json.null();
          else
            json.number(drift);
          json.key("other").object([&] { write_statistics(json, *match); });
        });
      }
    });
  });
  return Answer::json(std::move(body));
}

Answer whatif_nearest(const Context& context, const Request& request,
                      const std::shared_ptr<LoadedSet>& set) {
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const metric_name, text_in(body, "metric", "l1"));
  SONDE_ANSWER(const asked, integer_in(body, "row", -1));
  SONDE_ANSWER(const row, row_in(*set, asked));
  SONDE_ANSWER(const count, integer_in(body, "k", 10));
  SONDE_ANSWER(const threshold, number_in(body, "threshold", 0.5));
  SONDE_ANSWER(const model, text_in(body, "model"));
  SONDE_ANSWER(const only, texts_in(body, "features"));
  SONDE_ANSWER(const by, text_in(body, "by", "features"));
  if (count < 1 || count > 1000)
    return error({Code::kInvalid, "'k' must lie between 1 and 1000"}, "k");
  if (by != "features" && by != "attributions")
    return error({Code::kInvalid, "'by' must be features or attributions"}, "by");
  const whatif::DistanceModel restricted =
      only.empty() ? set->distances() : whatif::restricted(set->distances(), set->data(), only);
  // Features that may not change must be equal: what differs in them is out of reach.
  SONDE_ANSWER(distances, by == "attributions"
                              ? distances_by_attributions(context, *set, metric_name, row, model)
                              : distances_by(context, *set, metric_name, row, restricted));
  if (!only.empty()) {
    whatif::DistanceModel fixed;
    for (const auto& feature : set->distances().features)
      if (std::ranges::find(only, set->data().columns[feature.column].name) == only.end())
        fixed.features.push_back(feature);
    const std::vector<double> apart =
        whatif::distances_to(set->data(), fixed, row, whatif::Metric::kL1, &context.pool);
    for (size_t i = 0; i < distances.size(); ++i)
      if (apart[i] > 0) distances[i] = INFINITY;
  }
  const auto predictions = set->predictions(model);
  const double deviation = predictions && (*predictions)->task == whatif::Task::kRegression
                               ? whatif::prediction_deviation(**predictions)
                               : 0;
  SONDE_ANSWER(const delta, number_in(body, "delta", deviation));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("row").number(static_cast<uint64_t>(row));
    json.key("metric").string(metric_name);
    json.key("nearest").array([&] {
      for (const uint32_t i : whatif::nearest(distances, static_cast<size_t>(count), row)) {
        if (std::isinf(distances[i])) break;
        json.object([&] {
          json.key("row").number(i);
          json.key("distance").number(distances[i]);
        });
      }
    });
    if (!predictions) return;
    json.key("delta").number(delta);
    const auto other =
        whatif::nearest_counterfactual(distances, **predictions, row, threshold, delta);
    json.key("counterfactual");
    if (!other || std::isinf(other->distance)) return json.null();
    json.object([&] {
      json.key("row").number(other->row);
      json.key("distance").number(other->distance);
    });
  });
  return Answer::json(std::move(out));
}

}  // namespace sonde::api::v1
