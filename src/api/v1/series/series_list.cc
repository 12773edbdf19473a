#include "api/v1/series/series_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/v1/support.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMaxEntries = 10000;

bool is_scalar_tag(const store::Snapshot& snapshot, const std::string& name) {
  return std::ranges::any_of(snapshot.runs, [&](const auto& run) {
    const store::Series* series = run->find(name);
    return series && series->is_scalar();
  });
}

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
    const JsonValue* runs = item.find("runs");
    SONDE_TRY(found, runs_in(snapshot, runs ? *runs : kAll));
    if (const JsonValue* text = item.find("expr")) {
      if (!text->is_string()) return fail(Code::kInvalid, "an 'expr' of 'series' is not a text");
      SONDE_TRY(expression, query::parse_curve_expression(text->text, [&](const std::string& name) {
                  return is_scalar_tag(snapshot, name);
                }));
      entries.push_back({"=" + text->text, std::move(found), std::move(expression)});
      continue;
    }
    const JsonValue* tag = item.find("tag");
    if (!tag || !tag->is_string())
      return fail(Code::kInvalid, "an entry of 'series' has no text 'tag' or 'expr'");
    entries.push_back({tag->text, std::move(found), std::nullopt});
  }
  return entries;
}

SeriesOfEntry::SeriesOfEntry(const SeriesEntry& entry,
                             const std::vector<const store::RunSnapshot*>& runs,
                             const Context& context) {
  if (!entry.expression) {
    for (const store::RunSnapshot* run : runs) {
      const store::Series* series = run->find(entry.tag);
      series_.push_back(series && series->is_scalar() ? series : nullptr);
    }
    return;
  }
  std::vector<const store::Series*> needed;
  for (const store::RunSnapshot* run : runs) {
    for (const std::string& tag : entry.expression->tags) {
      if (const store::Series* series = run->find(tag)) needed.push_back(series);
    }
  }
  context.store.prepare(needed);
  derived_ = query::derived_series(*entry.expression, runs, context.pool);
  for (const auto& series : derived_) series_.push_back(series.get());
}

const store::Series* SeriesOfEntry::of(size_t run) const { return series_[run]; }

void SeriesOfEntry::keep(std::vector<std::shared_ptr<const store::Series>>& owner) const {
  owner.insert(owner.end(), derived_.begin(), derived_.end());
}

std::vector<query::Item> items_of(const std::vector<SeriesEntry>& entries, const Context& context,
                                  std::vector<std::shared_ptr<const store::Series>>& owner) {
  std::vector<query::Item> items;
  for (uint32_t e = 0; e < entries.size(); ++e) {
    const SeriesOfEntry found(entries[e], entries[e].runs, context);
    for (size_t r = 0; r < entries[e].runs.size(); ++r) {
      if (found.of(r)) items.push_back({entries[e].runs[r], found.of(r), nullptr, e});
    }
    found.keep(owner);
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
