// POST histograms: the histograms of one series over its steps, in common bins or as written.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/v1/area.h"
#include "api/v1/support.h"
#include "log/event/blob.h"
#include "log/event/value.h"
#include "log/query/media/distributions.h"
#include "log/query/media/histogram.h"
#include "log/query/media/samples.h"
#include "log/query/series/column_file.h"

namespace sonde::api::v1 {
namespace {

constexpr int64_t kMaxSteps = 5000, kMaxBins = 2048;

struct Asked {
  Found found;
  std::optional<std::pair<double, double>> range;  // of steps
  size_t steps = 200;
  size_t bins = 60;  // 0: as written
  store::View view = store::View::kNewest;
};

Result<Asked> asked_in(const store::Snapshot& snapshot, const JsonValue& body) {
  Asked asked;
  const JsonValue* run = body.find("run");
  if (!run) return fail(Code::kInvalid, "'run' is missing");
  SONDE_TRY(const found_run, run_in(snapshot, *run));
  SONDE_TRY(const tag, text_in(body, "tag"));
  SONDE_TRY(found, find_series(snapshot, found_run->name, tag));
  if (kind_of(*found.series) != "histogram")
    return fail(Code::kUnsupported,
                fmt::format("tag '{}' holds {} data, not histograms", tag, kind_of(*found.series)));
  asked.found = found;
  SONDE_TRY(const steps, integer_in(body, "steps", 200));
  if (steps < 1 || steps > kMaxSteps)
    return fail(Code::kInvalid, fmt::format("'steps' is not in 1…{}", kMaxSteps));
  asked.steps = static_cast<size_t>(steps);
  // null means something here, so `find`, which hides it, is not enough.
  const bool raw = std::any_of(body.members.begin(), body.members.end(), [](const auto& member) {
    return member.first == "bins" && member.second.is_null();
  });
  SONDE_TRY(const bins, integer_in(body, "bins", 60));
  if (bins < 1 || bins > kMaxBins)
    return fail(Code::kInvalid, fmt::format("'bins' is not in 1…{}", kMaxBins));
  asked.bins = raw ? 0 : static_cast<size_t>(bins);
  if (const JsonValue* range = body.find("range")) {
    const bool pair = range->is_array() && range->items.size() == 2;
    const auto from = pair ? range->items[0].number() : std::nullopt;
    const auto to = pair ? range->items[1].number() : std::nullopt;
    if (!from || !to) return fail(Code::kInvalid, "'range' is not a list of two steps");
    asked.range = {*from, *to};
  }
  SONDE_TRY(view, view_in(body));
  asked.view = view;
  return asked;
}

struct Entry {
  store::BlobPoint point;
  std::vector<event::Bucket> buckets;
  query::HistogramStats stats;
  bool ok = false;
};

Entry read_entry(const Context& context, const store::BlobPoint& point) {
  Entry entry{point, {}, {}, false};
  const auto payload = context.store.blobs().event(point.where);
  if (!payload) return entry;
  const auto value = event::find_value(as_bytes(*payload), point.where.value);
  if (!value) return entry;
  auto buckets = event::histogram(*value);
  if (!buckets) return entry;
  entry.buckets = std::move(*buckets);
  entry.stats = query::stats_of(*value, entry.buckets);
  entry.ok = true;
  return entry;
}

// The steps asked for, evenly thinned; damaged ones are left out.
std::vector<Entry> entries_of(const Context& context, const Asked& asked, size_t& total) {
  auto points = points_of(*asked.found.series, asked.view);
  if (asked.range) {
    std::erase_if(points, [&](const store::BlobPoint& point) {
      const auto step = static_cast<double>(point.step);
      return step < asked.range->first || step > asked.range->second;
    });
  }
  total = points.size();
  const auto chosen = query::even_positions(points.size(), asked.steps);
  std::vector<Entry> entries(chosen.size());
  context.pool.for_each(chosen.size(),
                        [&](size_t i) { entries[i] = read_entry(context, points[chosen[i]]); });
  std::erase_if(entries, [](const Entry& entry) { return !entry.ok; });
  return entries;
}

std::vector<query::Column> common_columns(const std::vector<Entry>& entries) {
  std::vector<double> steps, walls, stats;
  std::vector<float> percentiles;
  for (const Entry& entry : entries) {
    steps.push_back(static_cast<double>(entry.point.step));
    walls.push_back(entry.point.wall_time);
    const auto& s = entry.stats;
    stats.insert(stats.end(), {s.min, s.max, s.num, s.sum, s.sum_squares, s.nan});
    // TensorBoard gives zeros for a histogram without values, which would be drawn as a fall to 0.
    double total = 0;
    for (const event::Bucket& bucket : entry.buckets) total += bucket.count;
    const bool known = std::isfinite(total) && total > 0;
    for (const query::Quantile& quantile : query::compressed(entry.buckets))
      percentiles.push_back(known ? static_cast<float>(quantile.value) : NAN);
  }
  return {query::Column::of("step", steps), query::Column::of("wall", walls),
          query::Column::of("pct", percentiles), query::Column::of("stats", stats)};
}

void add_bins(const std::vector<Entry>& entries, size_t bins, std::vector<query::Column>& columns) {
  std::vector<std::vector<event::Bucket>> all;
  for (const Entry& entry : entries) all.push_back(entry.buckets);
  const query::Interval range = query::common_range(all);
  std::vector<float> counts;
  for (const Entry& entry : entries) {
    const auto row = query::spread(entry.buckets, range, bins);
    counts.insert(counts.end(), row.begin(), row.end());
  }
  columns.push_back(query::Column::of("edges", query::equal_edges(range, bins)));
  columns.push_back(query::Column::of("count", counts));
}

void add_raw(const std::vector<Entry>& entries, std::vector<query::Column>& columns) {
  std::vector<double> left, right, weight;
  std::vector<uint32_t> k;
  for (const Entry& entry : entries) {
    k.push_back(static_cast<uint32_t>(entry.buckets.size()));
    for (const event::Bucket& bucket : entry.buckets) {
      left.push_back(bucket.left);
      right.push_back(bucket.right);
      weight.push_back(bucket.count);
    }
  }
  columns.push_back(query::Column::of("left", left));
  columns.push_back(query::Column::of("right", right));
  columns.push_back(query::Column::of("weight", weight));
  columns.push_back(query::Column::of("k", k));
}

Answer histograms(const Context& context, const Request& request) {
  SONDE_ANSWER(body, object_of(request));
  const auto snapshot = context.store.snapshot();
  SONDE_ANSWER(const asked, asked_in(*snapshot, body));
  const JsonValue* known = body.find("if");
  const std::string known_etag = known && known->is_string() ? known->text : "";
  std::erase_if(body.members, [](const auto& member) { return member.first == "if"; });
  std::string etag =
      etag_of(context, fmt::format("{},{}", asked.found.series->revision(), to_text(body)));
  if (etag == known_etag) return unchanged(snapshot->revision, std::move(etag));

  size_t total = 0;
  const std::vector<Entry> entries = entries_of(context, asked, total);
  std::vector<query::Column> columns = common_columns(entries);
  if (asked.bins > 0) {
    add_bins(entries, asked.bins, columns);
  } else {
    add_raw(entries, columns);
  }
  std::string file = query::column_file(columns, [&](JsonWriter& json) {
    json.key("boot").string(context.settings.boot);
    json.key("rev").number(snapshot->revision);
    json.key("n").number(static_cast<uint64_t>(entries.size()));
    json.key("bins").number(static_cast<uint64_t>(asked.bins));
    json.key("total").number(static_cast<uint64_t>(total));
  });
  return columns_answer(snapshot->revision, std::move(file), std::move(etag));
}

constexpr Route kRoutes[] = {{"POST", "/api/v1/histograms", histograms}};

}  // namespace

std::span<const Route> histogram_routes() { return kRoutes; }

}  // namespace sonde::api::v1
