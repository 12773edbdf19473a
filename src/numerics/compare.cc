#include "numerics/compare.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <unordered_map>

#include "numerics/health_map.h"

namespace sonde::numerics {
namespace {

std::string key_of(const Data& data, const TraceRow& row) {
  return fmt::format("{}\n{}", lasting_name(data, data.traced[row.traced]), row.step);
}

bool is_same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// What the rows alone show; where they know the size of values, records need not be read.
bool can_differ(const TraceRow& a, const TraceRow& b, double tolerance) {
  if (a.bad != b.bad || !is_same(a.wrong, b.wrong)) return true;
  if (std::isnan(a.rms) || std::isnan(b.rms)) return true;
  const double left = static_cast<double>(a.rms), right = static_cast<double>(b.rms);
  return std::fabs(left - right) > tolerance * std::max(std::fabs(left), std::fabs(right));
}

Link link_of(const Data& data, const TraceRow& row, size_t index, DetailReader& reader) {
  const Traced& traced = data.traced[row.traced];
  Link link;
  link.op_name = data.texts.text(traced.op_name);
  link.trace = static_cast<int64_t>(index);
  if (const Op* op = data.op(traced)) {
    link.op_type = data.texts.text(op->type);
    std::vector<std::string_view> ids;
    for (const uint32_t id : op->frame_ids) ids.push_back(data.texts.text(id));
    link.where = user_place(data, ids);
  }
  if (auto detail = reader.trace(traced.file, row.offset)) {
    link.health = std::move(detail->health);
    link.numbers = detail->numbers;
  }
  return link;
}

std::string difference(const Link& a, const Link& b, double tolerance) {
  const auto counts = [](const char* name, double left, double right) {
    return left >= 0 && right >= 0 && left != right
               ? fmt::format("{:g} and {:g} {}", left, right, name)
               : std::string();
  };
  for (const std::string& text : {counts("NaN", a.health.nan, b.health.nan),
                                  counts("+inf", a.health.pos_inf, b.health.pos_inf),
                                  counts("-inf", a.health.neg_inf, b.health.neg_inf),
                                  counts("values", a.health.size, b.health.size)}) {
    if (!text.empty()) return text;
  }
  if ((a.health.bad != kNone) != (b.health.bad != kNone))
    return a.health.bad != kNone ? "bad and finite" : "finite and bad";
  if (a.numbers && b.numbers && std::isfinite(a.numbers->rms) && std::isfinite(b.numbers->rms)) {
    const double left = static_cast<double>(a.numbers->rms);
    const double right = static_cast<double>(b.numbers->rms);
    if (std::fabs(left - right) > tolerance * std::max(std::fabs(left), std::fabs(right)))
      return fmt::format("rms {:.6g} and {:.6g}", left, right);
    return {};
  }
  for (const std::string& text :
       {counts("zeros", a.health.zero, b.health.zero),
        counts("negative values", a.health.negative, b.health.negative)}) {
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace

Comparison compare(const Dump& first, const Dump& second, double tolerance) {
  const auto views = views_of(std::array{&first, &second});
  const auto &a = views.at(&first), &b = views.at(&second);
  DetailReader read_a(first), read_b(second);
  std::unordered_map<std::string, size_t> rows;
  for (size_t i = 0; i < b->traces.size(); ++i) rows.emplace(key_of(*b, b->traces[i]), i);
  Comparison result;
  std::vector<bool> has_parted(a->traced.size());
  for (size_t i = 0; i < a->traces.size(); ++i) {
    const auto found = rows.find(key_of(*a, a->traces[i]));
    if (found == rows.end()) {
      ++result.only_first;
      continue;
    }
    ++result.compared;
    const TraceRow &row = a->traces[i], &other = b->traces[found->second];
    if (has_parted[row.traced] || result.divergences.size() >= kMostDivergences ||
        !can_differ(row, other, tolerance))
      continue;
    Link left = link_of(*a, row, i, read_a);
    Link right = link_of(*b, other, found->second, read_b);
    std::string what = difference(left, right, tolerance);
    if (what.empty()) continue;
    has_parted[row.traced] = true;
    result.divergences.push_back({std::move(left), std::move(right), row.step,
                                  !first.files().framework.empty(), std::move(what)});
  }
  result.only_second = b->traces.size() - result.compared;
  return result;
}

std::string sentence(const Comparison& comparison) {
  if (comparison.compared == 0) return "The two dumps have no tensor in common";
  if (comparison.divergences.empty())
    return fmt::format("No difference in {} tensors", comparison.compared);
  const Divergence& divergence = comparison.divergences.front();
  return fmt::format(
      "First difference: `{}`{} in {} {}: {}", divergence.first.op_name,
      divergence.first.where.is_known() ? " at " + divergence.first.where.text() : "",
      divergence.has_steps ? "step" : "run",
      divergence.has_steps ? divergence.step : divergence.step + 1, divergence.what);
}

}  // namespace sonde::numerics
