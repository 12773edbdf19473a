#include "api/v1/whatif/shared.h"

#include <fmt/format.h>

#include "whatif/dependence.h"
#include "whatif/edits.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMaxEdits = 10'000;

}  // namespace

Result<Judged> judged(const LoadedSet& set, std::string_view model, std::string_view label) {
  Judged out;
  SONDE_TRY(predictions, set.predictions(model));
  out.predictions = std::move(predictions);
  out.label = label.empty() ? set.label() : set.data().find(label);
  if (!out.label)
    return fail(Code::kNotFound, label.empty() ? "no column is named as the truth; give 'label'"
                                               : fmt::format("there is no column '{}'", label));
  out.truth = whatif::truth_of(*out.label, *out.predictions);
  return out;
}

Result<Judged> judged_by(const LoadedSet& set, const JsonValue& body) {
  SONDE_TRY(const model, text_in(body, "model"));
  SONDE_TRY(const label, text_in(body, "label"));
  return judged(set, model, label);
}

Result<std::vector<std::string>> texts_in(const JsonValue& body, std::string_view name) {
  std::vector<std::string> out;
  const JsonValue* list = body.find(name);
  if (!list) return out;
  if (!list->is_array() || list->items.size() > whatif::kMaxColumns)
    return fail(Code::kInvalid, fmt::format("'{}' must be a list of names", name));
  for (const JsonValue& item : list->items) {
    if (!item.is_string())
      return fail(Code::kInvalid, fmt::format("'{}' must be a list of names", name));
    out.push_back(item.text);
  }
  return out;
}

Result<std::vector<whatif::SliceBy>> slices_in(const JsonValue& body) {
  std::vector<whatif::SliceBy> out;
  const JsonValue* list = body.find("slices");
  if (!list) return out;
  if (!list->is_array()) return fail(Code::kInvalid, "'slices' must be a list of features");
  for (const JsonValue& item : list->items) {
    whatif::SliceBy by;
    if (item.is_string()) {
      by.feature = item.text;
    } else {
      SONDE_TRY(feature, text_in(item, "feature"));
      SONDE_TRY(const buckets, integer_in(item, "buckets", 2));
      SONDE_TRY(const cut, text_in(item, "cut", "width"));
      by.feature = std::move(feature);
      by.buckets = static_cast<size_t>(std::clamp<int64_t>(buckets, 0, 1000));
      by.cut = cut == "frequency" ? whatif::Cut::kEqualFrequency : whatif::Cut::kEqualWidth;
    }
    out.push_back(std::move(by));
    if (out.size() > whatif::kMaxSliceFeatures)
      return fail(Code::kInvalid,
                  fmt::format("slices are made by at most {} features", whatif::kMaxSliceFeatures));
  }
  return out;
}

std::vector<double> losses_of(const Judged& judged, double threshold) {
  const whatif::Predictions& p = *judged.predictions;
  std::vector<double> out(p.rows(), whatif::kNaN);
  for (size_t row = 0; row < out.size(); ++row) {
    if (p.is_missing(row)) continue;
    if (p.task == whatif::Task::kRegression)
      out[row] = std::abs(p.scores[row] - judged.truth.values[row]);
    else if (p.task == whatif::Task::kBinary || judged.truth.labels[row] != whatif::Truth::kNone)
      out[row] = whatif::is_correct(p, judged.truth, row, threshold) ? 0 : 1;
  }
  return out;
}

void write_interval(JsonWriter& json, double value, const whatif::Interval& interval) {
  json.array([&] {
    for (const double v : {value, interval.low, interval.high}) {
      if (std::isnan(v))
        json.null();
      else
        json.number(v);
    }
  });
}

Result<Edited> edits_in(const LoadedSet& set, const JsonValue& body) {
  Edited out;
  const JsonValue* list = body.find("edits");
  if (!list || !list->is_array() || list->items.empty() || list->items.size() > kMaxEdits)
    return fail(Code::kInvalid,
                fmt::format("'edits' must be a list of 1 to {} changed examples", kMaxEdits));
  const whatif::Dataset& data = set.data();
  for (const JsonValue& edit : list->items) {
    SONDE_TRY(const row, integer_in(edit, "row", -1));
    if (row < 0 || static_cast<uint64_t>(row) >= data.rows)
      return fail(Code::kInvalid, fmt::format("there is no example {}", row));
    out.rows.push_back(static_cast<uint32_t>(row));
    if (const JsonValue* values = edit.find("values"); values) {
      for (const JsonMember& member : values->members)
        if (!data.find(member.first))
          return fail(Code::kInvalid, fmt::format("there is no feature '{}'", member.first));
    }
  }
  std::vector<const JsonValue*> values;
  for (const JsonValue& edit : list->items) values.push_back(edit.find("values"));
  out.data = whatif::with_values(whatif::selected(data, out.rows), values);
  return out;
}

}  // namespace sonde::api::v1
