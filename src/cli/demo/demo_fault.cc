// A training that goes wrong on purpose: a learning rate that grows and a logarithm without an eps.
// What its tensors held is recorded as sonde.debug does it, so that the page Numerics has a true
// fault to explain.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>

#include "cli/demo/demo_data.h"
#include "cli/demo/demo_recording.h"
#include "cli/demo/demo_runs.h"
#include "sonde/writer.h"

namespace sonde::cli {
namespace {

constexpr size_t kBatch = 20, kHidden = 16, kClasses = 2;
constexpr int kSteps = 120;
constexpr int kStepsAfter = 20;  // it goes on for a while with NaN, as such programs do
constexpr float kFirstRate = 0.1f, kRateGrowth = 1.15f;

using Floats = std::vector<float>;

// The program as the page shows it: a line an op, run below under the same name.
constexpr std::array<std::string_view, 8> kListing = {
    "x, label = batch(moons, 20)",
    "h = tanh(x @ w1 + b1)",
    "z = h @ w2 + b2",
    "p = softmax(z)",
    "q = p[label]",
    "l = log(q)  # no eps: log(0) is minus infinity",
    "loss = -mean(l)",
    "w1, b1, w2, b2 -= 0.1 * 1.15 ** step * gradients(loss)  # grows without end",
};

// out[rows, n] = in[rows, m] * weights[m, n] + biases[n]
Floats linear(const Floats& in, const Floats& weights, const Floats& biases) {
  const size_t n = biases.size(), m = weights.size() / n, rows = in.size() / m;
  Floats out(rows * n);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t j = 0; j < n; ++j) {
      float sum = biases[j];
      for (size_t i = 0; i < m; ++i) sum += in[r * m + i] * weights[i * n + j];
      out[r * n + j] = sum;
    }
  }
  return out;
}

struct Gradients {
  Floats weights, biases, inputs;
};

Gradients linear_gradients(const Floats& in, const Floats& weights, const Floats& back, size_t n) {
  const size_t m = weights.size() / n, rows = in.size() / m;
  Gradients out{Floats(m * n), Floats(n), Floats(rows * m)};
  for (size_t r = 0; r < rows; ++r) {
    for (size_t j = 0; j < n; ++j) {
      const float d = back[r * n + j];
      out.biases[j] += d;
      for (size_t i = 0; i < m; ++i) {
        out.weights[i * n + j] += in[r * m + i] * d;
        out.inputs[r * m + i] += weights[i * n + j] * d;
      }
    }
  }
  return out;
}

class Training {
 public:
  Training(const std::string& folder, uint32_t seed)
      : random_(seed), data_(two_moons(400, 0.12f, random_)), log_(folder), recording_(folder) {
    const auto fill = [&](Floats& values, size_t count, float size) {
      std::normal_distribution<float> normal(0, size);
      values.resize(count);
      for (float& value : values) value = normal(random_);
    };
    fill(w1_, 2 * kHidden, 1);
    fill(w2_, kHidden * kClasses, 0.3f);
    recording_.program("naive_loss.txt", kListing);
    // By line of the listing.
    recording_.op("Input", "x", {}, 1);
    recording_.op("tanh", "h", {"x"}, 2);
    recording_.op("linear", "z", {"h"}, 3);
    recording_.op("softmax", "p", {"z"}, 4);
    recording_.op("gather", "q", {"p"}, 5);
    recording_.op("log", "l", {"q"}, 6);
    recording_.op("mean", "loss", {"l"}, 7);
    recording_.op("linear backward", "z/grad", {"loss"}, 8);
    recording_.op("tanh backward", "h/grad", {"z/grad"}, 8);
    for (const char* name : {"w1", "b1", "w2", "b2"}) recording_.op("Parameter", name, {}, 8);
  }

