// GET pr_curves: precision-recall curves of one tag, one step of each run.
#include <algorithm>

#include "api/v1/area.h"
#include "api/v1/support.h"
#include "log/event/tensor.h"
#include "log/event/value.h"

namespace sonde::api::v1 {
namespace {

// Rows of the tensor that the plug-in writes.
enum Row : size_t {
  kTruePositives,
  kFalsePositives,
  kTrueNegatives,
  kFalseNegatives,
  kPrecision,
  kRecall,
  kRows
};

struct Curve {
  std::vector<double> values;  // kRows rows
  size_t columns = 0;
  size_t kept = 0;  // without the thresholds at the end at which nothing was called positive

  double at(Row row, size_t column) const { return values[row * columns + column]; }
};

Result<Curve> curve_at(const Context& context, const store::Reference& where) {
  SONDE_TRY(const payload, context.store.blobs().event(where));
  SONDE_TRY(const value, event::find_value(as_bytes(payload), where.value));
  if (value.kind != event::ValueKind::kTensor)
    return fail(Code::kUnsupported, "the value holds no curve");
  SONDE_TRY(const tensor, event::parse_tensor(value.body));
  if (tensor.dims.size() != 2 || tensor.dims[0] != kRows)
    return fail(Code::kUnsupported, "a precision-recall curve has six rows, this value has not");
  Curve curve;
  SONDE_TRY(values, event::decode_doubles(tensor));
  curve.values = std::move(values);
  curve.columns = static_cast<size_t>(tensor.dims[1]);
  curve.kept = curve.columns;
  while (curve.kept > 1 && curve.at(kTruePositives, curve.kept - 1) < 1 &&
         curve.at(kFalsePositives, curve.kept - 1) < 1) {
    --curve.kept;
  }
  return curve;
}

void write_curve(JsonWriter& json, const Curve& curve) {
  const auto row = [&](std::string_view name, Row which) {
    json.key(name).array([&] {
      for (size_t i = 0; i < curve.kept; ++i) json.number(curve.at(which, i));
    });
  };
  json.key("thresholds").array([&] {
    const double last = curve.columns > 1 ? static_cast<double>(curve.columns - 1) : 1;
    for (size_t i = 0; i < curve.kept; ++i) json.number(static_cast<double>(i) / last);
  });
  row("precision", kPrecision);
  row("recall", kRecall);
  row("tp", kTruePositives);
  row("fp", kFalsePositives);
  row("tn", kTrueNegatives);
  row("fn", kFalseNegatives);
}

// The newest point at or before `step`, else the first one.
const store::BlobPoint* point_at(const std::vector<store::BlobPoint>& points,
                                 std::optional<int64_t> step) {
  if (points.empty()) return nullptr;
  if (!step) return &points.back();
  const store::BlobPoint* best = nullptr;
  for (const store::BlobPoint& point : points) {
    if (point.step <= *step && (!best || point.step >= best->step)) best = &point;
  }
  return best ? best : &points.front();
}

void write_run(JsonWriter& json, const Context& context, const store::RunSnapshot& run,
               const std::vector<store::BlobPoint>& points, const store::BlobPoint& point) {
  json.object([&] {
    json.key("run").string(run.name);
    json.key("id").number(static_cast<uint32_t>(run.id));
    json.key("step").safe_integer(point.step);
    json.key("wall").number(point.wall_time);
    write_steps(json, points);
    auto curve = curve_at(context, point.where);
    if (!curve) json.key("damage").string(curve.error().text);
    write_curve(json, curve ? *curve : Curve{});
  });
}

Answer pr_curves(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  SONDE_ANSWER(const tag, text_param(request, "tag"));
  SONDE_ANSWER(const view, view_param(request));
  std::optional<int64_t> step;
  if (request.param("step")) {
    SONDE_ANSWER(const given, integer_param(request, "step", 0));
    step = given;
  }
  const auto names = request.params("run");
  for (const std::string_view name : names) {
    if (!snapshot->find(name))
      return error({Code::kNotFound, "there is no run '" + std::string(name) + "'"}, "run", kNames);
  }
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("rev").number(snapshot->revision);
    json.key("tag").string(tag);
    json.key("runs").array([&] {
      for (const auto& run : snapshot->runs) {
        if (!names.empty() && std::find(names.begin(), names.end(), run->name) == names.end())
          continue;
        const store::Series* series = run->find(tag);
        if (!series || kind_of(*series) != "pr_curve") continue;
        const auto points = points_of(*series, view);
        const store::BlobPoint* point = point_at(points, step);
        if (point) write_run(json, context, *run, points, *point);
      }
    });
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/pr_curves", pr_curves}};

}  // namespace

std::span<const Route> pr_curve_routes() { return kRoutes; }

}  // namespace sonde::api::v1
