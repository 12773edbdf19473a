#include "whatif/model/config.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::whatif {
namespace {

constexpr size_t kMaxModels = 50;
constexpr size_t kMaxNames = 10'000;

Result<void> read_text(const JsonValue& from, std::string_view name, std::string& into) {
  const JsonValue* value = from.find(name);
  if (!value) return {};
  if (!value->is_string()) return fail(Code::kInvalid, fmt::format("'{}' must be a text", name));
  into = value->text;
  return {};
}

Result<void> read_names(const JsonValue& from, std::string_view name,
                        std::vector<std::string>& into) {
  const JsonValue* value = from.find(name);
  if (!value) return {};
  const bool fits = value->is_array() && value->items.size() <= kMaxNames &&
                    std::ranges::all_of(value->items, [](const JsonValue& v) {
                      return v.is_string() || v.is_number();
                    });
  if (!fits) return fail(Code::kInvalid, fmt::format("'{}' must be a list of texts", name));
  for (const JsonValue& item : value->items) into.push_back(item.text);
  return {};
}

// The first failure of several readings.
template <class... R>
Result<void> first_failure(R&&... results) {
  Result<void> out;
  ((out&& !results ? out = std::forward<R>(results) : out), ...);
  return out;
}

}  // namespace

Result<ModelConfig> model_config(const JsonValue& value) {
  ModelConfig out;
  if (!value.is_object()) return fail(Code::kInvalid, "a model must be an object");
  auto read = first_failure(
      read_text(value, "name", out.name), read_text(value, "task", out.task),
      read_text(value, "positive", out.positive), read_names(value, "columns", out.columns),
      read_names(value, "labels", out.labels), read_text(value, "vocabulary", out.vocabulary),
      read_text(value, "file", out.file), read_text(value, "key", out.key),
      read_text(value, "attributions", out.attributions), read_text(value, "steps", out.steps),
      read_text(value, "url", out.url), read_text(value, "protocol", out.protocol),
      read_text(value, "request", out.request), read_text(value, "scores", out.scores),
      read_text(value, "input", out.input), read_text(value, "tensor", out.tensor),
      read_text(value, "output", out.output), read_text(value, "signature", out.signature),
      read_text(value, "token", out.token), read_names(value, "features", out.features));
  if (!read) return fail(std::move(read).error());
  if (out.name.empty() || out.name.size() > 200)
    return fail(Code::kInvalid, "a model's name has 1 to 200 characters");
  if (out.protocol.empty()) out.protocol = "tfserving";
  if (out.protocol != "tfserving" && out.protocol != "kserve" && out.protocol != "template")
    return fail(Code::kInvalid,
                fmt::format("'{}' is no protocol: tfserving, kserve or template", out.protocol));
  if (!out.task.empty() && out.task != "regression" && out.task != "binary" &&
      out.task != "multiclass")
    return fail(Code::kInvalid,
                fmt::format("'{}' is no task: regression, binary or multiclass", out.task));
  return out;
}

Result<SetConfig> set_config(std::string_view json) {
  SONDE_TRY(const root, read_json(json));
  if (!root.is_object()) return fail(Code::kInvalid, "whatif.json must hold an object");
  SetConfig out;
  auto read =
      first_failure(read_text(root, "name", out.name), read_text(root, "data", out.data),
                    read_text(root, "label", out.label), read_text(root, "positive", out.positive),
                    read_names(root, "ignore", out.ignore),
                    read_text(root, "distance", out.distance), read_text(root, "token", out.token));
  if (!read) return fail(std::move(read).error());
  if (out.data.empty()) return fail(Code::kInvalid, "'data' must name the file of examples");
  if (const JsonValue* most = root.find("max_examples")) {
    const auto value = most->integer();
    if (!value || *value < 1 || *value > 10'000'000)
      return fail(Code::kInvalid, "'max_examples' must lie between 1 and 10 000 000");
    out.max_examples = static_cast<uint64_t>(*value);
  }
  if (const JsonValue* odds = root.find("sampling_odds")) {
    const auto value = odds->number();
    if (!value || !(*value > 0 && *value <= 1))
      return fail(Code::kInvalid, "'sampling_odds' must lie between 0 and 1");
    out.sampling_odds = *value;
  }
  if (const JsonValue* models = root.find("models")) {
    if (!models->is_array() || models->items.size() > kMaxModels)
      return fail(Code::kInvalid,
                  fmt::format("'models' must be a list of at most {} models", kMaxModels));
    for (const JsonValue& one : models->items) {
      SONDE_TRY(model, model_config(one));
      if (model.positive.empty()) model.positive = out.positive;
      out.models.push_back(std::move(model));
    }
  }
  return out;
}

}  // namespace sonde::whatif