  // The step in which the loss left the numbers, or -1.
  int run() {
    log_.text("about", 0,
              "A loss without an eps and a learning rate that grows: it goes wrong on purpose. "
              "The page Numerics names the op.");
    int wrong = -1;
    for (int at = 0; at < kSteps && (wrong < 0 || at <= wrong + kStepsAfter); ++at) {
      const float loss = step(at);
      log_.scalar("loss/train", at, static_cast<double>(loss));
      if (wrong < 0 && !std::isfinite(loss)) wrong = at;
    }
    return wrong;
  }

 private:
  float step(int number) {
    Floats x;
    std::array<int, kBatch> label{};
    std::uniform_int_distribution<size_t> any(0, data_.size() - 1);
    for (int& one : label) {
      const size_t row = any(random_);
      x.insert(x.end(), data_.row(row), data_.row(row) + 2);
      one = data_.labels[row];
    }
    Floats h = linear(x, w1_, b1_);
    for (float& value : h) value = std::tanh(value);
    const Floats z = linear(h, w2_, b2_);
    Floats p = z, q, l;
    for (size_t r = 0; r < kBatch; ++r) {
      float* row = &p[r * kClasses];
      const float top = std::max(row[0], row[1]);
      row[0] = std::exp(row[0] - top);
      row[1] = std::exp(row[1] - top);
      const float sum = row[0] + row[1];
      row[0] /= sum;
      row[1] /= sum;
      q.push_back(row[label[r]]);
      l.push_back(std::log(q.back()));
    }
    const float loss = -std::accumulate(l.begin(), l.end(), 0.0f) / kBatch;

    // Backwards through each op as it is written: 0 times infinity is NaN.
    Floats back_z(z.size());
    for (size_t r = 0; r < kBatch; ++r) {
      const double own_q = static_cast<double>(q[r]);  // a float would overflow before q is zero
      const double back_q = -1.0 / (kBatch * own_q);
      for (size_t j = 0; j < kClasses; ++j) {
        const float own = static_cast<int>(j) == label[r] ? 1.0f : 0.0f;
        back_z[r * kClasses + j] = static_cast<float>(back_q * own_q) * (own - p[r * kClasses + j]);
      }
    }
    const Gradients second = linear_gradients(h, w2_, back_z, kClasses);
    Floats back_h = second.inputs;
    for (size_t i = 0; i < h.size(); ++i) back_h[i] *= 1 - h[i] * h[i];
    const Gradients first = linear_gradients(x, w1_, back_h, kHidden);

    const std::array<std::pair<const char*, const Floats*>, 13> seen = {{
        {"x", &x},
        {"h", &h},
        {"z", &z},
        {"p", &p},
        {"q", &q},
        {"l", &l},
        {"loss", nullptr},
        {"z/grad", &back_z},
        {"h/grad", &back_h},
        {"w1", &w1_},
        {"b1", &b1_},
        {"w2", &w2_},
        {"b2", &b2_},
    }};
    const Floats alone{loss};
    for (const auto& [name, values] : seen)
      recording_.trace(name, number, values ? *values : alone);

    const float rate = kFirstRate * std::pow(kRateGrowth, static_cast<float>(number));
    const auto descend = [&](Floats& values, const Floats& gradients) {
      for (size_t i = 0; i < values.size(); ++i) values[i] -= rate * gradients[i];
    };
    descend(w1_, first.weights);
    descend(b1_, first.biases);
    descend(w2_, second.weights);
    descend(b2_, second.biases);
    return loss;
  }

  std::mt19937 random_;
  DataSet data_;
  Floats w1_, b1_ = Floats(kHidden), w2_, b2_ = Floats(kClasses);
  Writer log_;
  Recording recording_;
};

}  // namespace

void train_wrongly(const std::string& folder, uint32_t seed) {
  Training training(folder, seed);
  const int wrong = training.run();
  fmt::print("moons   {:<18} {}\n", folder.substr(folder.rfind('/') + 1),
             wrong < 0 ? "went well against all expectations"
                       : fmt::format("no number from step {} on, on purpose", wrong));
}

}  // namespace sonde::cli
