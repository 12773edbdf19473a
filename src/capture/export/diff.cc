#include "capture/export/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/strings.h"
#include "base/text_table.h"
#include "codec/json.h"

namespace sonde::exports {
namespace {

constexpr size_t kTerminalRows = 30;
constexpr size_t kStepsForNoise = 5, kResamples = 1000, kJudgedRows = 200;

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// Whether the 95 % bootstrap interval of mean(b) - mean(a) contains 0. The same input gives the
// same answer: the generator starts from a fixed number.
bool contains_zero(const std::vector<double>& a, const std::vector<double>& b) {
  uint64_t state = 0x9e3779b97f4a7c15;
  const auto pick = [&](const std::vector<double>& from) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return from[(state >> 33) % from.size()];
  };
  std::vector<double> differences;
  for (size_t i = 0; i < kResamples; ++i) {
    double sum_a = 0, sum_b = 0;
    for (size_t k = 0; k < a.size(); ++k) sum_a += pick(a);
    for (size_t k = 0; k < b.size(); ++k) sum_b += pick(b);
    differences.push_back(sum_b / double(b.size()) - sum_a / double(a.size()));
  }
  std::sort(differences.begin(), differences.end());
  return differences[kResamples / 40] <= 0 && differences[kResamples - 1 - kResamples / 40] >= 0;
}

std::vector<double> step_times(const Totals& totals) {
  std::vector<double> times;
  for (const StepTotal& step : totals.steps)
    times.push_back(static_cast<double>(step.span.end - step.span.begin));
  return times;
}

std::string signed_time(double ps) { return (ps > 0 ? "+" : "") + human_time(ps); }
std::string signed_percent(double from, double to) {
  return from <= 0 ? "new" : to <= 0 ? "gone" : fmt::format("{:+.1f} %", 100 * (to - from) / from);
}
size_t shown(size_t all, const Options& options, size_t otherwise) {
  return std::min(all, options.top > 0 ? static_cast<size_t>(options.top) : otherwise);
}

}  // namespace

Comparison compare(const Totals& a, const Totals& b) {
  Comparison out;
  const std::vector<double> steps_a = step_times(a), steps_b = step_times(b);
  const bool by_step = !steps_a.empty() && !steps_b.empty();
  out.unit = by_step ? "step" : "run";
  out.per_a = by_step ? double(steps_a.size()) : std::max(1.0, double(a.counted_runs));
  out.per_b = by_step ? double(steps_b.size()) : std::max(1.0, double(b.counted_runs));
  out.time_a = by_step ? mean_of(steps_a) : double(a.wall) / out.per_a;
  out.time_b = by_step ? mean_of(steps_b) : double(b.wall) / out.per_b;
  const bool can_judge =
      by_step && steps_a.size() >= kStepsForNoise && steps_b.size() >= kStepsForNoise;
  out.may_be_noise = can_judge && contains_zero(steps_a, steps_b);
  std::map<std::string_view, std::pair<const KeyTotal*, const KeyTotal*>> pairs;
  for (const KeyTotal& key : a.keys) pairs[key.key].first = &key;
  for (const KeyTotal& key : b.keys) pairs[key.key].second = &key;
  for (const auto& [key, sides] : pairs) {
    Difference row;
    row.key = key;
    if (const KeyTotal* side = sides.first) {
      row.count_a = side->count;
      row.total_a = double(side->total) / out.per_a;
      row.mean_a = side->mean();
    }
    if (const KeyTotal* side = sides.second) {
      row.count_b = side->count;
      row.total_b = double(side->total) / out.per_b;
      row.mean_b = side->mean();
    }
    out.rows.push_back(std::move(row));
  }
  std::stable_sort(out.rows.begin(), out.rows.end(), [](const auto& x, const auto& y) {
    return std::abs(x.change()) > std::abs(y.change());
  });
  if (!can_judge) return out;
  for (size_t i = 0; i < out.rows.size() && i < kJudgedRows; ++i) {
    const auto& sides = pairs[out.rows[i].key];
    const std::vector<double> none_a(steps_a.size(), 0), none_b(steps_b.size(), 0);
    out.rows[i].may_be_noise = contains_zero(sides.first ? sides.first->by_step : none_a,
                                             sides.second ? sides.second->by_step : none_b);
  }
  return out;
}

