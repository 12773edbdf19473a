// Two roads: the exact covariance matrix and its eigenvectors for up to kExactDims dimensions, a
// randomised range finder with power iterations above. Both centre the data first.
#include "embed/pca.h"

#include <Eigen/Dense>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <random>

namespace sonde::embed {
namespace {

constexpr size_t kRowsPerJob = 512;
using Matrix = Eigen::MatrixXd;
using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

Eigen::Index index(size_t i) { return static_cast<Eigen::Index>(i); }

struct Centred {
  const Points& points;
  ThreadPool& pool;
  const Progress& progress;
  Vector mean;
  mutable std::atomic<bool> stopped = false;

  Centred(const Points& p, ThreadPool& threads, const Progress& report)
      : points(p), pool(threads), progress(report), mean(Vector::Zero(index(p.dims))) {
    for (size_t i = 0; i < p.count; ++i) {
      for (size_t k = 0; k < p.dims; ++k) mean[index(k)] += p.row(i)[k];
    }
    mean /= static_cast<double>(p.count);
  }

  size_t jobs() const { return (points.count + kRowsPerJob - 1) / kRowsPerJob; }

  // Calls fn(block of centred rows, job) for every block, on the pool; leaves the rest out once
  // the caller has asked to stop.
  template <class Fn>
  void for_each_block(Fn&& fn) const {
    std::atomic<int> done = 0;
    pool.for_each(jobs(), [&](size_t job) {
      if (stopped) return;
      const size_t first = job * kRowsPerJob, rows = std::min(kRowsPerJob, points.count - first);
      Matrix block(rows, points.dims);
      for (size_t i = 0; i < rows; ++i) {
        for (size_t k = 0; k < points.dims; ++k)
          block(index(i), index(k)) = points.row(first + i)[k] - mean[index(k)];
      }
      fn(block, job);
      if (!progress("components", ++done, static_cast<int>(jobs()))) stopped = true;
    });
  }

  // The sum of product(block) over all blocks, added in block order so that two runs give the same
  // bits.
  template <class Fn>
  Matrix sum(Eigen::Index rows, Eigen::Index cols, Fn&& product) const {
    Matrix total = Matrix::Zero(rows, cols);
    std::mutex mutex;  // guards: total, waiting, next
    std::vector<Matrix> waiting(jobs());
    size_t next = 0;
    for_each_block([&](const Matrix& block, size_t job) {
      Matrix part = product(block);
      const std::lock_guard lock(mutex);
      waiting[job] = std::move(part);
      for (; next < waiting.size() && waiting[next].size() > 0; ++next) {
        total += waiting[next];
        waiting[next].resize(0, 0);
      }
    });
    return total;
  }
};

struct Basis {
  Matrix directions;  // dims * components
  Vector variances;   // per component
  double total = 0;   // variance over all dimensions
};

Basis exact_basis(const Centred& data, size_t components) {
  const auto d = index(data.points.dims), c = index(components);
  Matrix covariance = data.sum(d, d, [](const Matrix& x) -> Matrix { return x.transpose() * x; });
  if (data.stopped) return {};
  covariance /= static_cast<double>(data.points.count);
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(covariance);
  return {solver.eigenvectors().rightCols(c).rowwise().reverse(),
          solver.eigenvalues().tail(c).reverse(), covariance.trace()};
}

Matrix orthonormal(const Matrix& columns) {
  return Eigen::HouseholderQR<Matrix>(columns).householderQ() *
         Matrix::Identity(columns.rows(), columns.cols());
}

Basis random_basis(const Centred& data, size_t components) {
  constexpr int kPowerRounds = 6;
  const auto d = index(data.points.dims), c = index(components);
  const auto width = index(std::min(data.points.dims, components + 20));
  std::mt19937 random(42);
  std::normal_distribution<double> normal;
  Matrix q(d, width);
  for (Eigen::Index i = 0; i < q.size(); ++i) q.data()[i] = normal(random);
  Matrix image;
  for (int round = 0; round < kPowerRounds; ++round) {
    if (data.stopped) return {};
    q = orthonormal(round == 0 ? q : image);
    image = data.sum(d, width, [&](const Matrix& x) -> Matrix { return x.transpose() * (x * q); });
  }
  const Matrix small = q.transpose() * image;
  const Eigen::SelfAdjointEigenSolver<Matrix> solver((small + small.transpose()) / 2);
  const double n = static_cast<double>(data.points.count);
  const Matrix total = data.sum(
      1, 1, [](const Matrix& x) -> Matrix { return Matrix::Constant(1, 1, x.squaredNorm()); });
  return {q * solver.eigenvectors().rightCols(c).rowwise().reverse(),
          solver.eigenvalues().tail(c).reverse() / n, total(0, 0) / n};
}

}  // namespace

Components pca(const Points& points, size_t components, ThreadPool& pool, const Progress& progress,
               size_t exact_dims) {
  if (points.count == 0 || points.dims == 0 || !progress("components", 0, 1)) return {};
  Components result;
  result.count = std::min({components, points.dims, points.count});
  const Centred data(points, pool, progress);
  Basis basis = points.dims <= exact_dims ? exact_basis(data, result.count)
                                          : random_basis(data, result.count);
  if (basis.directions.size() == 0 || data.stopped) return {};

  for (Eigen::Index c = 0; c < basis.directions.cols(); ++c) {
    Eigen::Index largest;
    basis.directions.col(c).cwiseAbs().maxCoeff(&largest);
    if (basis.directions(largest, c) < 0) basis.directions.col(c) *= -1;
    result.explained.push_back(basis.total > 0 ? std::max(0.0, basis.variances[c]) / basis.total
                                               : 0);
    for (Eigen::Index k = 0; k < basis.directions.rows(); ++k) {
      result.directions.push_back(static_cast<float>(basis.directions(k, c)));
    }
  }
  result.positions.resize(points.count * result.count);
  data.for_each_block([&](const Matrix& block, size_t job) {
    const RowMatrix projected = (block * basis.directions).cast<float>();
    std::copy_n(projected.data(), projected.size(),
                &result.positions[job * kRowsPerJob * result.count]);
  });
  if (data.stopped) return {};
  progress("components", 1, 1, result.positions);
  return result;
}

}  // namespace sonde::embed
