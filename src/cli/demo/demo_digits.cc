#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>

#include "cli/demo/demo_data.h"
#include "cli/demo/demo_model.h"
#include "cli/demo/demo_pictures.h"
#include "cli/demo/demo_runs.h"
#include "sonde/writer.h"

namespace sonde::cli {
namespace {

constexpr int kEpochs = 12;
constexpr size_t kBatch = 32;
constexpr float kMomentum = 0.8f;

struct Trial {
  float rate;
  int hidden;
  Activation activation;
  float noise;  // on the training images
  std::string name() const {
    return fmt::format("lr{}_h{}_{}", rate, hidden,
                       activation == Activation::kRelu ? "relu" : "tanh");
  }
};

constexpr Trial kTrials[] = {
    {0.003f, 24, Activation::kRelu, 0.15f}, {0.03f, 24, Activation::kRelu, 0.15f},
    {0.3f, 24, Activation::kRelu, 0.15f},   {0.03f, 64, Activation::kTanh, 0.15f},
    {0.1f, 64, Activation::kRelu, 0.25f},   {0.1f, 8, Activation::kTanh, 0.25f},
};

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void log_plan(Writer& log) {
  HParamsConfig config;
  config.created_secs = now();
  config.description = "Which width and learning rate read digits best?";
  const auto number = HParamInfo::Kind::kNumber;
  config.hparams = {
      {"learning_rate",
       number,
       "learning rate",
       "step length of gradient descent",
       {{0.003, 0.3}},
       {}},
      {"hidden", number, "hidden units", "", {}, {8.0, 24.0, 64.0}},
      {"activation",
       HParamInfo::Kind::kString,
       "",
       "",
       {},
       {std::string("relu"), std::string("tanh")}},
      {"noisy", HParamInfo::Kind::kBool, "", "extra noise on the training images", {}, {}},
  };
  config.metrics = {
      {"accuracy", "validation", "accuracy", "share of right answers",
       MetricInfo::Dataset::kValidation},
      {"loss", "validation", "validation loss", "", MetricInfo::Dataset::kValidation},
      {"loss", "train", "training loss", "", MetricInfo::Dataset::kTraining},
  };
  log.hparams_config(config);
  const ChartCategory layout[] = {
      {"Learning", {{"loss, all runs", {"^loss$"}, {}}, {"accuracy", {"^accuracy$"}, {}}}, false},
      {"Health",
       {{"gradient norm and rate", {"gradient_norm", "learning_rate"}, {}},
        {"loss within an epoch", {}, {{"epoch/loss_mean", "epoch/loss_min", "epoch/loss_max"}}}},
       false},
  };
  log.custom_scalars(layout);
}

// The model as TensorFlow would draw it; names nest at the slashes.
std::string graph_of(const Model& model, const Trial& trial) {
  std::vector<GraphNode> nodes;
  const int64_t any = -1;
  const int64_t features = model.layers().front().inputs;
  nodes.push_back({"input/images", "Placeholder", {}, "", {}, {{any, features}}});
  nodes.push_back({"input/labels", "Placeholder", {}, "", {}, {{any}}});
  std::string previous = "input/images";
  std::vector<std::string> updates;
  for (size_t l = 0; l < model.layers().size(); ++l) {
    const Layer& layer = model.layers()[l];
    const bool last = l + 1 == model.layers().size();
    const std::string scope = last ? "model/logits" : fmt::format("model/dense_{}", l + 1);
    const int64_t in = layer.inputs, out = layer.outputs;
    nodes.push_back({scope + "/kernel", "VariableV2", {}, "", {}, {{in, out}}});
    nodes.push_back({scope + "/bias", "VariableV2", {}, "", {}, {{out}}});
    nodes.push_back(
        {scope + "/MatMul", "MatMul", {previous, scope + "/kernel"}, "", {}, {{any, out}}});
    nodes.push_back({scope + "/BiasAdd",
                     "BiasAdd",
                     {scope + "/MatMul", scope + "/bias"},
                     "",
                     {},
                     {{any, out}}});
    previous = scope + "/BiasAdd";
    if (!last) {
      const std::string op = trial.activation == Activation::kRelu ? "Relu" : "Tanh";
      nodes.push_back({scope + "/" + op, op, {previous}, "", {}, {{any, out}}});
      previous = scope + "/" + op;
    }
    updates.push_back(scope);
  }
  nodes.push_back({"loss/softmax_cross_entropy",
                   "SparseSoftmaxCrossEntropyWithLogits",
                   {previous, "input/labels"},
                   "",
                   {},
                   {{any}}});
  nodes.push_back({"loss/mean", "Mean", {"loss/softmax_cross_entropy"}, "", {}, {{}}});
  nodes.push_back({"metrics/accuracy", "InTopKV2", {previous, "input/labels"}, "", {}, {{any}}});
  nodes.push_back(
      {"train/learning_rate", "Const", {}, "", {{"value", fmt::format("{}", trial.rate)}}, {{}}});
  for (const std::string& scope : updates) {
    const std::string name = scope.substr(scope.find('/') + 1);
    nodes.push_back(
        {"train/gradients/" + name, "MatMulGrad", {"loss/mean", scope + "/MatMul"}, "", {}, {}});
    nodes.push_back({"train/update_" + name,
                     "ApplyMomentum",
                     {scope + "/kernel", "train/learning_rate", "train/gradients/" + name},
                     "",
                     {},
                     {}});
  }
  return summary::graph_def(nodes);
}

struct TrialLogs {
  Writer trial, train, validation;
  explicit TrialLogs(const std::string& folder)
      : trial(folder), train(folder + "/train"), validation(folder + "/validation") {}
};

void log_start(Writer& log, const Trial& trial, const Model& model) {
  const char* activation = trial.activation == Activation::kRelu ? "relu" : "tanh";
  SessionStart start;
  start.hparams = {{"learning_rate", static_cast<double>(trial.rate)},
                   {"hidden", static_cast<double>(trial.hidden)},
                   {"activation", std::string(activation)},
                   {"noisy", trial.noise > 0.2f}};
  start.group_name = trial.name();
  start.start_secs = now();
  log.session_start(start);
  log.graph(graph_of(model, trial));
  log.text("config", 0,
           fmt::format(
               "# {}\n\n| parameter | value |\n|---|---|\n| learning rate | {} |\n| hidden units | "
               "{} |\n"
               "| activation | `{}` |\n| batch | {} |\n| momentum | {} |\n| epochs | {} |\n\n"
               "Digits are drawn from a *5 x 7* font, then shifted, turned and covered with noise.",
               trial.name(), trial.rate, trial.hidden, activation, kBatch, kMomentum, kEpochs));
}

void log_weights(Writer& log, const Model& model, int64_t step) {
  for (size_t l = 0; l < model.layers().size(); ++l) {
    const Layer& layer = model.layers()[l];
    const std::string scope = fmt::format("layer{}", l + 1);
    log.histogram(scope + "/weights", step, array(layer.weights));
    log.histogram(scope + "/biases", step, array(layer.biases));
    log.histogram(scope + "/gradients", step, array(layer.weight_gradients));
  }
  const Picture filters = first_layer(model.layers().front(), kDigitSide);
  log.image("layer1/filters", step, array(filters.bytes, filters.shape()));
}

void log_wrong_ones(Writer& log, const DataSet& data, std::span<const float> guesses,
                    int64_t step) {
  std::vector<float> pixels;
  std::string table = "| digit | read as | sure |\n|---|---|---|\n";
  int64_t count = 0;
  for (size_t r = 0; r < data.size() && count < 8; ++r) {
    const float* row = guesses.data() + r * 10;
    const auto guess = std::max_element(row, row + 10) - row;
    if (guess == data.labels[r]) continue;
    pixels.insert(pixels.end(), data.row(r), data.row(r) + data.features);
    table += fmt::format("| {} | **{}** | {:.0f} % |\n", data.labels[r], guess, 100 * row[guess]);
    ++count;
  }
  if (count == 0) table = "Every digit of the validation set was read right.";
  log.text("mistakes", step, table);
  if (count > 0)
    log.image("mistaken_digits", step, array(pixels, {count, kDigitSide, kDigitSide, 1}), 8);
}

void log_curves(Writer& log, const DataSet& data, std::span<const float> guesses, int64_t step) {
  for (const int digit : {3, 8}) {
    std::vector<uint8_t> labels;
    std::vector<float> chances;
    for (size_t r = 0; r < data.size(); ++r) {
      labels.push_back(data.labels[r] == digit ? 1 : 0);
      chances.push_back(guesses[r * 10 + static_cast<size_t>(digit)]);
    }
    log.pr_curve(fmt::format("digit_{}", digit), step, {array(labels), array(chances), {}, 101});
  }
}

void log_embedding(Writer& log, Model& model, const DataSet& data) {
  const size_t count = std::min<size_t>(data.size(), 400);
  const std::vector<float> all = model.hidden(std::span(data.inputs), data.size());
  const std::vector<float> guesses = model.probabilities(std::span(data.inputs), data.size());
  const auto width = static_cast<int64_t>(all.size() / data.size());
  Embedding embedding;
  embedding.name = "last hidden layer";
  embedding.vectors = Array{all.data(), DataType::kFloat32, {static_cast<int64_t>(count), width}};
  embedding.metadata_header = {"digit", "read as", "sure"};
  for (size_t r = 0; r < count; ++r) {
    const float* row = guesses.data() + r * 10;
    const auto guess = std::max_element(row, row + 10) - row;
    embedding.metadata.push_back(
        {std::to_string(data.labels[r]), std::to_string(guess), fmt::format("{:.3f}", row[guess])});
  }
  embedding.images = Array{data.inputs.data(),
                           DataType::kFloat32,
                           {static_cast<int64_t>(count), kDigitSide, kDigitSide, 1}};
  log.embedding(embedding);
}

struct Outcome {
  Model model;
  double accuracy = 0;
};

// A few steps under the profiler. Each draws a fresh batch before it computes, one after the other:
// the mistake that the profile tools are made to find.
int64_t profiled_steps(Model& model, const Trial& trial, std::mt19937& random, Writer& log,
                       int64_t step, const std::string& folder) {
  constexpr int kSteps = 20;
  std::vector<size_t> rows(kBatch);
  std::iota(rows.begin(), rows.end(), size_t{0});
  Timeline timeline;
  model.record(&timeline);
  for (int i = 0; i < kSteps; ++i, ++step) {
    const Timeline::Span whole(&timeline, "train", step);
    DataSet batch;
    {
      const Timeline::Span waits(&timeline, "IteratorGetNext:IteratorGetNext");
      const Timeline::Span draws(&timeline, "Iterator::Batch::Map");
      batch = digits(kBatch, trial.noise, random);
    }
    const float rate = trial.rate / (1 + 0.002f * static_cast<float>(step));
    const Score score = model.train(batch, rows, rate, kMomentum);
    const Timeline::Span logs(&timeline, "summary/loss:WriteScalarSummary");
    log.scalar("loss", step, score.loss);
    log.scalar("accuracy", step, score.accuracy);
  }
  model.record(nullptr);
  timeline.write(folder);
  return step;
}

// One epoch of steps; returns the step it ended at.
int64_t train_epoch(Model& model, const DataSet& data, const Trial& trial, std::mt19937& random,
                    Writer& log, int64_t step) {
  std::vector<size_t> order(data.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  double low = 1e9, high = 0, sum = 0;
  int64_t batches = 0;
  for (size_t at = 0; at + kBatch <= order.size(); at += kBatch, ++step, ++batches) {
    const float rate = trial.rate / (1 + 0.002f * static_cast<float>(step));
    const Score score = model.train(data, std::span(order).subspan(at, kBatch), rate, kMomentum);
    log.scalar("loss", step, score.loss);
    log.scalar("accuracy", step, score.accuracy);
    log.scalar("learning_rate", step, rate);
    log.scalar("gradient_norm", step, model.gradient_norm());
    low = std::min(low, score.loss);
    high = std::max(high, score.loss);
    sum += score.loss;
  }
  const std::pair<std::string_view, double> summary[] = {
      {"epoch/loss_mean", sum / static_cast<double>(batches)},
      {"epoch/loss_min", low},
      {"epoch/loss_max", high}};
  log.scalars(step, summary);
  return step;
}

Outcome run_trial(const std::string& folder, const Trial& trial, uint32_t seed) {
  const bool is_profiled = &trial == &kTrials[4];  // the widest network
  std::mt19937 random(seed);
  const DataSet train = digits(1600, trial.noise, random), validation = digits(500, 0.15f, random);
  Model model({train.features, trial.hidden, trial.hidden, 10}, trial.activation, random);
  TrialLogs logs(folder + "/" + trial.name());
  log_start(logs.trial, trial, model);
  logs.trial.image("training_samples", 0, array(train.inputs, {12, kDigitSide, kDigitSide, 1}), 12);
  int64_t step = 0;
  double accuracy = 0;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    if (epoch == 1 && is_profiled)
      step = profiled_steps(model, trial, random, logs.train, step,
                            folder + "/" + trial.name() + "/train");
    const double began = now();
    step = train_epoch(model, train, trial, random, logs.train, step);
    logs.train.scalar("epoch/steps_per_second", step,
                      static_cast<double>(train.size()) / kBatch / std::max(now() - began, 1e-9));
    log_weights(logs.train, model, step);
    const Score score = model.evaluate(validation);
    accuracy = score.accuracy;
    logs.validation.scalar("loss", step, score.loss);
    logs.validation.scalar("accuracy", step, score.accuracy);
    const std::vector<float> guesses = model.probabilities(validation.inputs, validation.size());
    const Picture matrix = confusion_matrix(validation, guesses);
    logs.validation.image("confusion_matrix", step, array(matrix.bytes, matrix.shape()));
    log_curves(logs.validation, validation, guesses, step);
    log_wrong_ones(logs.validation, validation, guesses, step);
  }
  logs.trial.session_end(SessionStatus::kSuccess, now());
  return {std::move(model), accuracy};
}

}  // namespace

void train_digits(const std::string& folder, uint32_t seed) {
  {
    Writer plan(folder);
    log_plan(plan);
  }
  std::optional<Outcome> best;
  std::string best_name;
  for (const Trial& trial : kTrials) {
    Outcome outcome = run_trial(folder, trial, seed);
    fmt::print("digits  {:<18} validation accuracy {:.3f}\n", trial.name(), outcome.accuracy);
    if (best && best->accuracy >= outcome.accuracy) continue;
    best.emplace(std::move(outcome));
    best_name = trial.name();
  }
  std::mt19937 random(seed + 1);
  Writer log(folder + "/" + best_name);
  log_embedding(log, best->model, digits(400, 0.15f, random));
}

}  // namespace sonde::cli
