#include "api/v1/series/series_list.h"

#include <fmt/format.h>

#include "api/v1/support.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMaxEntries = 10000;

}  // namespace

Result<std::vector<const store::RunSnapshot*>> runs_in(const store::Snapshot& snapshot,
                                                       const JsonValue& value) {
  std::vector<const store::RunSnapshot*> runs;
  if (value.is_string() && value.text == "all") {
    for (const auto& run : snapshot.runs) runs.push_back(run.get());
    return runs;
  }
  if (!value.is_array())
    return fail(Code::kInvalid, "'runs' is not \"all\" or a list of ids and names");
  for (const JsonValue& item : value.items) {
    auto run = run_in(snapshot, item);
    if (run) {
      runs.push_back(*run);
    } else if (run.error().code != Code::kNotFound) {
      return fail(std::move(run).error());
    }
  }
  return runs;
}

Result<std::vector<SeriesEntry>> entries_in(const store::Snapshot& snapshot,
                                            const JsonValue& body) {
  const JsonValue* list = body.find("series");
  if (!list || !list->is_array()) return fail(Code::kInvalid, "'series' is not a list");
  if (list->items.size() > kMaxEntries)
    return fail(Code::kTooLarge, fmt::format("'series' has more than {} entries", kMaxEntries));
  static const JsonValue kAll = JsonValue::string("all");
  std::vector<SeriesEntry> entries;
  for (const JsonValue& item : list->items) {
    const JsonValue* tag = item.find("tag");
    if (!tag || !tag->is_string())
      return fail(Code::kInvalid, "an entry of 'series' has no text 'tag'");
    const JsonValue* runs = item.find("runs");
    SONDE_TRY(found, runs_in(snapshot, runs ? *runs : kAll));
    entries.push_back({tag->text, std::move(found)});
  }
  return entries;
}

std::vector<query::Item> items_of(const std::vector<SeriesEntry>& entries) {
  std::vector<query::Item> items;
  for (uint32_t e = 0; e < entries.size(); ++e) {
    for (const store::RunSnapshot* run : entries[e].runs) {
      const store::Series* series = run->find(entries[e].tag);
      if (series && series->is_scalar()) items.push_back({run, series, nullptr, e});
    }
  }
  return items;
}

Result<query::Smoothing> smoothing_in(const JsonValue& body) {
  query::Smoothing smoothing;
  const JsonValue* value = body.find("smooth");
  if (!value) return smoothing;
  if (!value->is_object()) return fail(Code::kInvalid, "'smooth' is not an object");
  SONDE_TRY(const kind, text_in(*value, "kind", "none"));
  SONDE_TRY(const p, number_in(*value, "p", 0));
  using Kind = query::Smoothing::Kind;
  smoothing.p = p;
  if (kind == "none") return query::Smoothing{};
  if (kind == "ema") {
    smoothing.kind = Kind::kEma;
    if (!(p >= 0 && p < 1)) return fail(Code::kInvalid, "'smooth.p' is not in 0 ≤ p < 1");
  } else if (kind == "mean") {
    smoothing.kind = Kind::kMean;
    if (!(p >= 1 && p <= query::kMaxWindow))
      return fail(Code::kInvalid, fmt::format("'smooth.p' is not in 1…{}", query::kMaxWindow));
  } else if (kind == "gauss") {
    smoothing.kind = Kind::kGauss;
    if (!(p > 0 && p <= query::kMaxSigma))
      return fail(Code::kInvalid, fmt::format("'smooth.p' is not in 0…{}", query::kMaxSigma));
  } else {
    return fail(Code::kInvalid,
                fmt::format("'smooth.kind' is '{}', not none, ema, mean or gauss", kind));
  }
  return smoothing;
}

}  // namespace sonde::api::v1
