// A counterfactual that no example is: the example in hand with as few features changed as a greedy
// search finds, each change along values that were observed, each verified by asking the model.
#include <fmt/format.h>

#include <algorithm>

#include "api/v1/whatif/shared.h"
#include "whatif/dependence.h"
#include "whatif/distance.h"

namespace sonde::api::v1 {
namespace {

using whatif::Column;
using whatif::Dataset;
using whatif::Predictions;

constexpr size_t kMaxAsked = 50'000;  // examples one search may make of it

struct Try {
  size_t column = 0;
  double number = whatif::kNaN;
  std::string word;
};

// Every value worth trying of every feature that may change and has not changed yet.
std::vector<Try> tries_of(const LoadedSet& set, const std::vector<size_t>& features) {
  std::vector<Try> out;
  for (const size_t at : features) {
    const whatif::TryValues values = whatif::values_to_try(set.data().columns[at], {});
    for (const double v : values.numbers) out.push_back({at, v, {}});
    for (const std::string& word : values.words) out.push_back({at, whatif::kNaN, word});
  }
  return out;
}

void put(Column& column, size_t row, const Try& change) {
  if (column.is_numeric()) {
    column.numbers[row] = change.number;
    return;
  }
  const auto known = std::ranges::find(column.words, change.word);
  column.codes[row] = static_cast<uint32_t>(known - column.words.begin());
  if (known == column.words.end()) column.words.push_back(change.word);
}

// One copy of the example for each try, with that change made.
Dataset changed_by(const Dataset& one, const std::vector<Try>& tries) {
  Dataset out = whatif::selected(one, std::vector<uint32_t>(tries.size(), 0));
  for (size_t i = 0; i < tries.size(); ++i) put(out.columns[tries[i].column], i, tries[i]);
  return out;
}

// What counts as another answer than the first one, and how near to it an answer is.
struct Goal {
  const Predictions& base;
  double threshold = 0.5, delta = 0;

