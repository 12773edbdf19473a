#include "embed/tsne.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "embed/affinities.h"
#include "embed/pca.h"
#include "embed/repulsion.h"

namespace sonde::embed {
namespace {

constexpr int kExaggerated = 250;  // rounds; momentum is low in the same rounds
constexpr float kExaggeration = 12;
constexpr size_t kFewPoints = 5000;

struct State {
  std::vector<float> y, velocity, gains;
};

// Makes pairs of equal labels stronger and of different labels weaker, then normalises again.
void supervise(SparseRows& p, const TsneParams& params) {
  const size_t n = p.rows();
  if (params.supervise <= 0 || params.labels.size() != n) return;
  std::vector<size_t> members;
  for (const int label : params.labels) {
    if (label < 0) continue;
    if (static_cast<size_t>(label) >= members.size())
      members.resize(static_cast<size_t>(label) + 1);
    ++members[static_cast<size_t>(label)];
  }
  const double factor = params.supervise / 100, base = 1.0 / static_cast<double>(n);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    for (uint32_t e = p.starts[i]; e < p.starts[i + 1]; ++e) {
      const int a = params.labels[i], b = params.labels[p.columns[e]];
      double weight = base;
      if (a >= 0 && b >= 0 && a != params.ignored_label && b != params.ignored_label) {
        const double same = static_cast<double>(members[static_cast<size_t>(a)]);
        const double other = std::max(1.0, static_cast<double>(n) - same);
        weight = a == b ? std::min(base + factor / same, 1 - 1e-7)
                        : std::max(base - factor / other, 1e-7);
      }
      p.weights[e] = static_cast<float>(p.weights[e] * weight);
      sum += p.weights[e];
    }
  }
  for (float& w : p.weights) w = sum > 0 ? static_cast<float>(w / sum) : w;
}

// The first two or three principal components, scaled small, so that the global layout means
// something.
std::vector<float> initial_positions(const Points& points, const TsneParams& params,
                                     ThreadPool& pool, const Progress& progress) {
  const auto dims = static_cast<size_t>(params.dims);
  std::vector<float> y(points.count * dims);
  const Components components = pca(points, dims, pool, without_positions(progress));
  double spread = 0;
  for (size_t i = 0; i < points.count; ++i) {
    for (size_t k = 0; k < components.count; ++k) {
      y[i * dims + k] = components.positions[i * components.count + k];
      if (k == 0) spread += double{y[i * dims]} * y[i * dims];
    }
  }
  spread = std::sqrt(spread / static_cast<double>(std::max<size_t>(points.count, 1)));
  std::mt19937 random(params.seed);
  std::normal_distribution<float> noise(0, 1e-5f);  // equal rows must not sit on one spot
  for (float& value : y)
    value = (spread > 0 ? static_cast<float>(value / spread * 1e-4) : 0) + noise(random);
  return y;
}

template <int D>
class Optimiser {
 public:
  Optimiser(const SparseRows& p, State& state, ThreadPool& pool)
      : p_(p), state_(state), pool_(pool) {
    forces_.resize(state.y.size());
  }

  void step(float exaggeration, float momentum, double rate, float theta) {
    const double q_sum = std::max(repulsion_.compute(state_.y, theta, forces_, pool_), 1e-12);
    last_q_sum_ = q_sum;
    const size_t n = p_.rows();
    constexpr size_t kRowsPerJob = 1024;
    const auto learning_rate = static_cast<float>(rate);
    // Positions are written to a copy: attraction of one row must not see another's new place.
    next_ = state_.y;
    pool_.for_each((n + kRowsPerJob - 1) / kRowsPerJob, [&](size_t job) {
      for (size_t i = job * kRowsPerJob; i < std::min(n, (job + 1) * kRowsPerJob); ++i) {
        update(i, exaggeration, momentum, learning_rate, static_cast<float>(1 / q_sum));
      }
    });
    state_.y.swap(next_);
    recentre();
  }

  double cost() const {
    double sum = 0;
    for (size_t i = 0; i < p_.rows(); ++i) {
      for (uint32_t e = p_.starts[i]; e < p_.starts[i + 1]; ++e) {
        float squared = 0;
        for (size_t k = 0; k < D; ++k) {
          const float d = state_.y[i * D + k] - state_.y[p_.columns[e] * D + k];
          squared += d * d;
        }
        const double q = 1 / (1 + double{squared}) / last_q_sum_;
        sum +=
            p_.weights[e] * std::log(std::max<double>(p_.weights[e], 1e-12) / std::max(q, 1e-12));
      }
    }
    return sum;
  }

