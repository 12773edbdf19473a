#include "log/query/series/expression.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "log/query/series/points.h"
#include "log/query/series/smooth.h"
#include "log/store/run_index.h"
#include "tests/support/fake_series.h"

namespace sonde::query {
namespace {

const std::vector<std::string> kTags = {"loss", "train/loss", "val/loss", "x", "loss-2"};

Result<CurveExpression> parsed(std::string_view text) {
  return parse_curve_expression(
      text, [](const std::string& name) { return std::ranges::find(kTags, name) != kTags.end(); });
}

std::string problem_of(std::string_view text) {
  const auto read = parsed(text);
  return read ? "" : read.error().text;
}

std::shared_ptr<test::FakeSeries> series_of(const std::string& tag, const std::vector<Step>& steps,
                                            const std::vector<double>& values) {
  auto series = std::make_shared<test::FakeSeries>(tag);
  for (size_t i = 0; i < steps.size(); ++i)
    series->add(steps[i], 100 + 2 * static_cast<double>(steps[i]), values[i]);
  return series;
}

std::vector<double> values_of(const std::shared_ptr<const store::Series>& series,
                              std::vector<Step>* steps = nullptr) {
  Points points;
  const ViewReader reader(*series, store::View::kNewest);
  reader.read(0, reader.size(), points);
  if (steps) *steps = points.steps;
  return points.values;
}

struct Runs {
  std::vector<std::shared_ptr<store::RunSnapshot>> kept;
  std::vector<const store::RunSnapshot*> all;

  void add(std::vector<std::shared_ptr<test::FakeSeries>> series) {
    auto run = std::make_shared<store::RunSnapshot>();
    for (auto& one : series) run->series.push_back(std::move(one));
    auto index = std::make_shared<store::NameIndex>();
    for (uint32_t i = 0; i < run->series.size(); ++i) index->emplace(run->series[i]->tag(), i);
    run->index = std::move(index);
    all.push_back(run.get());
    kept.push_back(std::move(run));
  }
  std::vector<std::shared_ptr<const store::Series>> derived(std::string_view text) const {
    ThreadPool pool("test", 2);
    const auto expression = parsed(text);
    REQUIRE_MESSAGE(expression, text);
    return derived_series(*expression, all, pool);
  }
};

TEST_CASE("expression: the longest tag counts, what follows is arithmetic") {
  CHECK(parsed("train/loss - val/loss")->tags ==
        std::vector<std::string>{"train/loss", "val/loss"});
  CHECK(parsed("train/loss-val/loss")->tags.size() == 2);
  CHECK(parsed("loss/2")->tags == std::vector<std::string>{"loss"});
  CHECK(parsed("loss-2")->tags == std::vector<std::string>{"loss-2"});
  CHECK(parsed("`loss`-2")->tags == std::vector<std::string>{"loss"});
  CHECK(parsed("2 * ema(x, 0.9) ^ 2 / rate(step)")->tags == std::vector<std::string>{"x"});
  CHECK_FALSE(parsed("loss - mean(loss)")->is_over_runs);
  CHECK(parsed("2 * mean(loss)")->is_over_runs);
}

TEST_CASE("expression: what is wrong is said") {
  CHECK(problem_of("val - x").find("no scalar tag is named “val”") != std::string::npos);
  CHECK(problem_of("(x + 1").find("missing )") != std::string::npos);
  CHECK(problem_of("x +").find("missing at the end") != std::string::npos);
  CHECK(problem_of("foo(x)").find("“foo” is not a function") != std::string::npos);
  CHECK(problem_of("ema(x)").find("takes two values") != std::string::npos);
  CHECK(problem_of("ema(x, 1)").find("0 ≤ weight < 1") != std::string::npos);
  CHECK(problem_of("x x").find("is not expected at character 3") != std::string::npos);
  CHECK(problem_of("1 + 2").find("names no tag") != std::string::npos);
  CHECK(problem_of(std::string(2000, '(')).find("longer than") != std::string::npos);
  CHECK(problem_of(std::string(500, '(')).find("nested too deeply") != std::string::npos);
  CHECK(problem_of(std::string(500, '-') + "x").find("nested too deeply") != std::string::npos);
}

TEST_CASE("expression: tags meet by step, within the steps both reach") {
  Runs runs;
  runs.add({series_of("train/loss", {0, 1, 2, 3, 4}, {5, 4, 3, 2, 1}),
            series_of("val/loss", {0, 2, 6}, {5, 4, 0})});
  std::vector<Step> steps;
  CHECK(values_of(runs.derived("val/loss - train/loss")[0], &steps) ==
        std::vector<double>{0, 0.5, 1, 1, 1});
  CHECK(steps == std::vector<Step>{0, 1, 2, 3, 4});
  CHECK(values_of(runs.derived("train/loss / rate(step)")[0]) == std::vector<double>{8, 6, 4, 2});
  CHECK(values_of(runs.derived("-(train/loss) ^ 2 + 1")[0]) ==
        std::vector<double>{-24, -15, -8, -3, 0});
  CHECK(values_of(runs.derived("cumsum(train/loss)")[0]) == std::vector<double>{5, 9, 12, 14, 15});
  CHECK(values_of(runs.derived("train/loss / first(train/loss)")[0])[4] == 0.2);
  CHECK(std::isnan(values_of(runs.derived("train/loss / (train/loss - 3)")[0])[2]));
}

TEST_CASE("expression: the moving average is that of the chart") {
  Runs runs;
  runs.add({series_of("x", {0, 1, 2}, {1, 2, 4})});
  CHECK(values_of(runs.derived("ema(x, 0.9)")[0]) ==
        smoothed(std::vector<double>{1, 2, 4}, {Smoothing::Kind::kEma, 0.9}));
}

TEST_CASE("expression: over runs") {
  Runs runs;
  runs.add({series_of("loss", {0, 1, 2}, {1, 2, 3})});
  runs.add({series_of("loss", {0, 2}, {3, 5})});
  runs.add({series_of("x", {0}, {1})});  // lacks the tag
  const auto mean = runs.derived("mean(loss)");
  CHECK(values_of(mean[0]) == std::vector<double>{2, 3, 4});
  CHECK_FALSE(mean[1]);
  const auto rest = runs.derived("loss - mean(loss)");
  CHECK(values_of(rest[0]) == std::vector<double>{-1, -1, -1});
  CHECK(values_of(rest[1]) == std::vector<double>{1, 1, 1});
  CHECK_FALSE(rest[2]);
  CHECK(values_of(runs.derived("max(loss) - min(loss)")[0]) == std::vector<double>{2, 2, 2});
  CHECK(values_of(runs.derived("count(loss)")[0]) == std::vector<double>{2, 2, 2});
}

TEST_CASE("expression: a step written twice counts once, a value that is no number stays one") {
  Runs runs;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  runs.add({series_of("x", {0, 1, 1, 2}, {1, 7, 2, nan}), series_of("loss", {0, 1, 2}, {1, 1, 1})});
  const auto values = values_of(runs.derived("x + loss")[0]);
  REQUIRE(values.size() == 3);
  CHECK(values[1] == 3);
  CHECK(std::isnan(values[2]));
}

}  // namespace
}  // namespace sonde::query
