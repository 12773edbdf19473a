#include "log/query/hparams/metric.h"

#include <algorithm>
#include <cmath>

namespace sonde::query {
namespace {

using What = MetricSpec::What;

// The step at which a series is smallest or largest; nothing when no value is finite.
std::optional<Step> best_step(const SeriesReader& lens, What what) {
  const bool lowest = what == What::kAtMin;
  double best = lowest ? kInfinity : -kInfinity;
  std::optional<Step> step;
  const auto look = [&](const Points& points) {
    for (size_t i = 0; i < points.size(); ++i) {
      const double value = points.values[i];
      if (!std::isfinite(value) || (step && !(lowest ? value < best : value > best))) continue;
      best = value;
      step = points.steps[i];
    }
  };
  if (lens.is_small()) {
    look(lens.all());
    return step;
  }
  // Only the first chunk that holds the extreme needs reading.
  const auto& chunks = lens.pyramid().chunks;
  for (size_t c = 0; c < chunks.size(); ++c) {
    const bool holds =
        lowest ? chunks[c].min == lens.pyramid().min : chunks[c].max == lens.pyramid().max;
    if (!holds || chunks[c].finite == 0) continue;
    Points points;
    lens.read(lens.pyramid().chunk_begin(c), lens.pyramid().chunk_end(c), points);
    look(points);
    return step;
  }
  return step;
}

// The value at a step: the last point at or before it.
Cell value_at(const SeriesReader& lens, Step step) {
  if (!lens.run(Axis::kStep).sorted()) {
    Points all;
    lens.read(0, lens.size(), all);
    std::optional<size_t> found;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all.steps[i] <= step && (!found || all.steps[i] >= all.steps[*found])) found = i;
    }
    return found ? Cell::of(all.values[*found]) : Cell{};
  }
  const uint64_t above = lens.upper(Axis::kStep, static_cast<double>(step));
  if (above == 0) return {};
  Points point;
  lens.read(above - 1, above, point);
  return Cell::of(point.values[0]);
}

Cell one_point(const ViewReader& reader, uint64_t at, bool wants_step) {
  Points point;
  reader.read(at, at + 1, point);
  return Cell::of(wants_step ? static_cast<double>(point.steps[0]) : point.values[0]);
}

struct Totals {
  double min = kInfinity, max = -kInfinity, sum = 0;
  uint64_t finite = 0;
};

Totals totals_of(const SeriesReader& lens) {
  Totals totals;
  if (!lens.is_small()) {
    totals.min = lens.pyramid().min;
    totals.max = lens.pyramid().max;
    totals.finite = lens.size() - lens.pyramid().non_finite;
    for (const Chunk& chunk : lens.pyramid().chunks) totals.sum += chunk.sum;
    return totals;
  }
  for (const double value : lens.all().values) {
    if (!std::isfinite(value)) continue;
    totals.min = std::min(totals.min, value);
    totals.max = std::max(totals.max, value);
    totals.sum += value;
    ++totals.finite;
  }
  return totals;
}

}  // namespace

MetricSpec MetricSpec::parse(std::string_view text) {
  for (const auto& [name, what] :
       {std::pair<std::string_view, What>{":at_min:", What::kAtMin}, {":at_max:", What::kAtMax}}) {
    if (const size_t at = text.rfind(name); at != text.npos)
      return {std::string(text.substr(0, at)), what, std::string(text.substr(at + name.size()))};
  }
  static constexpr std::pair<std::string_view, What> kEndings[] = {
      {":last", What::kLast}, {":first", What::kFirst}, {":min", What::kMin},  {":max", What::kMax},
      {":mean", What::kMean}, {":count", What::kCount}, {":step", What::kStep}};
  for (const auto& [ending, what] : kEndings) {
    if (text.ends_with(ending))
      return {std::string(text.substr(0, text.size() - ending.size())), what, {}};
  }
  return {std::string(text), What::kLast, {}};
}

Cell metric(const store::RunSnapshot& run, const MetricSpec& spec, uint64_t source) {
  const store::Series* series = run.find(spec.tag);
  if (!series || !series->is_scalar()) return {};
  const SeriesKey key{source, run.id, store::View::kNewest};
  const ViewReader reader(*series, store::View::kNewest);
  if (reader.size() == 0) return {};
  switch (spec.what) {
    case What::kLast:
      return one_point(reader, reader.size() - 1, false);
    case What::kStep:
      return one_point(reader, reader.size() - 1, true);
    case What::kFirst:
      return one_point(reader, 0, false);
    case What::kCount:
      return Cell::of(static_cast<double>(reader.size()));
    case What::kAtMin:
    case What::kAtMax: {
      const store::Series* other = run.find(spec.other);
      if (!other || !other->is_scalar() || other->size(store::View::kNewest) == 0) return {};
      const auto step = best_step(SeriesReader(*other, key, nullptr), spec.what);
      return step ? value_at(SeriesReader(*series, key, nullptr), *step) : Cell{};
    }
    case What::kMin:
    case What::kMax:
    case What::kMean:
      break;
  }
  const Totals totals = totals_of(SeriesReader(*series, key, nullptr));
  if (totals.finite == 0) return {};
  if (spec.what == What::kMean) return Cell::of(totals.sum / static_cast<double>(totals.finite));
  return Cell::of(spec.what == What::kMin ? totals.min : totals.max);
}

}  // namespace sonde::query
