#include "whatif/distance.h"

#include <doctest/doctest.h>

#include "whatif/dependence.h"
#include "whatif/files/csv.h"
#include "whatif/files/json_rows.h"
#include "whatif/slices.h"
#include "whatif/statistics.h"
#include "whatif/worst_slices.h"

namespace sonde::whatif {
namespace {

TEST_CASE("Golden distances") {
  const Dataset data = *read_csv("age,job\n20,a\n30,a\n40,b\n50,c\n", {});
  const DistanceModel model = distance_model(data, {});
  const std::vector<double> l1 = distances_to(data, model, 0, Metric::kL1);
  CHECK(l1[0] == 0);
  CHECK(l1[1] == doctest::Approx(0.8944).epsilon(1e-4));
  CHECK(l1[2] == doctest::Approx(2.1639).epsilon(1e-4));
  CHECK(l1[3] == doctest::Approx(3.0583).epsilon(1e-4));
  const std::vector<double> l2 = distances_to(data, model, 0, Metric::kL2);
  CHECK(l2[1] * l2[1] == doctest::Approx(0.8).epsilon(1e-4));
  CHECK(l2[2] * l2[2] == doctest::Approx(3.3406).epsilon(1e-4));
  CHECK(l2[3] * l2[3] == doctest::Approx(7.3406).epsilon(1e-4));
  CHECK(nearest(l1, 2, 0) == std::vector<uint32_t>{1, 2});
  // An example of its own, with a word that the data do not have.
  const Dataset other = *read_csv("age,job\n20,zzz\n", {});
  CHECK(distances_to(data, model, other, Metric::kL1)[0] == doctest::Approx(0.375));
}

TEST_CASE("Missing counts 1, equal columns count nothing, unique texts are skipped") {
  const Dataset data = *read_csv("x,same,id\n1,5,a\n,5,b\n1,5,c\n3,5,d\n", {});
  const DistanceModel model = distance_model(data, {});
  CHECK(model.features.size() == 2);
  const std::vector<double> d = distances_to(data, model, 0, Metric::kL1);
  CHECK(d[1] == 1);
  CHECK(d[2] == 0);
  CHECK(distances_to(data, model, 1, Metric::kL1)[0] == 1);
  CHECK(distance_model(data, {"x"}).features.size() == 1);
}

TEST_CASE("Lists: the mean over the longer one") {
  const Dataset data = *read_json_rows("{\"l\":[1,2]}\n{\"l\":[1]}\n{\"l\":[3,2]}\n", {});
  const double deviation = statistics_of(data.columns[0]).numeric.deviation;
  const std::vector<double> d = distances_to(data, distance_model(data, {}), 0, Metric::kL1);
  CHECK(d[1] == doctest::Approx(0.5));
  CHECK(d[2] == doctest::Approx(2 / deviation / 2));
}

TEST_CASE("Nearest counterfactual: other label, ties by index, regression by delta") {
  const Predictions binary{"m", Task::kBinary, {"0", "1"}, {0.9, 0.8, 0.1, 0.2}};
  const std::vector<double> d{0, 1, 2, 2};
  CHECK(nearest_counterfactual(d, binary, 0, 0.5, 0)->row == 2);
  CHECK_FALSE(nearest_counterfactual(d, binary, 0, 0.05, 0));
  const Predictions regression{"m", Task::kRegression, {}, {1, 1.5, 4, kNaN}};
  CHECK(nearest_counterfactual(d, regression, 0, 0, 0.5)->row == 1);
  CHECK(nearest_counterfactual(d, regression, 0, 0, 2)->row == 2);
  CHECK_FALSE(nearest_counterfactual(d, regression, 3, 0, 0));
}

TEST_CASE("Slices: values, buckets with rounded edges, what is missing") {
  const Dataset data = *read_csv("n,w\n1,a\n2,b\n3,a\n4.04,\n10,a\n", {});
  const auto numbers = slice_by(data, {{"n", 2}});
  REQUIRE(numbers);
  CHECK(numbers->slices[0].name() == "[1, 5.5)");
  CHECK(numbers->slices[1].name() == "[5.5, 10]");
  CHECK(numbers->slices[0].count == 4);
  const auto words = slice_by(data, {{"w"}});
  CHECK(words->slices[2].name() == "?");
  const auto both = slice_by(data, {{"w"}, {"n", 2}});
  CHECK(both->slices[0].name() == "a, [1, 5.5)");
  CHECK(both->slices.back().count == 1);
  CHECK(slice_by(data, {{"w"}, {"w"}, {"w"}, {"w"}}).error().code == Code::kInvalid);
  CHECK(slice_by(data, {{"none"}}).error().code == Code::kNotFound);
  CHECK(slice_by(data, {})->slices.size() == 1);
  const auto halves = slice_by(data, {{"n", 2, Cut::kEqualFrequency}});
  CHECK(halves->slices[0].count == 2);
}

TEST_CASE("Statistics") {
  const Dataset data = *read_csv("n,w\n0,a\n1,bb\n2,a\n3,\n,a\n", {});
  const auto all = statistics_of(data);
  CHECK(all[0].count == 4);
  CHECK(all[0].missing == 1);
  CHECK(all[0].numeric.mean == 1.5);
  CHECK(all[0].numeric.median == 1.5);
  CHECK(all[0].numeric.deviation == doctest::Approx(1.118034));
  CHECK(all[0].numeric.zeros == 1);
  CHECK(all[0].numeric.quantiles.back() == 3);
  CHECK(all[1].words.unique == 2);
  CHECK(all[1].words.top[0].word == "a");
  CHECK(all[1].words.mean_length == doctest::Approx(1.25));
  const Dataset other = *read_csv("n,w\n0,a\n0,c\n", {});
  CHECK(drift_between(data.columns[0], other.columns[0]) == doctest::Approx(0.75));
  CHECK(drift_between(data.columns[1], other.columns[1]) == doctest::Approx(0.5));
  CHECK(std::isnan(drift_between(data.columns[0], other.columns[1])));
}

TEST_CASE("Values to try, list positions, examples with them put in, interest") {
  const Dataset data = *read_csv("i,f,w\n0,0,a\n3,1,b\n3,0.5,a\n", {});
  CHECK(values_to_try(data.columns[0], {}).numbers == std::vector<double>{0, 1, 2, 3});
  CHECK(values_to_try(data.columns[1], {}).numbers.size() == 10);
  CHECK(values_to_try(data.columns[1], {}).numbers.back() == 1);
  CHECK(values_to_try(data.columns[2], {}).words == std::vector<std::string>{"a"});
  CHECK(*element_indices("0,2,4-6", 6) == std::vector<size_t>{0, 2, 4, 5});
  CHECK_FALSE(element_indices("a", 6));
  TryValues values;
  values.numbers = {7, 8};
  const Dataset made = substituted(data, {0, 2}, 0, 0, values);
  CHECK(made.rows == 4);
  CHECK(made.columns[0].numbers == std::vector<double>{7, 7, 8, 8});
  CHECK(made.columns[2].text(3) == "a");
  CHECK(substituted(data, {0}, 0, 1, values).columns[0].numbers == std::vector<double>{0, 0});
  CHECK(interest_of({0, 1, 0.5}, true) == doctest::Approx(1.5));
  CHECK(interest_of({0, 1, 0.5}, false) == doctest::Approx(1));
}

TEST_CASE("Worst slices: a pair that fails although neither half does alone") {
  std::string text = "a,b,c\n";
  std::vector<double> loss;
  uint32_t state = 1;
  for (int i = 0; i < 4000; ++i) {
    const auto next = [&] { return (state = state * 1664525 + 1013904223) >> 16; };
    const int a = static_cast<int>(next() % 4), b = static_cast<int>(next() % 4),
              c = static_cast<int>(next() % 5);
    text += "a" + std::to_string(a) + ",b" + std::to_string(b) + "," + std::to_string(c) + "\n";
    const bool fails = (a == 2 && b == 3) ? next() % 10 < 8 : next() % 20 == 0;
    loss.push_back(fails);
  }
  const Dataset data = *read_csv(text, {});
  const auto found = worst_slices(data, loss, {});
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].features == std::vector<std::string>{"a", "b"});
  CHECK(found[0].values == std::vector<std::string>{"a2", "b3"});
  CHECK(found[0].loss == doctest::Approx(0.8).epsilon(0.1));
  CHECK(found[0].interval.low < found[0].loss);
  CHECK(worst_slices(data, std::vector<double>(4000, 0), {}).empty());
  CHECK(worst_slices(data, loss, {.min_support = 3000}).empty());
  CHECK(worst_slices(data, loss, {.depth = 3})[0].values == found[0].values);
}

}  // namespace
}  // namespace sonde::whatif
