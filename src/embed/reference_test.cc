// Against the references of the field, recorded by bench/embed.py --record tests/data/embed:
// NumPy's SVD for PCA, openTSNE and umap-learn for how well neighbours survive.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "codec/json_read.h"
#include "embed/pca.h"
#include "embed/umap.h"
#include "io/file.h"
#include "tests/support/paths.h"

namespace sonde::embed {
namespace {

std::string recorded(const std::string& name) {
  auto bytes = io::read_file(testing::source_path("tests/data/embed/" + name), 1 << 20);
  REQUIRE(bytes);
  return std::move(*bytes);
}

std::vector<float> floats(const std::string& bytes) {
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(float));
  return out;
}

Points recorded_points(const std::string& name = "points.f32", size_t dims = 20) {
  Points points;
  points.values = floats(recorded(name));
  points.dims = dims;
  points.count = points.values.size() / points.dims;
  return points;
}

// rank[i][j]: how many rows are nearer to i than j is; the row itself is left out.
std::vector<std::vector<size_t>> ranks(const Points& points, Metric metric) {
  const Neighbours found = *[&] {
    ThreadPool pool("test", 2);
    return all_neighbours(points, {.k = points.count - 1, .metric = metric}, pool);
  }();
  std::vector<std::vector<size_t>> out(points.count, std::vector<size_t>(points.count, 0));
  for (size_t i = 0; i < points.count; ++i) {
    for (size_t j = 0; j < found.k; ++j) out[i][found.ids[i * found.k + j]] = j;
  }
  return out;
}

struct Kept {
  double trustworthiness = 1;  // Venna and Kaski: neighbours in the picture that are none cost
  double recall = 0;           // true neighbours that are neighbours in the picture
};

Kept kept(const Points& points, const Projection& picture, size_t k) {
  const auto truth = ranks(points, Metric::kCosine);
  const auto seen = ranks({points.count, static_cast<size_t>(picture.dims), picture.positions},
                          Metric::kEuclidean);
  const auto n = static_cast<double>(points.count), d = static_cast<double>(k);
  double cost = 0, hits = 0;
  for (size_t i = 0; i < points.count; ++i) {
    for (size_t j = 0; j < points.count; ++j) {
      if (i == j || seen[i][j] >= k) continue;
      if (truth[i][j] >= k) cost += static_cast<double>(truth[i][j] - k + 1);
      if (truth[i][j] < k) ++hits;
    }
  }
  return {1 - cost * 2 / (n * d * (2 * n - 3 * d - 1)), hits / (n * d)};
}

}  // namespace

TEST_CASE("embed: PCA equals NumPy's SVD up to sign") {
  const Points points = recorded_points();
  const std::vector<float> wanted = floats(recorded("pca.f32"));
  const auto figures = read_json(recorded("figures.json"));
  REQUIRE(figures);
  ThreadPool pool("test", 2);
  for (const size_t exact_dims : {kExactDims, size_t{5}}) {  // both roads
    const Components found = pca(points, 5, pool, {}, exact_dims);
    REQUIRE(found.count == 5);
    REQUIRE(wanted.size() == found.positions.size());
    for (size_t c = 0; c < 5; ++c) {
      double same = 0, size = 0;
      for (size_t i = 0; i < points.count; ++i) {
        same += double{found.positions[i * 5 + c]} * wanted[i * 5 + c];
        size = std::max(size, std::abs(double{wanted[i * 5 + c]}));
      }
      const float sign = same < 0 ? -1 : 1;
      for (size_t i = 0; i < points.count; ++i)
        REQUIRE(std::abs(sign * found.positions[i * 5 + c] - wanted[i * 5 + c]) < 1e-4 * size);
      CHECK(found.explained[c] ==
            doctest::Approx(*figures->find("explained")->items[c].number()).epsilon(1e-5));
    }
  }
}

TEST_CASE("embed: t-SNE and UMAP keep neighbours as well as openTSNE and umap-learn") {
  const Points points = recorded_points();
  const auto figures = read_json(recorded("figures.json"));
  REQUIRE(figures);
  ThreadPool pool("test", 2);
  // The middle one of five pictures: how one comes out depends on the last bits of sums, which
  // differ between processors (a trustworthiness of 0.978 to 0.985 for openTSNE's 0.983 to 0.986).
  const auto compare = [&](const char* name, const Points& points, const auto& project) {
    const JsonValue* theirs = figures->find(name);
    REQUIRE(theirs);
    std::vector<double> trustworthiness, recall;
    for (uint32_t seed = 1; seed <= 5; ++seed) {
      const Kept ours = kept(points, project(points, seed), 15);
      trustworthiness.push_back(ours.trustworthiness);
      recall.push_back(ours.recall);
    }
    std::ranges::sort(trustworthiness);
    std::ranges::sort(recall);
    INFO(std::string(name) << ": trustworthiness " << trustworthiness[2] << ", recall "
                           << recall[2]);
    CHECK(trustworthiness[2] > *theirs->find("trustworthiness")->number() - 0.005);
    CHECK(recall[2] > *theirs->find("recall")->number() - 0.03);
  };
  const auto by_tsne = [&](const Points& p, uint32_t seed) {
    return tsne(p, {.dims = 2, .perplexity = 30, .iterations = 750, .seed = seed}, pool);
  };
  const auto by_umap = [&](const Points& p, uint32_t seed) {
    return umap(p, {.dims = 2, .seed = seed}, pool);
  };
  compare("tsne", points, by_tsne);
  compare("umap", points, by_umap);
  compare("umap_sheets", recorded_points("sheets.f32", 50), by_umap);  // parts that hardly touch
}

}  // namespace sonde::embed
