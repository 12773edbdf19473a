#include "whatif/model/loaded_set.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/strings.h"
#include "io/mapped_file.h"
#include "whatif/files/read.h"

namespace sonde::whatif {
namespace {

constexpr uint64_t kMaxVocabularyBytes = 16 << 20;
constexpr size_t kMaxSteps = 10'000, kStepsInMemory = 400;
constexpr size_t kMaxModels = 50;

// The number in the place of the only * of a pattern.
std::vector<StepFile> step_files(const std::string& pattern) {
  std::vector<StepFile> out;
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return out;
  glob_t found{};
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc && out.size() < kMaxSteps; ++i) {
      const std::string path = found.gl_pathv[i];
      const size_t tail = pattern.size() - star - 1;
      if (path.size() < star + tail) continue;
      StepFile file{0, path};
      const char* begin = path.data() + star;
      const char* end = path.data() + path.size() - tail;
      const auto [stop, problem] = std::from_chars(begin, end, file.step);
      if (problem == std::errc() && stop == end) out.push_back(std::move(file));
    }
  }
  ::globfree(&found);
  std::ranges::sort(out, {}, &StepFile::step);
  return out;
}

// One label a line; the index is the line.
Result<std::vector<std::string>> labels_in(const std::string& file, const Resolve& resolve) {
  SONDE_TRY(const path, resolve(file));
  SONDE_TRY(const content, io::read_content(path, kMaxVocabularyBytes));
  std::vector<std::string> labels;
  for (std::string_view line : split(as_text(content.bytes()), '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    labels.push_back(to_utf8(line));
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  if (labels.empty()) return fail(Code::kInvalid, fmt::format("{} holds no labels", file));
  return labels;
}

// Rows of `table` in the order of the data, by the value of a key both have.
Result<Dataset> joined(const Dataset& data, Dataset table, const std::string& key) {
  if (key.empty()) {
    if (table.rows != data.rows)
      return fail(
          Code::kInvalid,
          fmt::format(
              "the predictions have {} rows, the examples {}; name a 'key' column to join them by",
              table.rows, data.rows));
    return table;
  }
  const Column *mine = data.find(key), *theirs = table.find(key);
  if (!mine || !theirs)
    return fail(Code::kNotFound, fmt::format("'{}' is not a column of both files", key));
  std::unordered_map<std::string, size_t> rows;
  for (size_t row = 0; row < table.rows; ++row) rows.try_emplace(theirs->text(row), row);
  DatasetBuilder builder;
  for (size_t row = 0; row < data.rows; ++row) {
    const auto found = rows.find(mine->text(row));
    for (const Column& column : table.columns) {
      ColumnBuilder* target = builder.column(column.name);
      if (!target) break;
      const bool has = found != rows.end() && !column.is_missing(found->second);
      if (!has)
        target->number(kNaN, true);
      else if (column.is_numeric())
        target->number(column.number(found->second), column.is_integer);
      else
        target->text(column.text(found->second));
      target->end_row(row);
    }
    if (!builder.end_row()) break;
  }
  return std::move(builder).finish("");
}

}  // namespace

LoadedSet::LoadedSet(SetConfig config, Dataset data)
    : config_(std::move(config)), data_(std::move(data)) {
  if (config_.name.empty()) config_.name = data_.name;
}

LoadedSet::~LoadedSet() {
  for (std::jthread& thread : asking_) thread.request_stop();
}

Result<std::shared_ptr<LoadedSet>> LoadedSet::load(
    SetConfig config, const Resolve& resolve, ThreadPool* pool,
    const std::function<bool(const std::string&)>& may_call) {
  SONDE_TRY(const path, resolve(config.data));
  ReadOptions options;
  options.max_examples = config.max_examples;
  options.sampling_odds = config.sampling_odds;
  options.pool = pool;
  SONDE_TRY(data, read_dataset(path, options));
  std::shared_ptr<LoadedSet> set(new LoadedSet(std::move(config), std::move(data)));
  if (!set->config_.label.empty() && !set->label())
    return fail(Code::kNotFound,
                fmt::format("the label '{}' is no column of {}", set->config_.label, path));
  set->prepare(resolve, may_call);
  return set;
}

std::shared_ptr<LoadedSet> LoadedSet::of(SetConfig config, Dataset data) {
  std::shared_ptr<LoadedSet> set(new LoadedSet(std::move(config), std::move(data)));
  if (!set->label()) set->config_.label.clear();
  set->prepare(
      [](std::string_view) -> Result<std::string> {
        return fail(Code::kForbidden, "a set dropped on the page opens no files");
      },
      [](const std::string&) { return false; });
  return set;
}

std::vector<std::string> LoadedSet::non_features() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names = config_.ignore;
  if (!config_.label.empty()) names.push_back(config_.label);
  for (const ModelStatus& model : models_)
    if (model.config.file.empty())
      names.insert(names.end(), model.config.columns.begin(), model.config.columns.end());
  return names;
}

