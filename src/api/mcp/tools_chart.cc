// A chart of a scalar as an image, for what numbers do not show at a glance.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/mcp/tool.h"
#include "base/strings.h"
#include "codec/json.h"
#include "image/chart.h"

namespace sonde::api::mcp {
namespace {

constexpr int64_t kPixelsPerToken = 750;  // what models of today count for an image

Result<std::string> chart(const Call& call) {
  const auto snapshot = call.context.store.snapshot();
  SONDE_TRY(tag, call.text("tag"));
  SONDE_TRY(runs, runs_of(call, *snapshot));
  SONDE_TRY(axis, call.text("x", "step"));
  SONDE_TRY(width, call.integer("width", 800, image::kLeastChartWidth, image::kMostChartSide));
  SONDE_TRY(height, call.integer("height", 450, image::kLeastChartHeight, image::kMostChartSide));
  if (axis != "step" && axis != "relative")
    return fail(Code::kInvalid, "'x' must be 'step' or 'relative'");
  // An image that is larger than the budget is drawn smaller, not refused.
  const size_t tokens = call.budget_bytes / kBytesPerToken;
  const double most = static_cast<double>(tokens) * static_cast<double>(kPixelsPerToken);
  if (const double share = most / (static_cast<double>(width) * static_cast<double>(height));
      share < 1) {
    width = static_cast<int64_t>(static_cast<double>(width) * std::sqrt(share));
    height = static_cast<int64_t>(static_cast<double>(height) * std::sqrt(share));
  }
  const JsonValue* log = call.arguments.find("log");
  image::Chart drawn{tag,
                     axis == "step" ? "step" : "seconds since the first point",
                     {},
                     log && log->boolean,
                     static_cast<uint32_t>(width),
                     static_cast<uint32_t>(height)};
  std::string lines;
  size_t having = 0;
  for (const store::RunSnapshot* run : runs) {
    const store::Series* series = run->find(tag);
    if (!series || !series->is_scalar()) continue;
    if (++having > image::kMostChartLines) continue;
    query::Points points = points_of(*series);
    const auto bad =
        std::ranges::count_if(points.values, [](double v) { return !std::isfinite(v); });
    lines += lines.empty() ? "{\"run\":" : ",{\"run\":";
    append_json_string(lines, run->name);
    lines += fmt::format(R"(,"colour":"{}","points":{},"not_finite":{}}})",
                         image::chart_colour(drawn.lines.size()), points.size(), bad);
    image::ChartLine& line = drawn.lines.emplace_back();
    line.name = run->name;
    for (size_t i = 0; i < points.size(); ++i)
      line.x.push_back(axis == "step" ? static_cast<double>(points.steps[i])
                                      : points.walls[i] - points.walls.front());
    line.y = std::move(points.values);
  }
  if (drawn.lines.empty())
    return fail(
        Code::kNotFound,
        fmt::format("no such run has a scalar tag '{}'; list_tags shows what there is", tag));
  SONDE_TRY(png, image::draw_chart(drawn));
  std::string out = "{\"tag\":";
  append_json_string(out, tag);
  out +=
      fmt::format(R"(,"x":"{}","log":{},"image":{{"width":{},"height":{},"bytes":{}}},"lines":[)",
                  axis, drawn.log_y, std::max<int64_t>(width, image::kLeastChartWidth),
                  std::max<int64_t>(height, image::kLeastChartHeight), png.size());
  out += lines + "]";
  if (having > drawn.lines.size())
    out += fmt::format(R"(,"left_out":"{} of {} runs are not drawn; name runs")",
                       having - drawn.lines.size(), having);
  if (call.png) *call.png = std::move(png);
  return out + "}";
}

constexpr Tool kTools[] = {
    {"chart", "Chart of a scalar",
     "A line chart of a scalar tag as PNG, up to 12 runs, every point drawn. Numbers come from "
     "query_series.",
     R"("tag":{"type":"string"},"runs":{"type":"array","items":{"type":"string"},"description":"names of runs, all unless given"},"filter":{"type":"string","description":"regular expression over run names"},"x":{"enum":["step","relative"]},"log":{"type":"boolean","description":"logarithmic values"},"width":{"type":"integer"},"height":{"type":"integer"})",
     R"(["tag"])", chart},
};

}  // namespace

std::span<const Tool> chart_tools() { return kTools; }

}  // namespace sonde::api::mcp
