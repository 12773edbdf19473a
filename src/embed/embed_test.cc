// Projections on clustered data: neighbours equal a brute-force search, PCA equals the analytic
// answer, t-SNE and UMAP keep neighbourhoods (trustworthiness against openTSNE and umap-learn:
// bench/embed.py).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "embed/neighbours.h"
#include "embed/pca.h"
#include "embed/tsne.h"
#include "embed/umap.h"

using namespace sonde;
using namespace sonde::embed;

namespace {

Points clusters(size_t count, size_t dims, size_t groups, unsigned seed = 5) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> centres(groups * dims);
  for (float& c : centres) c = 4 * normal(random);
  Points points{count, dims, std::vector<float>(count * dims)};
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < dims; ++k)
      points.row(i)[k] = centres[i % groups * dims + k] + normal(random);
  }
  return points;
}

// Share of each row's five nearest in the picture that belong to its own cluster.
double purity(const Projection& picture, size_t count, size_t groups) {
  Points flat{count, static_cast<size_t>(picture.dims), picture.positions};
  size_t same = 0;
  for (size_t i = 0; i < count; ++i) {
    for (const uint32_t id : neighbours_of(flat, i, {.k = 5, .metric = Metric::kEuclidean}).ids)
      same += id % groups == i % groups;
  }
  return static_cast<double>(same) / static_cast<double>(5 * count);
}

}  // namespace

TEST_CASE("embed: sphere scaling centres rows and makes them one long; bad values are counted") {
  const std::vector<float> values = {1, 2, 3, NAN, 5, 6};
  const Prepared prepared = prepare(values, 2, {}, Scaling::kSphere);
  CHECK(prepared.replaced == 1);
  for (size_t i = 0; i < 3; ++i) {
    const float* row = prepared.points.row(i);
    CHECK(row[0] * row[0] + row[1] * row[1] == doctest::Approx(1));
  }
  CHECK(prepare(values, 2, std::vector<uint32_t>{2, 0}, Scaling::kNone).points.row(0)[1] == 6);
}

TEST_CASE("embed: the tiled search and the graph search agree with looking at every row") {
  ThreadPool pool("test", 2);
  const Points points = clusters(403, 19, 5);
  for (const Metric metric : {Metric::kCosine, Metric::kEuclidean}) {
    const auto all = all_neighbours(points, {.k = 7, .metric = metric}, pool);
    REQUIRE(all);
    CHECK(all->exact);
    for (size_t i = 0; i < points.count; i += 17) {
      const Neighbours one = neighbours_of(points, i, {.k = 7, .metric = metric});
      for (size_t j = 0; j < 7; ++j) {
        REQUIRE(all->distances[i * 7 + j] == doctest::Approx(one.distances[j]).epsilon(1e-3));
      }
    }
    const auto graph = all_neighbours(points, {.k = 7, .metric = metric, .exact_limit = 10}, pool);
    REQUIRE(graph);
    CHECK_FALSE(graph->exact);
    CHECK(graph->recall > 0.95);
  }
}

TEST_CASE("embed: PCA finds a known direction and its share of the variance") {
  ThreadPool pool("test", 2);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  Points points{4000, 3, std::vector<float>(12000)};
  for (size_t i = 0; i < points.count; ++i) {
    const float along = 3 * normal(random), across = normal(random);
    points.row(i)[0] = 10 + (along - across) / std::sqrt(2.0f);
    points.row(i)[1] = -5 + (along + across) / std::sqrt(2.0f);
    points.row(i)[2] = 2;
  }
  const Components result = pca(points, 2, pool);
  CHECK(result.directions[0] == doctest::Approx(std::sqrt(0.5)).epsilon(0.02));
  CHECK(result.directions[1] == doctest::Approx(std::sqrt(0.5)).epsilon(0.02));
  CHECK(result.explained[0] == doctest::Approx(0.9).epsilon(0.02));
  CHECK(result.explained[0] + result.explained[1] == doctest::Approx(1));
}

TEST_CASE("embed: the randomised road of PCA agrees with the exact one") {
  ThreadPool pool("test", 2);
  const Points points = clusters(300, 60, 4);
  const Components exact = pca(points, 3, pool), random = pca(points, 3, pool, {}, 10);
  for (size_t i = 0; i < exact.positions.size(); i += 7) {
    REQUIRE(std::abs(random.positions[i]) ==
            doctest::Approx(std::abs(exact.positions[i])).epsilon(1e-3).scale(10));
  }
  CHECK(random.explained[0] == doctest::Approx(exact.explained[0]).epsilon(1e-4));
}

TEST_CASE("embed: t-SNE and UMAP keep clusters together, in two and three dimensions, and repeat") {
  ThreadPool pool("test", 2);
  const Points points = clusters(400, 20, 8);
  for (const int dims : {2, 3}) {
    const TsneParams tsne_params{.dims = dims, .perplexity = 10, .iterations = 300};
    const Projection a = tsne(points, tsne_params, pool);
    CHECK(a.finished);
    CHECK(purity(a, points.count, 8) > 0.95);
    CHECK(tsne(points, tsne_params, pool).positions == a.positions);
    const UmapParams umap_params{.dims = dims, .epochs = 200};
    const Projection b = umap(points, umap_params, pool);
    CHECK(purity(b, points.count, 8) > 0.95);
    CHECK(umap(points, umap_params, pool).positions == b.positions);
  }
}

TEST_CASE("embed: a projection stops when asked and keeps what it has") {
  ThreadPool pool("test", 2);
  const Points points = clusters(200, 8, 3);
  const Progress stop_at_ten{[](const char* stage, int iteration, int, std::span<const float>) {
    return std::string_view(stage) != "optimising" || iteration < 10;
  }};
  const Projection picture = tsne(points, {.perplexity = 5}, pool, stop_at_ten);
  CHECK_FALSE(picture.finished);
  CHECK(picture.positions.size() == 400);
}

TEST_CASE("embed: tiny, equal and empty inputs give finite pictures") {
  ThreadPool pool("test", 2);
  for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{3}, size_t{10}}) {
    const Points equal{count, 4, std::vector<float>(count * 4, 1.0f)};
    for (const Projection& picture :
         {tsne(equal, {.iterations = 20}, pool), umap(equal, {.epochs = 20}, pool)}) {
      CHECK(picture.positions.size() == count * 2);
      CHECK(std::all_of(picture.positions.begin(), picture.positions.end(),
                        [](float v) { return std::isfinite(v); }));
    }
  }
}

TEST_CASE("embed: UMAP's curve has the published parameters") {
  const Curve curve = fitted_curve(1, 0.1);
  CHECK(curve.a == doctest::Approx(1.577).epsilon(0.01));
  CHECK(curve.b == doctest::Approx(0.895).epsilon(0.01));
}