std::string Comparison::summary() const {
  std::string out =
      fmt::format("{} {} → {} ({:+.1f} %{})", unit, human_time(time_a), human_time(time_b),
                  percent(), may_be_noise ? ", may be noise" : "");
  std::string causes;
  size_t named = 0;
  for (const Difference& row : rows) {
    if (named == 3 || std::abs(row.change()) < 0.01 * std::max(time_a, time_b)) break;
    if (row.may_be_noise) continue;
    causes +=
        fmt::format("{}{} {}", named++ == 0 ? ": " : ", ", row.key, signed_time(row.change()));
  }
  return out + causes;
}

std::string diff_text(const Comparison& comparison, const Options& options) {
  std::string out = comparison.summary() + "\n\n";
  Table table({{options.by},
               {"count A", Align::kRight},
               {"count B", Align::kRight},
               {"A per " + comparison.unit, Align::kRight},
               {"B per " + comparison.unit, Align::kRight},
               {"change", Align::kRight},
               {"change %", Align::kRight},
               {"mean A", Align::kRight},
               {"mean B", Align::kRight},
               {""}});
  const size_t rows = shown(comparison.rows.size(), options, kTerminalRows);
  for (size_t i = 0; i < rows; ++i) {
    const Difference& row = comparison.rows[i];
    table.row({row.key, human_count(row.count_a), human_count(row.count_b), human_time(row.total_a),
               human_time(row.total_b), signed_time(row.change()),
               signed_percent(row.total_a, row.total_b), human_time(row.mean_a),
               human_time(row.mean_b), row.may_be_noise ? "may be noise" : ""});
  }
  out += table.text();
  if (rows < comparison.rows.size())
    out += fmt::format("... {} more (--top {})\n", comparison.rows.size() - rows,
                       comparison.rows.size());
  return out;
}

std::string diff_csv(const Comparison& comparison, const Options& options) {
  std::string out =
      "key,count_a,count_b,total_a_ns,total_b_ns,change_ns,mean_a_ns,mean_b_ns,noise\n";
  const size_t rows = shown(comparison.rows.size(), options, SIZE_MAX);
  for (size_t i = 0; i < rows; ++i) {
    const Difference& row = comparison.rows[i];
    append_csv_cell(out, row.key);
    out += fmt::format(",{},{},{:.0f},{:.0f},{:.0f},{:.0f},{:.0f},{}\n", row.count_a, row.count_b,
                       row.total_a / 1000, row.total_b / 1000, row.change() / 1000,
                       row.mean_a / 1000, row.mean_b / 1000, row.may_be_noise);
  }
  return out;
}

std::string diff_json(const Comparison& comparison, const Options& options) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("summary").string(comparison.summary());
    json.key("unit").string(comparison.unit);
    json.key("a_ns").number(comparison.time_a / 1000);
    json.key("b_ns").number(comparison.time_b / 1000);
    json.key("percent").number(comparison.percent());
    json.key("may_be_noise").boolean(comparison.may_be_noise);
    json.key("rows").array([&] {
      const size_t rows = shown(comparison.rows.size(), options, SIZE_MAX);
      for (size_t i = 0; i < rows; ++i) {
        const Difference& row = comparison.rows[i];
        json.object([&] {
          json.key("key").string(row.key);
          json.key("count_a").number(row.count_a);
          json.key("count_b").number(row.count_b);
          json.key("total_a_ns").number(row.total_a / 1000);
          json.key("total_b_ns").number(row.total_b / 1000);
          json.key("change_ns").number(row.change() / 1000);
          json.key("mean_a_ns").number(row.mean_a / 1000);
          json.key("mean_b_ns").number(row.mean_b / 1000);
          json.key("may_be_noise").boolean(row.may_be_noise);
        });
      }
    });
  });
  return out + "\n";
}

}  // namespace sonde::exports
