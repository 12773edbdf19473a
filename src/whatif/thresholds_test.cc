#include "whatif/thresholds.h"

#include <doctest/doctest.h>

#include "whatif/curves.h"
#include "whatif/files/csv.h"

namespace sonde::whatif {
namespace {

struct Golden {
  Dataset data;
  Predictions predictions;
  Truth truth;
  Slicing slicing;
  std::vector<Sweep> sweeps;
};

// The twelve examples of the specification's table.
Golden golden() {
  Golden g;
  g.data = *read_csv(
      "group,label,score\nA,1,.92\nA,1,.81\nA,0,.70\nA,1,.66\nA,0,.40\nA,0,.15\n"
      "B,1,.60\nB,0,.55\nB,1,.45\nB,0,.30\nB,0,.22\nB,1,.35\n",
      {});
  const Column* label = g.data.find("label");
  g.predictions = *predictions_from(g.data, {.columns = {"score"}}, label);
  g.truth = truth_of(*label, g.predictions);
  g.slicing = *slice_by(g.data, {{"group"}});
  g.sweeps = sweeps_of(g.predictions, g.truth, g.slicing);
  return g;
}

struct Expected {
  Strategy strategy;
  double ratio;
  uint32_t a, b;
  double cost;
};

TEST_CASE("Golden table of the strategies") {
  const Golden g = golden();
  REQUIRE(g.predictions.task == Task::kBinary);
  using enum Strategy;
  constexpr Expected kTable[] = {
      {kSingleThreshold, 1, 60, 60, 3},     {kSingleThreshold, 2, 81, 81, 4},
      {kSingleThreshold, 0.5, 35, 35, 1.5}, {kGroupThresholds, 1, 81, 35, 2},
      {kGroupThresholds, 2, 81, 60, 3},     {kGroupThresholds, 0.5, 66, 35, 1},
      {kDemographicParity, 1, 66, 35, 2},   {kDemographicParity, 2, 92, 60, 4},
      {kDemographicParity, 0.5, 66, 35, 1}, {kEqualOpportunity, 1, 66, 35, 2},
      {kEqualOpportunity, 2, 92, 60, 4},    {kEqualOpportunity, 0.5, 66, 35, 1},
      {kEqualAccuracy, 1, 81, 35, 2},       {kEqualAccuracy, 2, 81, 35, 3},
      {kEqualAccuracy, 0.5, 66, 35, 1},
  };
  for (const Expected& e : kTable) {
    CAPTURE(name_of(e.strategy));
    CAPTURE(e.ratio);
    const auto decision = decide(g.sweeps, e.strategy, e.ratio, Search::kFirstSlice);
    REQUIRE(decision);
    CHECK(decision->thresholds == std::vector<uint32_t>{e.a, e.b});
    CHECK(decision->cost == doctest::Approx(e.cost));
  }
}

TEST_CASE("Golden counts and areas") {
  const Golden g = golden();
  const Sweep all = sum_of(g.sweeps);
  CHECK(all[50] == Counts{4, 2, 4, 2});
  CHECK(curves_of(ranked_all(g.predictions, g.truth), 100).auc ==
        doctest::Approx(0.8056).epsilon(1e-4));
  CHECK(compatible_areas(all).roc == doctest::Approx(0.8056).epsilon(1e-4));
  CHECK(compatible_areas(all).precision_recall == doctest::Approx(0.7199).epsilon(1e-4));
}

TEST_CASE("0.29 is not positive at 0.29") {
  Predictions p{"m", Task::kBinary, {"0", "1"}, {0.29, 0.30, 1.0, 0.0}};
  const Truth truth{{1, 1, 1, 1}, {}};
  Slicing one;
  one.slice.assign(4, 0);
  one.slices.push_back({{}, 4});
  const Sweep sweep = sweeps_of(p, truth, one)[0];
  CHECK(sweep[28].tp == 3);
  CHECK(sweep[29].tp == 2);
  CHECK(sweep[100].tp == 1);
  CHECK(sweep[0].tp == 4);
}

TEST_CASE("A truth that is no label is wrong on either side; a missing one is negative") {
  Predictions p{"m", Task::kBinary, {"0", "1"}, {0.9, 0.1, 0.9, 0.1, kNaN}};
  const Truth truth{{Truth::kOther, Truth::kOther, Truth::kNone, Truth::kNone, 1}, {}};
  Slicing one;
  one.slice.assign(5, 0);
  one.slices.push_back({{}, 5});
  CHECK(sweeps_of(p, truth, one)[0][50] == Counts{0, 2, 1, 1});
}

TEST_CASE("Without a special slice the result does not depend on the order of the slices") {
  const Golden g = golden();
  const std::vector<Sweep> swapped{g.sweeps[1], g.sweeps[0]};
  for (size_t i = 0; i <= static_cast<size_t>(Strategy::kEqualisedOdds); ++i) {
    for (const double ratio : {0.5, 1.0, 2.0}) {
      const auto a = decide(g.sweeps, static_cast<Strategy>(i), ratio, Search::kAllTargets);
      const auto b = decide(swapped, static_cast<Strategy>(i), ratio, Search::kAllTargets);
      REQUIRE(a);
      REQUIRE(b);
      CHECK(a->cost == b->cost);
      CHECK(a->gap == doctest::Approx(b->gap));
      CHECK(a->thresholds[0] == b->thresholds[1]);
      CHECK(a->thresholds[1] == b->thresholds[0]);
    }
  }
}

TEST_CASE("A slice without positives cannot be matched and is named") {
  Golden g = golden();
  for (Counts& c : g.sweeps[1]) c = {0, c.fp, c.tn, 0};
  for (const Search search : {Search::kFirstSlice, Search::kAllTargets}) {
    const auto decision = decide(g.sweeps, Strategy::kEqualOpportunity, 1, search);
    REQUIRE(decision);
    CHECK(decision->undefined == std::vector<uint32_t>{1});
    CHECK(decision->thresholds.size() == 2);
  }
  CHECK_FALSE(decide(std::vector<Sweep>(kMaxFairSlices + 1), Strategy::kEqualAccuracy, 1,
                     Search::kAllTargets));
}

TEST_CASE("F1 of nothing") {
  CHECK(Counts{0, 0, 5, 0}.f1() == 1);
  CHECK(Counts{0, 1, 5, 0}.f1() == 0);
  CHECK(Counts{1, 1, 1, 1}.f1() == 0.5);
}

TEST_CASE("Curves: ties are one point, perfect and one-sided rankings") {
  const Curves perfect = curves_of({{0.9, 0.8, 0.2, 0.1}, {1, 1, 0, 0}}, 100);
  CHECK(perfect.auc == 1);
  CHECK(perfect.average_precision == 1);
  const Curves tied = curves_of({{0.5, 0.5, 0.5, 0.5}, {1, 0, 1, 0}}, 100);
  CHECK(tied.auc == 0.5);
  CHECK(tied.average_precision == 0.5);
  CHECK(tied.distinct == 1);
  CHECK(std::isnan(curves_of({{0.5}, {1}}, 100).auc));
  CHECK(std::isnan(curves_of({{0.5}, {0}}, 100).average_precision));
}

TEST_CASE("Calibration: means and rates of the bins") {
  const Calibration c = calibration_of({{1.0, 0.95, 0.12, 0.1}, {1, 0, 0, 1}});
  CHECK(c.bins[9].count == 2);
  CHECK(c.bins[9].positive_rate == 0.5);
  CHECK(c.bins[1].mean_score == doctest::Approx(0.11));
  CHECK(c.expected_error == doctest::Approx((std::abs(1.95 - 1) + std::abs(0.22 - 1)) / 4));
}

TEST_CASE("Wilson's interval") {
  const Interval half = wilson(5, 10);
  CHECK(half.low == doctest::Approx(0.2366).epsilon(1e-3));
  CHECK(half.high == doctest::Approx(0.7634).epsilon(1e-3));
  CHECK(wilson(0, 10).low == 0);
  CHECK(std::isnan(wilson(0, 0).low));
}

}  // namespace
}  // namespace sonde::whatif
