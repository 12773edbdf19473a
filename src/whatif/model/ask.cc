#include "whatif/model/ask.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "base/strings.h"
#include "codec/base64.h"
#include "whatif/dependence.h"
#include "whatif/files/examples.h"
#include "whatif/model/http_post.h"
#include "whatif/model/serving_grpc.h"

namespace sonde::whatif {
namespace {

constexpr size_t kMaxLabels = 10'000;

void write_element(JsonWriter& json, const Column& column, size_t at) {
  if (column.is_numeric()) {
    const double value = column.numbers[at];
    if (std::isnan(value)) return json.null();
    if (column.is_integer && std::abs(value) < 9e15)
      return json.number(static_cast<int64_t>(value));
    return json.number(value);
  }
  if (column.codes[at] == kMissing) return json.null();
  const std::string& word = column.words[column.codes[at]];
  if (is_utf8(word)) return json.string(word);
  json.object([&] { json.key("b64").string(base64(word)); });
}

void write_kserve(JsonWriter& json, const ModelConfig& model, const Dataset& data,
                  const std::vector<size_t>& columns, size_t begin, size_t end) {
  json.object([&] {
    json.key("inputs").array([&] {
      json.object([&] {
        json.key("name").string(model.input.empty() ? "input" : model.input);
        json.key("shape").array([&] {
          json.number(static_cast<uint64_t>(end - begin));
          json.number(static_cast<uint64_t>(columns.size()));
        });
        const bool has_text =
            std::ranges::any_of(columns, [&](size_t c) { return !data.columns[c].is_numeric(); });
        json.key("datatype").string(has_text ? "BYTES" : "FP32");
        json.key("data").array([&] {
          for (size_t row = begin; row < end; ++row)
            for (const size_t c : columns) {
              const Column& column = data.columns[c];
              if (has_text)
                json.string(to_utf8(column.text(row)));
              else if (column.is_missing(row))
                json.number(0.0);
              else
                json.number(column.number(row));
            }
        });
      });
    });
  });
}

void write_instances(JsonWriter& json, const ModelConfig& model, const Dataset& data,
                     const std::vector<size_t>& columns, size_t begin, size_t end) {
  json.array([&] {
    for (size_t row = begin; row < end; ++row) {
      if (model.input == "examples") {
        const auto example = [&] {
          json.object([&] { json.key("b64").string(base64(write_example(data, row))); });
        };
        if (model.tensor.empty())
          example();
        else
          json.object([&] {
            json.key(model.tensor);
            example();
          });
      } else if (model.input == "array") {
        json.array([&] {
          for (const size_t c : columns) write_value(json, data.columns[c], row);
        });
      } else {
        json.object([&] { write_row(json, data, row, columns); });
      }
    }
  });
}

// "/a/0/b" as RFC 6901 says.
const JsonValue* at_pointer(const JsonValue& root, std::string_view pointer) {
  const JsonValue* at = &root;
  for (const std::string_view part :
       split(pointer.starts_with('/') ? pointer.substr(1) : pointer, '/')) {
    if (part.empty()) continue;
    if (at->is_array()) {
      double index = -1;
      if (!parse_number(part, index) || index < 0 || index >= static_cast<double>(at->items.size()))
        return nullptr;
      at = &at->items[static_cast<size_t>(index)];
    } else if (!(at = at->find(part))) {
      return nullptr;
    }
  }
  return at;
}

Result<void> add_score(const JsonValue& value, RawScores& out) {
  const auto number = value.is_bool() ? std::optional<double>(value.boolean) : value.number();
  if (!number) return fail(Code::kInvalid, "the model answered something that is no number");
  out.scores.push_back(*number);
  return {};
}

// Puts scores that came in the order of `names` into the order of `labels`: models that sort their
// answer name the labels in another order for every example.
Result<void> reorder(const std::vector<std::string_view>& names,
                     const std::vector<std::string>& labels, std::span<double> scores) {
  if (names.size() != scores.size() || labels.size() != scores.size())
    return fail(Code::kInvalid, "the model named the labels of some examples and not of others");
  std::vector<double> sorted(scores.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto at = std::ranges::find(names, labels[i]);
    if (at == names.end())
      return fail(
          Code::kInvalid,
          fmt::format("the model gave the label '{}' a score for one example and not for another",
                      to_utf8(std::string_view(labels[i]).substr(0, 200))));
    sorted[i] = scores[static_cast<size_t>(at - names.begin())];
  }
  std::ranges::copy(sorted, scores.begin());
  return {};
}

// One prediction: a number, a list of scores, a list of [label, score], or an object of label and
// score.
Result<void> add_prediction(const JsonValue& value, bool is_first, RawScores& out) {
  const size_t before = out.scores.size();
  std::vector<std::string_view> names;
  if (value.is_array()) {
    for (const JsonValue& item : value.items) {
      const bool is_pair = item.is_array() && item.items.size() == 2 && item.items[0].is_string();
      if (is_pair) names.push_back(item.items[0].text);
      // A batch of one output comes wrapped once more.
      const JsonValue& score = is_pair                                     ? item.items[1]
                               : item.is_array() && item.items.size() == 1 ? item.items[0]
                                                                           : item;
      if (auto added = add_score(score, out); !added) return added;
    }
  } else if (value.is_object()) {
    for (const JsonMember& member : value.members) {
      names.push_back(member.first);
      if (auto added = add_score(member.second, out); !added) return added;
    }
  } else if (auto added = add_score(value, out); !added) {
    return added;
  }
  const size_t width = out.scores.size() - before;
  if (is_first) out.width = width;
  if (width == 0 || width > kMaxLabels || width != out.width)
    return fail(Code::kInvalid,
                fmt::format("the model answered {} scores for one example and {} for another",
                            out.width, width));
  if (is_first)
    out.labels.assign(names.begin(), names.end());
  else if (!std::ranges::equal(names, out.labels))
    return reorder(names, out.labels, std::span(out.scores).subspan(before));
  return {};
}

Result<RawScores> read_kserve(const JsonValue& root, size_t rows) {
  const JsonValue* outputs = root.find("outputs");
  if (!outputs || !outputs->is_array() || outputs->items.empty())
    return fail(Code::kInvalid, "the answer has no 'outputs'");
  // Probabilities come after labels in what ONNX converters export: the widest output counts.
  const JsonValue* data = nullptr;
  for (const JsonValue& one : outputs->items)
    if (const JsonValue* values = one.find("data");
        values && values->is_array() && (!data || values->items.size() >= data->items.size()))
      data = values;
  if (!data || data->items.empty() || data->items.size() % rows != 0)
    return fail(Code::kInvalid, fmt::format("the answer's output has {} values for {} examples",
                                            data ? data->items.size() : 0, rows));
  RawScores out;
  out.width = data->items.size() / rows;
  for (const JsonValue& value : data->items)
    if (auto added = add_score(value, out); !added) return fail(std::move(added).error());
  return out;
}

}  // namespace

void write_value(JsonWriter& json, const Column& column, size_t row) {
  if (!column.is_list()) return write_element(json, column, row);
  json.array([&] {
    for (size_t at = column.begin(row); at < column.end(row); ++at) write_element(json, column, at);
  });
}

void write_row(JsonWriter& json, const Dataset& data, size_t row,
               const std::vector<size_t>& columns) {
  for (const size_t c : columns) {
    const Column& column = data.columns[c];
    if (column.is_missing(row)) continue;
    json.key(column.name);
    write_value(json, column, row);
  }
}

std::string request_body(const ModelConfig& model, const Dataset& data,
                         const std::vector<size_t>& columns, size_t begin, size_t end) {
  std::string out;
  JsonWriter json(out);
  if (model.protocol == "kserve") {
    write_kserve(json, model, data, columns, begin, end);
    return out;
  }
  if (model.protocol == "template") {
    std::string instances;
    JsonWriter inner(instances);
    write_instances(inner, model, data, columns, begin, end);
    constexpr std::string_view kPlace = "{{instances}}";
    out = model.request.empty() ? std::string("{\"instances\": {{instances}}}") : model.request;
    if (const size_t at = out.find(kPlace); at != out.npos)
      out.replace(at, kPlace.size(), instances);
    return out;
  }
  const bool has_examples = model.url.ends_with(":classify") || model.url.ends_with(":regress");
  json.object([&] {
    if (!model.signature.empty()) json.key("signature_name").string(model.signature);
    json.key(has_examples ? "examples" : "instances");
    write_instances(json, model, data, columns, begin, end);
  });
  return out;
}

Result<RawScores> read_scores(const ModelConfig& model, std::string_view body, size_t rows) {
  SONDE_TRY(const root, read_json(body));
  if (const JsonValue* error = root.find("error"); error && error->is_string())
    return fail(Code::kInvalid,
                "the model says: " + to_utf8(std::string_view(error->text).substr(0, 2000)));
  if (model.protocol == "kserve") return read_kserve(root, rows);
  const JsonValue* list = nullptr;
  if (model.protocol == "template") {
    list = at_pointer(root, model.scores.empty() ? "/predictions" : model.scores);
  } else {
    list = root.find("predictions");
    if (!list) list = root.find("results");
  }
  if (!list || !list->is_array())
    return fail(Code::kInvalid, "the answer has no list of predictions");
  if (list->items.size() != rows)
    return fail(Code::kInvalid, fmt::format("the model answered {} predictions for {} examples",
                                            list->items.size(), rows));
  RawScores out;
  for (size_t i = 0; i < rows; ++i) {
    // A model with several outputs answers an object of them.
    const JsonValue* named = model.output.empty() ? nullptr : list->items[i].find(model.output);
    if (auto added = add_prediction(named ? *named : list->items[i], i == 0, out); !added)
      return fail(std::move(added).error());
  }
  if (const JsonValue* labels = root.find("labels");
      labels && labels->is_array() && labels->items.size() == out.width) {
    out.labels.clear();
    for (const JsonValue& label : labels->items) out.labels.push_back(label.text);
  }
  if (const JsonValue* more = root.find("attributions");
      more && more->is_array() && more->items.size() == rows)
    for (const JsonValue& one : more->items) out.attributions.push_back(to_text(one));
  return out;
}

Result<void> order_scores(const std::vector<std::string>& labels, RawScores& raw) {
  if (raw.labels == labels) return {};
  const std::vector<std::string_view> names(raw.labels.begin(), raw.labels.end());
  for (size_t at = 0; at < raw.scores.size(); at += raw.width)
    if (auto sorted = reorder(names, labels, std::span(raw.scores).subspan(at, raw.width)); !sorted)
      return sorted;
  raw.labels = labels;
  return {};
}

Result<void> append_scores(RawScores part, RawScores& all) {
  if (all.scores.empty()) {
    all = std::move(part);
    return {};
  }
  if (part.width != all.width)
    return fail(Code::kInvalid, "the model answers with a changing number of scores");
  if (auto sorted = order_scores(all.labels, part); !sorted) return sorted;
  all.scores.insert(all.scores.end(), part.scores.begin(), part.scores.end());
  std::ranges::move(part.attributions, std::back_inserter(all.attributions));
  return {};
}

Result<Predictions> to_predictions(const ModelConfig& model, RawScores raw, const Column* truth) {
  // The columns of a small table, so that one rule decides about tasks and labels.
  Dataset table;
  PredictionColumns from;
  from.model = model.name;
  from.task = model.task;
  from.positive = model.positive;
  from.labels = model.labels;
  table.rows = raw.width == 0 ? 0 : raw.scores.size() / raw.width;
  const std::vector<std::string> values =
      truth ? label_values(*truth, 1000) : std::vector<std::string>();
  for (size_t i = 0; i < raw.width; ++i) {
    const bool is_named = i < raw.labels.size();
    const bool by_truth = !is_named && raw.width > 1 && values.size() == raw.width;
    Column column;
    column.name = is_named ? raw.labels[i] : by_truth ? values[i] : std::to_string(i);
    for (size_t row = 0; row < table.rows; ++row)
      column.numbers.push_back(raw.scores[row * raw.width + i]);
    from.columns.push_back(column.name);
    table.columns.push_back(std::move(column));
  }
  if (from.labels.empty() && raw.width > 1) from.labels = from.columns;
  return predictions_from(table, from, truth);
}

Result<RawScores> ask_model(const ModelConfig& model, const Dataset& data,
                            const std::vector<size_t>& columns, size_t begin, size_t end) {
  if (is_grpc(model.url)) return ask_serving(model, data, begin, end);
  SONDE_TRY(const url, url_of(model.url));
  PostOptions options;
  options.token = model.token;
  options.policy = model.policy ? &*model.policy : nullptr;
  SONDE_TRY(const answer, http_post(url, request_body(model, data, columns, begin, end), options));
  return read_scores(model, answer, end - begin);
}

}  // namespace sonde::whatif
