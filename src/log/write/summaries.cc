// Scalars, tensors, texts, histograms, PR curves, meshes: the summaries made of numbers and words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "codec/fields/event.h"
#include "codec/fields/tensor.h"
#include "log/write/histogram.h"
#include "log/write/values.h"
#include "sonde/summary.h"

namespace sonde::summary {

using namespace sonde::writer;

Summary scalar(std::string_view tag, double value, const About& about) {
  return one_value(tag, [&](wire::Encoder& out) {
    out.message(fields::SummaryValue::kTensor, [&](wire::Encoder& tensor) {
      const auto rounded = static_cast<float>(value);
      tensor.varint(fields::Tensor::kDtype, static_cast<uint64_t>(DataType::kFloat32));
      put_shape(tensor, {});
      tensor.bytes(fields::Tensor::kContent,
                   {reinterpret_cast<const char*>(&rounded), sizeof rounded});
      if (!std::isnan(value) && static_cast<double>(rounded) != value) tensor.real(6, value);
    });
    put_metadata(out, {"scalars", {}}, about);
  });
}

Summary histogram(std::string_view tag, const Array& data, int buckets, const About& about) {
  const EqualBuckets made = equal_buckets(data, buckets);
  const Array rows = array(made.rows, {static_cast<int64_t>(made.rows.size() / 3), 3});
  return one_value(tag, [&](wire::Encoder& value) {
    put_tensor(value, rows);
    value.message(fields::SummaryValue::kMetadata, [&](wire::Encoder& metadata) {
      metadata.message(fields::SummaryMetadata::kPluginData, [](wire::Encoder& plugin) {
        plugin.bytes(fields::PluginData::kName, "histograms");
      });
      if (!about.display_name.empty())
        metadata.bytes(fields::SummaryMetadata::kDisplayName, about.display_name);
      if (!about.description.empty())
        metadata.bytes(fields::SummaryMetadata::kDescription, about.description);
      if (made.nan + made.positive_infinite + made.negative_infinite == 0) return;
      // A field of our own that TensorBoard skips: how many elements no bucket can hold.
      metadata.message(fields::SummaryMetadata::kOddValues, [&](wire::Encoder& odd) {
        odd.varint(1, made.nan);
        odd.varint(2, made.positive_infinite);
        odd.varint(3, made.negative_infinite);
      });
    });
  });
}

Summary tensor(std::string_view tag, const Array& data, const Plugin& plugin, const About& about) {
  return one_value(tag, [&](wire::Encoder& value) {
    put_tensor(value, data);
    put_metadata(value, plugin, about);
  });
}

Summary string_tensor(std::string_view tag, std::span<const std::string> cells,
                      const std::vector<int64_t>& shape, const Plugin& plugin, const About& about) {
  if (Array{nullptr, DataType::kUint8, shape}.count() != cells.size())
    return refused(
        tag, fmt::format("{} texts do not fill the shape {}", cells.size(), shape_text(shape)));
  return one_value(tag, [&](wire::Encoder& value) {
    put_strings(value, cells, shape);
    put_metadata(value, plugin, about);
  });
}

Summary texts(std::string_view tag, std::span<const std::string> cells,
              const std::vector<int64_t>& shape, const About& about) {
  return string_tensor(tag, cells, shape, {"text", {}}, about);
}

Summary text(std::string_view tag, std::string_view markdown, const About& about) {
  const std::string cell(markdown);
  return texts(tag, std::span(&cell, 1), {}, about);
}

Summary pr_curve_raw(std::string_view tag, std::span<const float> rows, int num_thresholds,
                     const About& about) {
  if (num_thresholds < 1 || rows.size() != static_cast<size_t>(num_thresholds) * 6)
    return refused(tag, fmt::format("a PR curve of {} thresholds needs {} numbers, not {}",
                                    num_thresholds, num_thresholds * 6, rows.size()));
  std::string content;
  wire::Encoder(content).varint(2, static_cast<uint64_t>(num_thresholds));
  return tensor(tag, Array{rows.data(), DataType::kFloat32, {6, num_thresholds}},
                {"pr_curves", content}, about);
}

// A prediction p counts for all thresholds up to floor(p (n - 1)); counts are then summed from the
// right, which is how TensorBoard's own op and torch compute the curve.
Summary pr_curve(std::string_view tag, const PrCurveData& data, const About& about) {
  const size_t count = data.labels.count();
  if (data.predictions.count() != count || (data.weights && data.weights->count() != count))
    return refused(tag, "labels, predictions and weights of a PR curve must be equally many");
  if (data.num_thresholds < 2) return refused(tag, "a PR curve needs two thresholds or more");
  const auto n = static_cast<size_t>(data.num_thresholds);
  std::vector<double> tp(n, 0), fp(n, 0);
  for (size_t i = 0; i < count; ++i) {
    const double place = std::floor(element(data.predictions, i) * static_cast<double>(n - 1));
    if (!(place >= 0 && place <= static_cast<double>(n - 1))) continue;
    const double weight = data.weights ? element(*data.weights, i) : 1;
    const double label = element(data.labels, i);
    tp[static_cast<size_t>(place)] += label * weight;
    fp[static_cast<size_t>(place)] += (1 - label) * weight;
  }
  for (size_t i = n - 1; i-- > 0;) {
    tp[i] += tp[i + 1];
    fp[i] += fp[i + 1];
  }
  std::vector<float> rows(n * 6);
  constexpr double kLeast = 1e-7;  // TensorBoard's guard against 0 / 0
  for (size_t i = 0; i < n; ++i) {
    const double fn = tp[0] - tp[i];
    const double column[] = {tp[i],
                             fp[i],
                             fp[0] - fp[i],
                             fn,
                             tp[i] / std::max(kLeast, tp[i] + fp[i]),
                             tp[i] / std::max(kLeast, tp[i] + fn)};
    for (size_t row = 0; row < 6; ++row) rows[row * n + i] = static_cast<float>(column[row]);
  }
  return pr_curve_raw(tag, rows, data.num_thresholds, about);
}

namespace {

enum MeshPart : uint32_t { kVertex = 1, kFace = 2, kColor = 3 };

void add_mesh_part(std::string& summary, std::string_view tag, const Array& data, MeshPart part,
                   uint32_t components, const Mesh& mesh, const About& about) {
  constexpr std::string_view kSuffix[] = {"", "_VERTEX", "_FACE", "_COLOR"};
  std::string content;
  wire::Encoder plugin(content);
  plugin.bytes(2, tag);
  plugin.varint(3, part);
  plugin.bytes(5, mesh.json_config.empty() ? std::string_view("{}") : mesh.json_config);
  std::string dims;
  wire::Encoder packed(dims);
  for (const int64_t d : data.shape) packed.raw_varint(static_cast<uint64_t>(d));
  plugin.bytes(6, dims);
  plugin.varint(7, components);
  add_value(summary, std::string(tag) + std::string(kSuffix[part]), [&](wire::Encoder& value) {
    put_tensor(value, data);
    put_metadata(value, {"mesh", content}, about);
  });
}

}  // namespace

Summary mesh(std::string_view tag, const Mesh& mesh, const About& about) {
  Summary made;
  const auto shaped = [](Array data) {
    if (data.shape.size() == 2) data.shape.insert(data.shape.begin(), 1);
    return data;
  };
  std::vector<std::pair<MeshPart, Array>> parts{{kVertex, shaped(mesh.vertices)}};
  if (mesh.faces) parts.emplace_back(kFace, shaped(*mesh.faces));
  if (mesh.colors) parts.emplace_back(kColor, shaped(*mesh.colors));
  uint32_t components = 0;
  for (const auto& [part, data] : parts) {
    if (data.shape.size() != 3 || data.shape[2] != 3)
      return refused(tag,
                     "parts of a mesh have the shape [batch, n, 3], not " + shape_text(data.shape));
    components |= 1u << part;
  }
  for (const auto& [part, data] : parts)
    add_mesh_part(made.bytes, tag, data, part, components, mesh, about);
  return made;
}

}  // namespace sonde::summary
