#include "embed/umap.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "embed/affinities.h"
#include "embed/pca.h"

namespace sonde::embed {
namespace {

// x^p for x > 0 by a table of logarithms' mantissas: about 1e-4 relative error, which the noise of
// sampled gradients hides, at a fraction of std::pow's cost.
class FastPower {
 public:
  explicit FastPower(double power) : power_(static_cast<float>(power)) {
    for (size_t i = 0; i < kSteps; ++i)
      table_[i] = static_cast<float>(std::pow(1 + (i + 0.5) / kSteps, power));
    for (int e = -126; e < 128; ++e)
      exponents_[e + 126] = static_cast<float>(std::pow(2.0, e * power));
  }
  float operator()(float x) const {
    const auto bits = std::bit_cast<uint32_t>(x);
    const auto exponent = static_cast<int>(bits >> 23) - 127;
    if (exponent < -126 || exponent > 127) return x <= 0 ? 0 : std::pow(x, power_);
    return exponents_[exponent + 126] * table_[(bits >> (23 - kBits)) & (kSteps - 1)];
  }

 private:
  static constexpr int kBits = 12;
  static constexpr size_t kSteps = 1 << kBits;
  float power_;
  float table_[kSteps];
  float exponents_[254];
};

// Width of each row's kernel: the sum of exp(-(d - nearest) / width) equals log2(k).
std::vector<float> memberships(const Neighbours& neighbours, size_t rows) {
  const size_t k = neighbours.k;
  std::vector<float> weights(rows * k);
  double mean_all = 0;
  for (const float d : neighbours.distances) mean_all += d;
  mean_all /= static_cast<double>(std::max<size_t>(1, neighbours.distances.size()));
  const double target = std::log2(static_cast<double>(k + 1));
  for (size_t i = 0; i < rows; ++i) {
    const float* d = &neighbours.distances[i * k];
    double nearest = 0, mean = 0;
    for (size_t j = k; j-- > 0;) {
      if (d[j] > 0) nearest = d[j];
      mean += d[j];
    }
    mean /= static_cast<double>(k);
    double low = 0, high = INFINITY, width = 1;
    for (int round = 0; round < 64; ++round) {
      double sum = 0;
      for (size_t j = 0; j < k; ++j)
        sum += d[j] > nearest ? std::exp(-(d[j] - nearest) / width) : 1;
      if (std::abs(sum - target) < 1e-5) break;
      (sum > target ? high : low) = width;
      width = std::isinf(high) ? width * 2 : (low + high) / 2;
    }
    width = std::max(width, 1e-3 * (nearest > 0 ? mean : mean_all));
    for (size_t j = 0; j < k; ++j) {
      weights[i * k + j] =
          d[j] > nearest && width > 0 ? static_cast<float>(std::exp(-(d[j] - nearest) / width)) : 1;
    }
  }
  return weights;
}

struct Random {  // xorshift: one state a vertex, so that order of work does not matter
  uint64_t state;
  uint32_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>(state >> 32);
  }
};

std::vector<float> initial_positions(const Points& points, size_t dims, uint32_t seed,
                                     ThreadPool& pool, const Progress& progress) {
  const Components components = pca(points, dims, pool, without_positions(progress));
  std::vector<float> y(points.count * dims);
  float largest = 1e-12f;
  for (const float v : components.positions) largest = std::max(largest, std::abs(v));
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, 1e-3f);
  for (size_t i = 0; i < points.count; ++i) {
    for (size_t k = 0; k < dims; ++k) {
      const float v = k < components.count ? components.positions[i * components.count + k] : 0;
      y[i * dims + k] = 10 * v / largest + noise(random);
    }
  }
  return y;
}

// How far an edge may pull, as a share of its length. Both ends move by positions of the epoch
// before: without a limit they swap places and overshoot, and young clusters burst into each other
// for good. Trustworthiness of bench/embed.py's 500 x 50 sheets: 0.981 without, 0.995 at 0.5, 0.998
// at 0.15, which is umap-learn's.
constexpr float kLongestPull = 0.15f;

// One epoch moves every vertex by its own edges, reading the positions of the epoch before:
// vertices are independent, so threads never change the result.
template <size_t D>
class Layout {
 public:
  Layout(const SparseRows& graph, std::vector<float>& y, const UmapParams& params)
      : graph_(graph),
        y_(y),
        curve_(fitted_curve(params.spread, params.min_dist)),
        power_(curve_.b - 1),
        params_(params) {
    const float strongest =
        graph.weights.empty() ? 1 : *std::max_element(graph.weights.begin(), graph.weights.end());
    for (const float w : graph.weights) share_.push_back(w / strongest);
    for (size_t i = 0; i < graph.rows(); ++i)
      random_.push_back({(i + 1) * 0x9e3779b97f4a7c15ull + params.seed});
    next_.resize(y.size());
  }

  void epoch(int number, float rate, ThreadPool& pool) {
    constexpr size_t kRowsPerJob = 512;
    const size_t n = graph_.rows();
    pool.for_each((n + kRowsPerJob - 1) / kRowsPerJob, [&](size_t job) {
      for (size_t i = job * kRowsPerJob; i < std::min(n, (job + 1) * kRowsPerJob); ++i)
        move(i, number, rate);
    });
    y_.swap(next_);
  }

