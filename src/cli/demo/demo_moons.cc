#include <fmt/format.h>

#include <numeric>

#include "cli/demo/demo_pictures.h"
#include "cli/demo/demo_runs.h"
#include "sonde/writer.h"

namespace sonde::cli {
namespace {

constexpr int kEpochs = 40;
constexpr size_t kBatch = 20;

void log_surface(Writer& log, const Model& model, const DataSet& data, int64_t step,
                 uint32_t seed) {
  std::mt19937 random(seed);  // the same two directions at every step
  const Surface surface = loss_surface(model, data, random);
  const auto points = static_cast<int64_t>(surface.vertices.size() / 3);
  const auto faces = static_cast<int64_t>(surface.faces.size() / 3);
  log.mesh("loss_surface", step,
           {array(surface.vertices, {points, 3}), array(surface.faces, {faces, 3}),
            array(surface.colors, {points, 3}), ""});
}

void run(const std::string& folder, Activation activation, float rate, uint32_t seed) {
  std::mt19937 random(seed);
  const DataSet train = two_moons(400, 0.12f, random), validation = two_moons(200, 0.12f, random);
  Model model({2, 16, 16, 2}, activation, random);
  Timeline timeline;
  Writer log(folder);
  log.text(
      "about", 0,
      fmt::format(
          "Two interleaved half circles, a network of 2-16-16-2 with `{}`, learning rate **{}**.",
          activation == Activation::kRelu ? "relu" : "tanh", rate));
  constexpr int kSampleRate = 16000;
  std::vector<double> losses;
  std::vector<uint8_t> film;
  Picture frame;
  int64_t step = 0;
  std::vector<size_t> order(train.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    model.record(epoch == 1 ? &timeline : nullptr);  // the first is for warming up
    for (size_t at = 0; at + kBatch <= order.size(); at += kBatch, ++step) {
      const Timeline::Span span(epoch == 1 ? &timeline : nullptr, "train", step);
      const Score score = model.train(train, std::span(order).subspan(at, kBatch), rate, 0.9f);
      const Timeline::Span logging(epoch == 1 ? &timeline : nullptr,
                                   "summary/loss:WriteScalarSummary");
      log.scalar("loss/train", step, score.loss);
      losses.push_back(score.loss);
    }
    model.record(nullptr);
    const Score score = model.evaluate(validation);
    log.scalar("loss/validation", step, score.loss);
    log.scalar("accuracy/validation", step, score.accuracy);
    log.histogram("layer2/weights", step, array(model.layers()[1].weights));
    frame = decision_boundary(model, validation);
    film.insert(film.end(), frame.bytes.begin(), frame.bytes.end());
    if (epoch % 4 == 0) log.image("decision_boundary", step, array(frame.bytes, frame.shape()));
    if (epoch % 10 == 9) {
      log_surface(log, model, validation, step, seed);
      log.audio("loss_as_sound", step, array(sonified(losses, kSampleRate)), kSampleRate);
    }
  }
  log.video("decision_boundary_film", step, array(film, {kEpochs, frame.height, frame.width, 3}),
            8);
  timeline.write(folder);
  log.tensor("last_layer", step, array(model.layers().back().weights, {16, 2}));
  fmt::print("moons   {:<18} validation accuracy {:.3f}\n", folder.substr(folder.rfind('/') + 1),
             model.evaluate(validation).accuracy);
}

}  // namespace

void train_moons(const std::string& folder, uint32_t seed) {
  run(folder + "/tanh_slow", Activation::kTanh, 0.005f, seed);
  run(folder + "/tanh", Activation::kTanh, 0.05f, seed);
  run(folder + "/relu", Activation::kRelu, 0.05f, seed);
}

}  // namespace sonde::cli
