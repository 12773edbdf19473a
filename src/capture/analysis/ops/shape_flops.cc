#include "capture/analysis/ops/shape_flops.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

namespace sonde::capture {
namespace {

// Dimensions in a `shape` argument: "(float[2,3];half[4])" -> {{2,3},{4}}.
std::vector<std::vector<int64_t>> parse_shapes(std::string_view text) {
  std::vector<std::vector<int64_t>> shapes;
  for (size_t at = 0; (at = text.find('[', at)) != std::string_view::npos; ++at) {
    const size_t end = text.find(']', at);
    if (end == std::string_view::npos) break;
    std::vector<int64_t> dimensions;
    for (size_t p = at + 1; p < end;) {
      int64_t value = 0;
      const auto [next, error] = std::from_chars(text.data() + p, text.data() + end, value);
      if (error != std::errc()) break;
      dimensions.push_back(value);
      p = static_cast<size_t>(next - text.data()) + 1;
    }
    shapes.push_back(std::move(dimensions));
  }
  return shapes;
}

double product(const std::vector<int64_t>& values) {
  double p = 1;
  for (const int64_t v : values) p *= static_cast<double>(v);
  return p;
}

}  // namespace

double flops_from_shapes(std::string_view type, std::string_view shape_text) {
  if (shape_text.empty()) return 0;
  const auto shapes = parse_shapes(shape_text);
  if (shapes.size() < 2) return 0;
  const auto& a = shapes[0];
  const auto& b = shapes[1];
  if (type == "MatMul" || type == "_FusedMatMul" || type.starts_with("BatchMatMul")) {
    if (a.size() < 2 || b.size() < 2) return 0;
    // Which sides are transposed is not recorded: the length both have in common is contracted.
    const size_t n = a.size();
    const int64_t k =
        (a[n - 1] == b[b.size() - 2] || a[n - 1] == b[b.size() - 1]) ? a[n - 1] : a[n - 2];
    if (k == 0) return 0;
    double batch = 1;
    for (size_t i = 0; i + 2 < n; ++i) batch *= static_cast<double>(a[i]);
    const double m =
        static_cast<double>(a[n - 1]) * static_cast<double>(a[n - 2]) / static_cast<double>(k);
    const double columns = static_cast<double>(b[b.size() - 1]) *
                           static_cast<double>(b[b.size() - 2]) / static_cast<double>(k);
    return 2.0 * batch * m * columns * static_cast<double>(k);
  }
  if ((type == "Conv2D" || type == "_FusedConv2D") && a.size() == 4 && b.size() == 4) {
    // Input NHWC or NCHW, filter HWIO: each output position costs the whole filter.
    const double positions = product(a) / std::max<double>(1.0, static_cast<double>(b[2]));
    return 2.0 * positions * product(b);
  }
  return 0;
}

}  // namespace sonde::capture