  bool is_reached(const Predictions& p, size_t row) const {
    if (p.is_missing(row)) return false;
    if (p.task == whatif::Task::kRegression)
      return std::abs(p.scores[row] - base.scores[0]) >= delta;
    return p.predicted(row, threshold) != base.predicted(0, threshold);
  }
  double nearness(const Predictions& p, size_t row) const {
    if (p.is_missing(row)) return -INFINITY;
    if (p.task == whatif::Task::kRegression) return std::abs(p.scores[row] - base.scores[0]);
    if (p.task == whatif::Task::kBinary)
      return base.predicted(0, threshold) == 1 ? -p.scores[row] : p.scores[row];
    const uint32_t was = base.predicted(0, threshold);
    double best = -INFINITY;
    for (size_t i = 0; i < p.width(); ++i)
      if (i != was) best = std::max(best, p.score(row, i));
    return best - p.score(row, was);
  }
};

struct Found {
  std::vector<Try> changes;
  Dataset example;
  Predictions predictions;  // of it
  bool is_other = false;
  size_t asked = 0;
};

Result<Found> search(const LoadedSet& set, const whatif::ModelConfig& model, const Dataset& start,
                     std::vector<size_t> features, const Goal& goal, size_t most_changes) {
  Found found;
  found.example = start;
  found.predictions = goal.base;
  while (found.changes.size() < most_changes && !features.empty()) {
    const std::vector<Try> tries = tries_of(set, features);
    if (tries.empty()) break;
    if (found.asked + tries.size() > kMaxAsked)
      return fail(Code::kTooLarge,
                  fmt::format("this asks the model about more than {} examples; name the features "
                              "that may change",
                              kMaxAsked));
    const Dataset candidates = changed_by(found.example, tries);
    SONDE_TRY(raw, set.ask(model, candidates));
    SONDE_TRY(const said, whatif::to_predictions(model, std::move(raw), set.label()));
    if (said.task != goal.base.task || said.width() != goal.base.width())
      return fail(Code::kInvalid, "the model answers in a changing form");
    found.asked += tries.size();
    const std::vector<double> distances =
        whatif::distances_to(candidates, set.distances(), start, whatif::Metric::kL1);
    // The nearest that flips; while none does, the one that comes closest to flipping.
    size_t best = tries.size();
    bool flips = false;
    double nearest = goal.nearness(found.predictions, 0);
    for (size_t i = 0; i < tries.size(); ++i) {
      const bool reached = goal.is_reached(said, i);
      const double near = goal.nearness(said, i);
      const bool is_better =
          reached == flips
              ? (flips ? best == tries.size() || distances[i] < distances[best] : near > nearest)
              : reached;
      if (!is_better) continue;
      best = i;
      flips = reached;
      nearest = near;
    }
    if (best == tries.size()) break;  // nothing moves the answer any further
    found.changes.push_back(tries[best]);
    found.example = whatif::selected(candidates, {static_cast<uint32_t>(best)});
    found.predictions.scores.assign(
        said.scores.begin() + static_cast<int64_t>(best * said.width()),
        said.scores.begin() + static_cast<int64_t>((best + 1) * said.width()));
    std::erase(features, tries[best].column);
    found.is_other = flips;
    if (flips) break;
  }
  return found;
}

}  // namespace

Answer whatif_counterfactual(const Context&, const Request& request,
                             const std::shared_ptr<LoadedSet>& set) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const name, text_in(body, "model"));
  SONDE_ANSWER(const model, set->live_model(name));
  SONDE_ANSWER(const edited, edits_in(*set, body));
  SONDE_ANSWER(const only, texts_in(body, "features"));
  SONDE_ANSWER(const threshold, number_in(body, "threshold", 0.5));
  SONDE_ANSWER(const most, integer_in(body, "changes", 4));
  if (edited.rows.size() != 1)
    return error({Code::kInvalid, "'edits' must hold the one example to start from"}, "edits");
  if (most < 1 || most > 20)
    return error({Code::kInvalid, "'changes' must lie between 1 and 20"}, "changes");
  std::vector<size_t> features;
  for (const size_t at : set->features()) {
    const Column& column = set->data().columns[at];
    // A list is not one value, a text or an image not one of a few.
    const bool has_kind =
        column.kind == whatif::Kind::kNumeric || column.kind == whatif::Kind::kCategorical;
    const bool may = only.empty() || std::ranges::find(only, column.name) != only.end();
    if (has_kind && may && !column.is_list() && !edited.data.columns[at].is_list() &&
        column.is_numeric() == edited.data.columns[at].is_numeric())
      features.push_back(at);
  }
  if (features.empty())
    return error({Code::kInvalid, "no feature may change: numbers and categories can"}, "features");
  SONDE_ANSWER(raw, set->ask(model, edited.data));
  SONDE_ANSWER(const base, whatif::to_predictions(model, std::move(raw), set->label()));
  const auto all = set->predictions(model.name);
  const double deviation =
      all && (*all)->task == whatif::Task::kRegression ? whatif::prediction_deviation(**all) : 0;
  SONDE_ANSWER(const delta, number_in(body, "delta", deviation));
  if (base.task == whatif::Task::kRegression && !(delta > 0))
    return error({Code::kInvalid, "a regression needs 'delta', or predictions of all examples"},
                 "delta");
  const Goal goal{base, threshold, delta};
  SONDE_ANSWER(const found, search(*set, model, edited.data, std::move(features), goal,
                                   static_cast<size_t>(most)));
  const double distance =
      whatif::distances_to(found.example, set->distances(), edited.data, whatif::Metric::kL1)[0];
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("found").boolean(found.is_other);
    json.key("asked").number(static_cast<uint64_t>(found.asked + 1));
    json.key("distance").number(distance);
    json.key("task").string(whatif::name_of(base.task));
    json.key("labels").array([&] {
      for (const std::string& label : base.labels) json.string(label);
    });
    const auto scores = [&](std::string_view key, const Predictions& p) {
      json.key(key).array([&] {
        for (size_t i = 0; i < p.width(); ++i) json.number(p.score(0, i));
      });
    };
    scores("from", base);
    scores("to", found.predictions);
    json.key("changes").array([&] {
      for (const Try& change : found.changes) {
        json.object([&] {
          json.key("feature").string(set->data().columns[change.column].name);
          json.key("from");
          whatif::write_value(json, edited.data.columns[change.column], 0);
          json.key("to");
          whatif::write_value(json, found.example.columns[change.column], 0);
        });
      }
    });
  });
  return Answer::json(std::move(out));
}

}  // namespace sonde::api::v1
