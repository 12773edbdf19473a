// What a set asks of endpoints: predictions of some examples or of all, distances.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/strings.h"
#include "whatif/model/http_post.h"
#include "whatif/model/loaded_set.h"

namespace sonde::whatif {
namespace {

constexpr size_t kFirstBatch = 64, kLargestBatch = 4096, kInFlight = 4;
constexpr std::chrono::milliseconds kQuick{200};

// Ranges of examples are handed out in order; answers are put together in order, however they
// arrive.
struct Questions {
  std::mutex mutex;  // guards: all
  size_t next = 0, batch = kFirstBatch, answered = 0;
  std::map<size_t, RawScores> parts;  // by first example
  std::string problem;
};

RawScores joined_in_order(Questions& questions) {
  RawScores all;
  for (auto& [begin, part] : questions.parts) {
    if (auto added = append_scores(std::move(part), all); !added) {
      questions.problem = added.error().text;
      break;
    }
  }
  return all;
}

}  // namespace

Result<RawScores> LoadedSet::ask(const ModelConfig& model, const Dataset& rows) const {
  const std::vector<size_t> columns = columns_for(model);
  RawScores all;
  for (size_t begin = 0; begin < rows.rows; begin += kLargestBatch) {
    SONDE_TRY(part,
              ask_model(model, rows, columns, begin, std::min(rows.rows, begin + kLargestBatch)));
    if (auto added = append_scores(std::move(part), all); !added)
      return fail(std::move(added).error());
  }
  if (auto aligned = align(model.name, all); !aligned) return fail(std::move(aligned).error());
  return all;
}

Result<void> LoadedSet::align(const std::string& model, RawScores& raw) const {
  if (raw.labels.empty()) return {};
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = label_order_.try_emplace(model, raw.labels);
  if (is_new) return {};
  return order_scores(known->second, raw);
}

Result<std::vector<double>> LoadedSet::custom_distances(size_t row) const {
  if (!may_measure_)
    return fail(Code::kNotFound, "this set has no distance of its own; sonde.whatif(…, distance=)");
  ModelConfig model;
  model.url = config_.distance;
  PostOptions options;
  options.token = config_.token;
  SONDE_TRY(const url, url_of(config_.distance));
  SONDE_TRY(const answer,
            http_post(url, request_body(model, data_, features_, row, row + 1), options));
  SONDE_TRY(const root, read_json(answer));
  if (const JsonValue* error = root.find("error"); error && error->is_string())
    return fail(Code::kInvalid,
                "the distance says: " + to_utf8(std::string_view(error->text).substr(0, 2000)));
  const JsonValue* list = root.find("distances");
  if (!list || !list->is_array() || list->items.size() != data_.rows)
    return fail(Code::kInvalid, fmt::format("the distance answered {} numbers for {} examples",
                                            list ? list->items.size() : 0, data_.rows));
  std::vector<double> out;
  for (const JsonValue& item : list->items) {
    const double distance = item.number().value_or(kNaN);
    out.push_back(distance >= 0 ? distance : INFINITY);
  }
  return out;
}

Result<void> LoadedSet::start_asking(std::string_view name) {
  SONDE_TRY(const model, live_model(name));
  const std::lock_guard lock(mutex_);
  ModelStatus* status = find(model.name);
  if (status->is_asking) return {};
  status->is_asking = true;
  status->asked = 0;
  status->problem.clear();
  asking_.emplace_back(
      [this, name = model.name](std::stop_token stop) { ask_all(std::move(stop), name); });
  return {};
}

void LoadedSet::stop_asking(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (ModelStatus* status = find(name); status && status->is_asking) status->is_stopping = true;
}

void LoadedSet::ask_all(std::stop_token stop, const std::string& name) {
  name_this_thread("whatif-ask");
  const auto model = live_model(name);
  const std::vector<size_t> columns = model ? columns_for(*model) : std::vector<size_t>();
  Questions questions;
  if (!model) questions.problem = model.error().text;
  const auto is_stopped = [&] {
    if (stop.stop_requested()) return true;
    const std::lock_guard lock(mutex_);
    return find(name)->is_stopping;
  };
  // One range after the other until there is none, or `most` were asked.
  const auto work = [&](size_t most) {
    for (size_t i = 0; i < most && !is_stopped(); ++i) {
      size_t begin = 0, end = 0;
      {
        const std::lock_guard lock(questions.mutex);
        if (!questions.problem.empty() || questions.next >= data_.rows) return;
        begin = questions.next;
        end = questions.next = std::min(data_.rows, begin + questions.batch);
      }
      const auto start = std::chrono::steady_clock::now();
      auto part = ask_model(*model, data_, columns, begin, end);
      const bool is_quick = std::chrono::steady_clock::now() - start < kQuick;
      size_t answered = 0;
      {
        const std::lock_guard lock(questions.mutex);
        if (!part) {
          questions.problem = part.error().text;
          return;
        }
        questions.parts.emplace(begin, std::move(*part));
        answered = questions.answered += end - begin;
        if (is_quick) questions.batch = std::min(2 * questions.batch, kLargestBatch);
      }
      const std::lock_guard lock(mutex_);
      find(name)->asked = std::max(find(name)->asked, answered);
    }
  };
  work(1);  // alone: a model that cannot be asked says so once
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < kInFlight; ++i) others.emplace_back([&] { work(SIZE_MAX); });
    work(SIZE_MAX);
  }
  RawScores all = joined_in_order(questions);
  std::string problem = std::move(questions.problem);
  if (problem.empty())
    if (auto aligned = align(name, all); !aligned) problem = aligned.error().text;
  std::shared_ptr<const Attributions> attributions;
  if (all.attributions.size() == data_.rows) {
    auto read = attributions_in(all.attributions);
    if (read)
      attributions = std::move(*read);
    else if (problem.empty())
      problem = read.error().text;
  }
  Result<Predictions> made = fail(Code::kConflict, "stopped");
  if (problem.empty() && !is_stopped()) {
    made = to_predictions(*model, std::move(all), label());
    if (!made) problem = made.error().text;
  }
  const std::lock_guard lock(mutex_);
  ModelStatus* status = find(name);
  status->is_asking = status->is_stopping = false;
  status->problem = problem;
  if (!made) return;
  status->predictions = std::make_shared<const Predictions>(std::move(*made));
  status->attributions = std::move(attributions);
}

}  // namespace sonde::whatif