void LoadedSet::prepare(const Resolve& resolve,
                        const std::function<bool(const std::string&)>& may_call) {
  if (config_.models.empty()) {
    ModelConfig found;
    found.columns = likely_prediction_columns(data_);
    found.positive = config_.positive;
    std::erase(found.columns, config_.label);
    if (!found.columns.empty()) config_.models.push_back(std::move(found));
  }
  for (const ModelConfig& config : config_.models) {
    ModelStatus status;
    status.config = config;
    if (!config.url.empty()) {
      status.is_live = may_call(config.url);
      status.needs_consent = !status.is_live;
    }
    if (!config.vocabulary.empty()) {
      auto labels = labels_in(config.vocabulary, resolve);
      if (labels)
        status.config.labels = std::move(*labels);
      else
        status.problem = labels.error().text;
    }
    if (!status.problem.empty()) {
      // Without its labels nothing it says has a name.
    } else if (!config.steps.empty()) {
      // Only the folder is confined: the pattern's last part holds the star.
      const size_t slash = config.steps.find_last_of('/');
      const std::string folder = slash == std::string::npos ? "." : config.steps.substr(0, slash);
      const auto real = resolve(folder);
      if (real)
        status.steps = step_files(*real + "/" +
                                  config.steps.substr(slash == std::string::npos ? 0 : slash + 1));
      if (status.steps.empty())
        status.problem =
            real ? fmt::format("no file matches '{}'", config.steps) : real.error().text;
    } else if (!config.columns.empty() || !config.file.empty()) {
      auto read = static_predictions(status.config, resolve);
      if (read)
        status.predictions = std::make_shared<const Predictions>(std::move(*read));
      else
        status.problem = read.error().text;
    }
    if (status.problem.empty() && !config.attributions.empty()) {
      auto read = joined_file(config.attributions, config.key, resolve);
      if (read)
        status.attributions = attributions_of(std::move(*read), config.key);
      else
        status.problem = read.error().text;
    }
    models_.push_back(std::move(status));
  }
  may_measure_ = !config_.distance.empty() && may_call(config_.distance);
  find_features();
}

void LoadedSet::find_features() {
  const std::vector<std::string> skip = non_features();
  for (size_t i = 0; i < data_.columns.size(); ++i)
    if (std::ranges::find(skip, data_.columns[i].name) == skip.end()) features_.push_back(i);
  distances_ = distance_model(data_, skip);
}

Result<Predictions> LoadedSet::static_predictions(const ModelConfig& model,
                                                  const Resolve& resolve) const {
  PredictionColumns from{model.name, model.columns, model.labels, model.task, model.positive};
  if (model.file.empty()) return predictions_from(data_, from, label());
  SONDE_TRY(const rows, joined_file(model.file, model.key, resolve));
  if (from.columns.empty())
    for (const Column& column : rows.columns)
      if (column.name != model.key && column.is_numeric()) from.columns.push_back(column.name);
  return predictions_from(rows, from, label());
}

Result<Dataset> LoadedSet::joined_file(const std::string& file, const std::string& key,
                                       const Resolve& resolve) const {
  SONDE_TRY(const path, resolve(file));
  ReadOptions options;
  options.max_examples = key.empty() ? config_.max_examples : 10'000'000;
  SONDE_TRY(table, read_dataset(path, options));
  return joined(data_, std::move(table), key);
}

std::vector<ModelStatus> LoadedSet::models() const {
  const std::lock_guard lock(mutex_);
  return models_;
}

ModelStatus* LoadedSet::find(std::string_view name) {
  const auto found = std::ranges::find(
      models_, name, [](const ModelStatus& m) { return std::string_view(m.config.name); });
  return found == models_.end() ? nullptr : &*found;
}
const ModelStatus* LoadedSet::find(std::string_view name) const {
  return const_cast<LoadedSet*>(this)->find(name);
}