 private:
  // How often an edge is drawn is proportional to its weight: due when floor(share * epoch) moves
  // on.
  bool is_due(float share, int number) const {
    return static_cast<int>(share * static_cast<float>(number + 1)) !=
           static_cast<int>(share * static_cast<float>(number));
  }

  void move(size_t i, int number, float rate) {
    const auto a = static_cast<float>(curve_.a), b = static_cast<float>(curve_.b);
    float here[D];
    std::copy_n(&y_[i * D], D, here);
    const size_t n = graph_.rows();
    for (uint32_t e = graph_.starts[i]; e < graph_.starts[i + 1]; ++e) {
      if (!is_due(share_[e], number)) continue;
      // The pull acts on both ends; each end moves in its own pass, so it counts twice here.
      const float* other = &y_[graph_.columns[e] * D];
      const float squared = distance(here, other);
      if (squared > 0) {
        const float power = power_(squared);
        const float pull = 2 * rate * (2 * a * b * power / (a * power * squared + 1));
        push(here, other, -std::min(pull, kLongestPull), 2 * rate);
      }
      for (int s = 0; s < params_.negative_samples; ++s) {
        const size_t away = random_[i].next() % n;
        if (away == i) continue;
        const float* far = &y_[away * D];
        const float gap = distance(here, far);
        const float weight = gap > 0 ? 2 * b / ((0.001f + gap) * (a * power_(gap) * gap + 1)) : 0;
        push(here, far, rate * weight, rate);
      }
    }
    std::copy_n(here, D, &next_[i * D]);
  }

  static float distance(const float* x, const float* y) {
    float squared = 0;
    for (size_t k = 0; k < D; ++k) squared += (x[k] - y[k]) * (x[k] - y[k]);
    return squared;
  }

  static void push(float* here, const float* other, float weight, float rate) {
    for (size_t k = 0; k < D; ++k)
      here[k] += std::clamp(weight * (here[k] - other[k]), -4 * rate, 4 * rate);
  }

  const SparseRows& graph_;
  std::vector<float>& y_;
  Curve curve_;
  FastPower power_;
  const UmapParams& params_;
  std::vector<float> share_, next_;
  std::vector<Random> random_;
};

template <size_t D>
bool lay_out(const SparseRows& graph, std::vector<float>& y, const UmapParams& params, int epochs,
             ThreadPool& pool, const Progress& progress) {
  Layout<D> layout(graph, y, params);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const double left = 1 - static_cast<double>(epoch) / epochs;
    layout.epoch(epoch, static_cast<float>(params.learning_rate * left), pool);
    if (!progress("optimising", epoch + 1, epochs, y)) return false;
  }
  return true;
}

}  // namespace

Curve fitted_curve(double spread, double min_dist) {
  // Least squares over 300 distances by Gauss-Newton with damping; two parameters, so written out.
  Curve curve{1, 1};
  double damping = 1e-3, best = INFINITY;
  const auto errors = [&](const Curve& c, double* gradient, double* hessian) {
    double sum = 0;
    for (int i = 1; i <= 300; ++i) {
      const double x = 3 * spread * i / 300;
      const double target = x < min_dist ? 1 : std::exp(-(x - min_dist) / spread);
      const double power = std::pow(x, 2 * c.b), value = 1 / (1 + c.a * power),
                   error = value - target;
      const double da = -power * value * value, db = -c.a * power * 2 * std::log(x) * value * value;
      sum += error * error;
      if (!gradient) continue;
      gradient[0] += da * error;
      gradient[1] += db * error;
      hessian[0] += da * da;
      hessian[1] += da * db;
      hessian[2] += db * db;
    }
    return sum;
  };
  for (int round = 0; round < 100; ++round) {
    double g[2] = {}, h[3] = {};
    best = errors(curve, g, h);
    const double p = h[0] * (1 + damping), q = h[2] * (1 + damping), det = p * q - h[1] * h[1];
    if (det == 0) break;
    const Curve next{curve.a - (q * g[0] - h[1] * g[1]) / det,
                     curve.b - (p * g[1] - h[1] * g[0]) / det};
    if (next.a > 0 && next.b > 0 && errors(next, nullptr, nullptr) < best) {
      curve = next;
      damping = std::max(damping / 3, 1e-9);
    } else {
      damping *= 4;
    }
  }
  return curve;
}

Projection umap(const Points& points, const UmapParams& params, ThreadPool& pool,
                const Progress& progress) {
  Projection result;
  result.dims = params.dims == 3 ? 3 : 2;
  const auto dims = static_cast<size_t>(result.dims);
  if (points.count < 3) {
    result.positions.assign(points.count * dims, 0);
    result.finished = true;
    return result;
  }
  const auto neighbours =
      all_neighbours(points, {.k = std::max<size_t>(2, params.neighbours), .metric = params.metric},
                     pool, progress);
  if (!neighbours) return result;
  result.neighbours_exact = neighbours->exact;
  result.neighbours_recall = neighbours->recall;
  const SparseRows graph = symmetric(*neighbours, memberships(*neighbours, points.count),
                                     points.count, [](float x, float y) { return x + y - x * y; });
  result.positions = initial_positions(points, dims, params.seed, pool, progress);
  const int epochs = params.epochs > 0 ? params.epochs : points.count <= 10000 ? 500 : 200;
  result.finished = dims == 2 ? lay_out<2>(graph, result.positions, params, epochs, pool, progress)
                              : lay_out<3>(graph, result.positions, params, epochs, pool, progress);
  return result;
}

}  // namespace sonde::embed
