// TensorBoard's PR curves plug-in.
#include <algorithm>

#include "api/tensorboard/areas.h"
#include "api/tensorboard/scalar_json.h"
#include "api/tensorboard/shared.h"
#include "log/event/tensor.h"

namespace sonde::api::tensorboard {
namespace {

Answer tags(const Context& context, const Request&) {
  return tag_listing(context, store::DataClass::kTensor, "pr_curves");
}

enum Row {
  kTruePositives,
  kFalsePositives,
  kTrueNegatives,
  kFalseNegatives,
  kPrecision,
  kRecall,
  kRows
};

struct Curve {
  std::vector<double> values;  // six rows
  size_t columns = 0;

  double at(Row row, size_t column) const { return values[row * columns + column]; }
};

Result<Curve> curve_of(const event::ValueView& value) {
  if (value.kind != event::ValueKind::kTensor) return fail(Code::kUnsupported, "no PR curve");
  SONDE_TRY(const tensor, event::parse_tensor(value.body));
  if (tensor.dims.size() != 2 || tensor.dims[0] != kRows) {
    return fail(Code::kUnsupported, "a PR curve has six rows");
  }
  Curve curve;
  SONDE_TRY(values, event::decode_doubles(tensor));
  curve.values = std::move(values);
  curve.columns = static_cast<size_t>(tensor.dims[1]);
  return curve;
}

// Thresholds at the end where nothing was called positive say nothing; one always stays.
size_t kept_columns(const Curve& curve) {
  size_t last = curve.columns;
  while (last > 1 && static_cast<int64_t>(curve.at(kTruePositives, last - 1)) +
                             static_cast<int64_t>(curve.at(kFalsePositives, last - 1)) ==
                         0) {
    --last;
  }
  return last;
}

std::string json_of(const store::BlobPoint& point, const Curve& curve) {
  const size_t kept = kept_columns(curve);
  std::string out;
  JsonWriter json(out);
  const auto reals = [&](std::string_view name, Row row) {
    json.key(name).array([&] {
      for (size_t i = 0; i < kept; ++i) json.number(curve.at(row, i));
    });
  };
  const auto counts = [&](std::string_view name, Row row) {
    json.key(name).array([&] {
      for (size_t i = 0; i < kept; ++i) json.number(static_cast<int64_t>(curve.at(row, i)));
    });
  };
  json.object([&] {
    json.key("wall_time").number(point.wall_time);
    json.key("step").number(point.step);
    reals("precision", kPrecision);
    reals("recall", kRecall);
    counts("true_positives", kTruePositives);
    counts("false_positives", kFalsePositives);
    counts("true_negatives", kTrueNegatives);
    counts("false_negatives", kFalseNegatives);
    json.key("thresholds").array([&] {
      const double width = curve.columns > 1 ? 1.0 / static_cast<double>(curve.columns - 1) : 0;
      for (size_t i = 0; i < kept; ++i) {
        json.number(i > 0 && i + 1 == curve.columns ? 1.0 : static_cast<double>(i) * width);
      }
    });
  });
  return out;
}

Answer curves(const Context& context, const Request& request) {
  const std::vector<std::string_view> runs = request.params("run");
  const auto tag = request.param("tag");
  if (runs.empty()) return bad_request("No runs provided when fetching PR curve data");
  if (!tag || tag->empty()) return bad_request("No tag provided when fetching PR curve data");
  const auto snapshot = context.store.snapshot();
  const uint64_t limit = samples(context, "pr_curves", kDefaultSamples);
  std::string out;
  JsonWriter json(out);
  std::vector<std::string_view> done;
  for (const std::string_view run : runs) {
    if (!find_series(*snapshot, run, *tag, store::DataClass::kTensor, "pr_curves")) {
      return bad_request("No PR curves could be found for run " + python_name(run) + " and tag " +
                         python_name(tag));
    }
  }
  json.object([&] {
    for (const std::string_view run : runs) {
      if (std::find(done.begin(), done.end(), run) != done.end()) continue;
      done.push_back(run);
      const auto points = query::blob_points(
          *find_series(*snapshot, run, *tag, store::DataClass::kTensor, "pr_curves"), limit);
      std::vector<std::string> pieces(points.size());
      for_each_part(context, points.size(), [&](size_t i) {
        std::string payload;
        const auto value = read_value(context, points[i].where, payload);
        if (!value) return;
        if (const auto curve = curve_of(*value)) pieces[i] = json_of(points[i], *curve);
      });
      std::erase_if(pieces, [](const std::string& piece) { return piece.empty(); });
      json.key(run).raw("[" + joined(pieces) + "]");
    }
  });
  return Answer::json(std::move(out));
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/pr_curves/tags", tags},
    {"*", "/data/plugin/pr_curves/pr_curves", curves},
};

}  // namespace

std::span<const Route> pr_curves_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