Result<std::shared_ptr<const Predictions>> LoadedSet::predictions(std::string_view name) const {
  std::string path;
  ModelConfig config;
  {
    const std::lock_guard lock(mutex_);
    if (models_.empty())
      return fail(Code::kNotFound,
                  "this set has no predictions; name columns of scores, or add a model");
    const size_t at = name.rfind('@');
    const ModelStatus* model = name.empty() ? &models_[0] : find(name);
    if (!model && at != name.npos) model = find(name.substr(0, at));
    if (!model)
      return fail(Code::kNotFound,
                  fmt::format("there is no model '{}'", to_utf8(name.substr(0, 200))));
    if (!model->steps.empty()) {
      int64_t step = model->steps.back().step;
      if (at != name.npos && name.size() > at + 1)
        std::from_chars(name.data() + at + 1, name.data() + name.size(), step);
      const auto file = std::ranges::find(model->steps, step, &StepFile::step);
      if (file == model->steps.end())
        return fail(Code::kNotFound,
                    fmt::format("'{}' was not evaluated at step {}", model->config.name, step));
      path = file->path;
      config = model->config;
      if (const auto kept = by_step_.find(path); kept != by_step_.end()) return kept->second;
    } else if (model->predictions) {
      return model->predictions;
    } else if (!model->problem.empty()) {
      return fail(Code::kInvalid, fmt::format("{}: {}", model->config.name, model->problem));
    } else {
      return fail(Code::kConflict, fmt::format("'{}' has not been asked about the examples yet",
                                               model->config.name));
    }
  }
  // Outside the lock: a file is read.
  SONDE_TRY(const table, read_dataset(path, {config_.max_examples, 1, 1, nullptr}));
  if (table.rows != data_.rows)
    return fail(Code::kInvalid,
                fmt::format("{} has {} rows, the examples {}", path, table.rows, data_.rows));
  PredictionColumns from{config.name, {}, config.labels, config.task, config.positive};
  for (const Column& column : table.columns) from.columns.push_back(column.name);
  SONDE_TRY(made, predictions_from(table, from, label()));
  auto shared = std::make_shared<const Predictions>(std::move(made));
  const std::lock_guard lock(mutex_);
  if (by_step_.size() >= kStepsInMemory) by_step_.clear();
  by_step_[path] = shared;
  return shared;
}

Result<std::shared_ptr<const Attributions>> LoadedSet::attributions(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const ModelStatus* model = name.empty() && !models_.empty() ? &models_[0] : find(name);
  if (!model || !model->attributions)
    return fail(Code::kNotFound, fmt::format("'{}' gives no attributions of the examples",
                                             to_utf8(name.substr(0, 200))));
  return model->attributions;
}

Result<ModelConfig> LoadedSet::live_model(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const ModelStatus* model = nullptr;
  if (!name.empty())
    model = find(name);
  else if (const auto live = std::ranges::find_if(models_, &ModelStatus::is_live);
           live != models_.end())
    model = &*live;
  if (!model)
    return fail(Code::kNotFound,
                name.empty() ? "this set has no live model; the values shown are fixed"
                             : fmt::format("there is no model '{}'", to_utf8(name.substr(0, 200))));
  if (model->config.url.empty())
    return fail(
        Code::kConflict,
        fmt::format("'{}' is a table of predictions: it cannot be asked about changed examples",
                    model->config.name));
  if (!model->is_live)
    return fail(Code::kForbidden, fmt::format("'{}' names the endpoint {}; allow it first",
                                              model->config.name, model->config.url));
  return model->config;
}

Result<void> LoadedSet::add_model(ModelConfig model) {
  const std::lock_guard lock(mutex_);
  if (find(model.name))
    return fail(Code::kConflict, fmt::format("there is a model '{}' already", model.name));
  if (models_.size() >= kMaxModels)
    return fail(Code::kTooLarge, fmt::format("a set has at most {} models", kMaxModels));
  ModelStatus status;
  status.is_live = !model.url.empty();
  if (!model.columns.empty()) {
    PredictionColumns from{model.name, model.columns, model.labels, model.task, model.positive};
    SONDE_TRY(made, predictions_from(data_, from, label()));
    status.predictions = std::make_shared<const Predictions>(std::move(made));
  }
  status.config = std::move(model);
  models_.push_back(std::move(status));
  return {};
}

void LoadedSet::allow(std::string_view name, const io::AddressPolicy& policy) {
  const std::lock_guard lock(mutex_);
  if (ModelStatus* model = find(name); model && !model->config.url.empty()) {
    model->is_live = true;
    model->needs_consent = false;
    model->config.policy = policy;
  }
}

std::vector<size_t> LoadedSet::columns_for(const ModelConfig& model) const {
  if (model.features.empty()) return features_;
  std::vector<size_t> out;
  for (const std::string& name : model.features)
    if (const size_t at = data_.index_of(name); at < data_.columns.size()) out.push_back(at);
  return out;
}

}  // namespace sonde::whatif
