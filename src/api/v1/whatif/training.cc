// Evaluations logged at several steps of a training: how each slice went, which examples flipped,
// which are never learnt, which errors the model is most sure of.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "api/v1/whatif/shared.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMaxSteps = 300, kMaxSlicesShown = 50, kMaxExamples = 200;

struct History {
  std::vector<int64_t> steps;
  std::vector<std::vector<double>> loss;  // by step, then example
  std::vector<float> last_confidence;
};

// At most kMaxSteps of them, evenly, the last always.
std::vector<int64_t> steps_shown(const std::vector<whatif::StepFile>& files) {
  std::vector<int64_t> steps;
  const size_t n = files.size(), count = std::min(n, kMaxSteps);
  for (size_t i = 0; i < count; ++i)
    steps.push_back(files[count == 1 ? n - 1 : i * (n - 1) / (count - 1)].step);
  return steps;
}

Result<History> history_of(const LoadedSet& set, const whatif::ModelStatus& model,
                           std::string_view label, double threshold, const Request& request) {
  History out;
  for (const int64_t step : steps_shown(model.steps)) {
    if (request.is_abandoned()) return fail(Code::kConflict, "nobody waits for this any more");
    SONDE_TRY(const judge, judged(set, fmt::format("{}@{}", model.config.name, step), label));
    out.steps.push_back(step);
    out.loss.push_back(losses_of(judge, threshold));
    if (step != model.steps.back().step) continue;
    for (size_t row = 0; row < judge.predictions->rows(); ++row)
      out.last_confidence.push_back(static_cast<float>(judge.predictions->confidence(row)));
  }
  return out;
}

void write_rows(JsonWriter& json, std::string_view key, const std::vector<uint32_t>& rows) {
  json.key(key).array([&] {
    for (size_t i = 0; i < std::min(rows.size(), kMaxExamples); ++i) json.number(rows[i]);
  });
  json.key(fmt::format("{}_count", key)).number(static_cast<uint64_t>(rows.size()));
}

void write_classification(JsonWriter& json, const History& history, size_t from, size_t to) {
  const size_t rows = history.loss[to].size();
  std::vector<uint32_t> fixed, broken, never, sure;
  for (uint32_t row = 0; row < rows; ++row) {
    const double before = history.loss[from][row], after = history.loss[to][row];
    if (before == 1 && after == 0) fixed.push_back(row);
    if (before == 0 && after == 1) broken.push_back(row);
    if (std::ranges::all_of(history.loss, [&](const auto& loss) { return loss[row] == 1; }))
      never.push_back(row);
    if (history.loss.back()[row] == 1) sure.push_back(row);
  }
  std::ranges::stable_sort(sure, std::greater<>(),
                           [&](uint32_t row) { return history.last_confidence[row]; });
  write_rows(json, "fixed", fixed);
  write_rows(json, "broken", broken);
  write_rows(json, "never_learnt", never);
  write_rows(json, "confident_errors", sure);
}

}  // namespace

Answer whatif_training(const Context&, const Request& request,
                       const std::shared_ptr<LoadedSet>& set) {
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const name, text_in(body, "model"));
  SONDE_ANSWER(const label, text_in(body, "label"));
  SONDE_ANSWER(const threshold, number_in(body, "threshold", 0.5));
  SONDE_ANSWER(const by, slices_in(body));
  const auto models = set->models();
  const auto model = std::ranges::find_if(models, [&](const whatif::ModelStatus& m) {
    return !m.steps.empty() && (name.empty() || m.config.name == name);
  });
  if (model == models.end())
    return error({Code::kNotFound,
                  "no evaluation was logged at several steps; sonde.whatif.log(writer, step, "
                  "examples, predictions) does"});
  SONDE_ANSWER(const history, history_of(*set, *model, label, threshold, request));
  SONDE_ANSWER(const slicing, whatif::slice_by(set->data(), by));
  if (slicing.slices.size() > kMaxSlicesShown)
    return error({Code::kTooLarge, fmt::format("{} slices; at most {} are followed over the steps",
                                               slicing.slices.size(), kMaxSlicesShown)});
  const auto index_of = [&](int64_t step, size_t otherwise) {
    const auto at = std::ranges::find(history.steps, step);
    return at == history.steps.end() ? otherwise : static_cast<size_t>(at - history.steps.begin());
  };
  SONDE_ANSWER(const from_step, integer_in(body, "from", history.steps.front()));
  SONDE_ANSWER(const to_step, integer_in(body, "to", history.steps.back()));
  const size_t from = index_of(from_step, 0), to = index_of(to_step, history.steps.size() - 1);
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("model").string(model->config.name);
    json.key("steps").array([&] {
      for (const int64_t step : history.steps) json.safe_integer(step);
    });
    json.key("from").safe_integer(history.steps[from]);
    json.key("to").safe_integer(history.steps[to]);
    json.key("slices").array([&] {
      for (size_t s = 0; s < slicing.slices.size(); ++s) {
        json.object([&] {
          json.key("name").string(slicing.slices[s].name());
          json.key("count").number(slicing.slices[s].count);
          json.key("loss").array([&] {
            for (const auto& loss : history.loss) {
              double sum = 0, n = 0;
              for (size_t row = 0; row < loss.size(); ++row)
                if (slicing.slice[row] == s && !std::isnan(loss[row])) sum += loss[row], ++n;
              json.number(whatif::share_of(sum, n));
            }
          });
        });
      }
    });
    const auto last = set->predictions(model->config.name);
    const bool is_regression = last && (*last)->task == whatif::Task::kRegression;
    json.key("task").string(last ? whatif::name_of((*last)->task) : "");
    if (!is_regression) write_classification(json, history, from, to);
  });
  return Answer::json(std::move(out));
}

}  // namespace sonde::api::v1
