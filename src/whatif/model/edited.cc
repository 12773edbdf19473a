// One set of examples made out of another: values changed, examples copied or left out, features
// added. Predictions are carried over; only what changed is asked for again.
#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "whatif/dependence.h"
#include "whatif/edits.h"
#include "whatif/model/loaded_set.h"

namespace sonde::whatif {
namespace {

constexpr std::string_view kSuffix = " (edited)";

Predictions carried_over(const Predictions& from, const SetEdits& edits) {
  Predictions out = from;
  out.scores.clear();
  for (size_t i = 0; i < edits.rows.size(); ++i)
    for (size_t label = 0; label < from.width(); ++label)
      out.scores.push_back(edits.values[i] ? kNaN : from.score(edits.rows[i], label));
  return out;
}

// Of the changed examples: what the model said, or nothing.
std::shared_ptr<const Attributions> carried_over(const Attributions& from, const SetEdits& edits,
                                                 const std::vector<uint32_t>& changed,
                                                 const std::vector<std::string>& said) {
  JsonValue nothing = JsonValue::object();
  for (const Column& column : from.values.columns) nothing.members.push_back({column.name, {}});
  std::vector<JsonValue> fresh(changed.size(), nothing);
  for (size_t i = 0; i < std::min(said.size(), changed.size()); ++i)
    if (auto read = read_json(said[i]); read && read->is_object()) fresh[i] = std::move(*read);
  std::vector<const JsonValue*> values(edits.rows.size());
  for (size_t i = 0; i < changed.size(); ++i) values[changed[i]] = &fresh[i];
  return attributions_of(with_values(selected(from.values, edits.rows), values), "");
}

}  // namespace

Result<std::shared_ptr<LoadedSet>> LoadedSet::edited(const SetEdits& edits) const {
  if ((data_.columns.size() + edits.features.size()) * edits.rows.size() > kMaxCells ||
      data_.columns.size() + edits.features.size() > kMaxColumns)
    return fail(Code::kTooLarge,
                fmt::format("more than {} values or {} features", kMaxCells, kMaxColumns));
  Dataset data = selected(data_, edits.rows);
  for (const std::string& name : edits.features) {
    if (name.empty() || name.size() > 1000)
      return fail(Code::kInvalid, "a feature's name has 1 to 1000 characters");
    if (data.find(name))
      return fail(Code::kConflict, fmt::format("there is a feature '{}' already", to_utf8(name)));
    Column column;
    column.name = name;
    column.is_integer = true;
    column.numbers.assign(data.rows, kNaN);
    data.columns.push_back(std::move(column));
  }
  data = with_values(std::move(data), edits.values);
  std::vector<uint32_t> changed;
  for (uint32_t i = 0; i < edits.values.size(); ++i)
    if (edits.values[i]) changed.push_back(i);

  SetConfig config = config_;
  if (!config.name.ends_with(kSuffix)) config.name += kSuffix;
  config.distance.clear();  // it knows only the examples it was started with
  std::shared_ptr<LoadedSet> set(new LoadedSet(std::move(config), std::move(data)));
  for (ModelStatus model : models()) {
    if (!model.steps.empty()) continue;  // its files are about the examples as they were
    model.is_asking = model.is_stopping = false;
    set->models_.push_back(std::move(model));
  }
  {
    const std::lock_guard lock(mutex_);
    set->label_order_ = label_order_;
  }
  set->find_features();
  const Dataset questions = selected(set->data_, changed);
  for (ModelStatus& model : set->models_) {
    if (!model.predictions) continue;
    Predictions carried = carried_over(*model.predictions, edits);
    std::vector<std::string> said;
    if (model.is_live && !changed.empty()) {
      auto raw = set->ask(model.config, questions);
      if (raw) said = std::move(raw->attributions);
      auto fresh = raw ? to_predictions(model.config, std::move(*raw), set->label())
                       : Result<Predictions>(fail(std::move(raw).error()));
      if (!fresh)
        model.problem = fresh.error().text;
      else if (fresh->width() != carried.width() || fresh->task != carried.task)
        model.problem = "the model answers in a changing form";
      else
        for (size_t i = 0; i < changed.size(); ++i)
          for (size_t label = 0; label < carried.width(); ++label)
            carried.scores[changed[i] * carried.width() + label] = fresh->score(i, label);
    }
    model.predictions = std::make_shared<const Predictions>(std::move(carried));
    if (model.attributions)
      model.attributions = carried_over(*model.attributions, edits, changed, said);
  }
  return set;
}

}  // namespace sonde::whatif