 private:
  void update(size_t i, float exaggeration, float momentum, float rate, float inverse_q) {
    const float* y = &state_.y[i * D];
    float attraction[D] = {};
    for (uint32_t e = p_.starts[i]; e < p_.starts[i + 1]; ++e) {
      const float* other = &state_.y[p_.columns[e] * D];
      float difference[D], squared = 0;
      for (int k = 0; k < D; ++k) {
        difference[k] = y[k] - other[k];
        squared += difference[k] * difference[k];
      }
      const float pull = p_.weights[e] / (1 + squared);
      for (int k = 0; k < D; ++k) attraction[k] += pull * difference[k];
    }
    for (size_t k = 0; k < D; ++k) {
      const size_t at = i * D + k;
      const float gradient = 4 * (exaggeration * attraction[k] - forces_[at] * inverse_q);
      float& gain = state_.gains[at];
      gain = (gradient > 0) == (state_.velocity[at] > 0) ? gain * 0.8f : gain + 0.2f;
      gain = std::max(gain, 0.01f);
      state_.velocity[at] = momentum * state_.velocity[at] - rate * gain * gradient;
      next_[at] = state_.y[at] + state_.velocity[at];
    }
  }

  void recentre() {
    double mean[D] = {};
    const size_t n = p_.rows();
    for (size_t i = 0; i < n * D; ++i) mean[i % D] += state_.y[i];
    for (size_t i = 0; i < n * D; ++i)
      state_.y[i] -= static_cast<float>(mean[i % D] / static_cast<double>(n));
  }

  const SparseRows& p_;
  State& state_;
  ThreadPool& pool_;
  Repulsion<D> repulsion_;
  std::vector<float> forces_, next_;
  double last_q_sum_ = 1;
};

// Moves every coordinate by up to a tenth of the picture's radius.
void jitter(std::vector<float>& y, std::mt19937& random) {
  float radius = 0;
  for (const float value : y) radius = std::max(radius, std::abs(value));
  std::uniform_real_distribution<float> move(-radius / 10, radius / 10);
  for (float& value : y) value += move(random);
}

template <int D>
void optimise(const SparseRows& p, State& state, const TsneParams& params, ThreadPool& pool,
              const Progress& progress, TsneControls* controls, bool continued,
              Projection& result) {
  Optimiser<D> optimiser(p, state, pool);
  std::mt19937 random(params.seed);
  const double automatic = std::max(50.0, static_cast<double>(p.rows()) / kExaggeration);
  const double theta = params.theta > 0 ? params.theta : p.rows() <= kFewPoints ? 0.5 : 0.8;
  result.finished = true;
  for (int round = 0; round < params.iterations; ++round) {
    const double asked = controls ? controls->learning_rate.load() : params.learning_rate;
    if (controls && controls->perturb > 0) {
      --controls->perturb;
      jitter(state.y, random);
    }
    const bool early = round < kExaggerated && !continued;
    optimiser.step(early ? kExaggeration : 1, early ? 0.5f : 0.8f, asked > 0 ? asked : automatic,
                   static_cast<float>(theta));
    if (!progress("optimising", round + 1, params.iterations, state.y)) {
      result.finished = false;
      break;
    }
  }
  result.final_cost = optimiser.cost();
}

}  // namespace

Projection tsne(const Points& points, const TsneParams& params, ThreadPool& pool,
                const Progress& progress, std::span<const float> start, TsneControls* controls) {
  Projection result;
  result.dims = params.dims == 3 ? 3 : 2;
  TsneParams used = params;
  used.dims = result.dims;
  const size_t wanted = points.count * static_cast<size_t>(result.dims);
  const bool continued = start.size() == wanted && wanted > 0;
  if (points.count < 3) {
    result.positions.assign(wanted, 0);
    result.finished = true;
    return result;
  }
  const auto k = static_cast<size_t>(std::max(3.0, 3 * params.perplexity));
  const auto neighbours = all_neighbours(points, {.k = k, .metric = params.metric}, pool, progress);
  if (!neighbours) return result;
  result.neighbours_exact = neighbours->exact;
  result.neighbours_recall = neighbours->recall;
  SparseRows p = tsne_affinities(*neighbours, points.count, params.perplexity, params.metric);
  supervise(p, used);

  State state;
  state.y = continued ? std::vector<float>(start.begin(), start.end())
                      : initial_positions(points, used, pool, progress);
  state.velocity.assign(wanted, 0);
  state.gains.assign(wanted, 1);
  if (result.dims == 2) {
    optimise<2>(p, state, used, pool, progress, controls, continued, result);
  } else {
    optimise<3>(p, state, used, pool, progress, controls, continued, result);
  }
  result.positions = std::move(state.y);
  return result;
}

}  // namespace sonde::embed
