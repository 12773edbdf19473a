// Projects a raw float32 matrix from a file, for bench/embed.py: project KIND ROWS DIMS IN OUT
// [key=value ...]. KIND is pca, tsne or umap; prints "seconds <wall> cpu <cpu>" on standard output.
#include <fmt/core.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "embed/pca.h"
#include "embed/tsne.h"
#include "embed/umap.h"

using namespace sonde;
using namespace sonde::embed;

namespace {

std::vector<float> project(const std::string& kind, const Points& points,
                           std::map<std::string, double>& options, ThreadPool& pool) {
  const Metric metric = options["euclidean"] > 0 ? Metric::kEuclidean : Metric::kCosine;
  const int dims = static_cast<int>(options["dims"]);
  if (kind == "pca") return pca(points, static_cast<size_t>(dims), pool).positions;
  if (kind == "umap")
    return umap(points,
                {.dims = dims,
                 .neighbours = static_cast<size_t>(options["neighbours"]),
                 .metric = metric},
                pool)
        .positions;
  return tsne(points,
              {.dims = dims,
               .perplexity = options["perplexity"],
               .iterations = static_cast<int>(options["iterations"]),
               .metric = metric},
              pool)
      .positions;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    fmt::print(stderr,
               "usage: project pca|tsne|umap ROWS DIMS IN OUT [dims=2] [perplexity=30] "
               "[neighbours=15] [iterations=1000] [euclidean=1]\n");
    return 2;
  }
  std::map<std::string, double> options{
      {"dims", 2}, {"perplexity", 30}, {"neighbours", 15}, {"iterations", 1000}, {"euclidean", 0}};
  for (int i = 6; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t at = word.find('=');
    if (at != std::string::npos)
      options[word.substr(0, at)] = std::strtod(word.c_str() + at + 1, nullptr);
  }
  Points points{std::strtoul(argv[2], nullptr, 10), std::strtoul(argv[3], nullptr, 10), {}};
  points.values.resize(points.count * points.dims);
  std::ifstream(argv[4], std::ios::binary)
      .read(reinterpret_cast<char*>(points.values.data()),
            static_cast<std::streamsize>(points.values.size() * 4));
  ThreadPool pool("project", std::max<size_t>(1, usable_cores() - 1));

  const auto start = std::chrono::steady_clock::now();
  const std::vector<float> positions = project(argv[1], points, options, pool);
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const double cpu = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  std::ofstream(argv[5], std::ios::binary)
      .write(reinterpret_cast<const char*>(positions.data()),
             static_cast<std::streamsize>(positions.size() * 4));
  fmt::print("seconds {:.3f} cpu {:.3f}\n", wall, cpu);
  return 0;
}
