#include "log/query/media/samples.h"

#include <doctest/doctest.h>

#include <cmath>

#include "codec/text_proto.h"
#include "embed/files/projector.h"

namespace sonde::query {
namespace {

class Scalars final : public store::Series {
 public:
  explicit Scalars(std::vector<float> values) : values_(std::move(values)) {
    for (size_t i = 0; i < values_.size(); ++i) {
      steps_.push_back(static_cast<Step>(i));
      times_.push_back(static_cast<double>(i));
    }
    is_scalar_ = true;
    size_ = values_.size();
    all_ = {0, size_};
  }
  void blocks(store::Range range,
              const std::function<void(const store::ScalarBlock&)>& fn) const override {
    constexpr uint64_t kBlock = 7;  // several blocks, so that borders are crossed
    for (uint64_t at = range.begin; at < range.end; at += kBlock) {
      const size_t n = std::min(kBlock, range.end - at);
      store::ScalarBlock block;
      block.steps = {steps_.data() + at, n};
      block.wall_times = {times_.data() + at, n};
      block.values = values_.data() + at;
      block.type = store::ValueType::kFloat32;
      fn(block);
    }
  }
  std::span<const store::BlobPoint> points(store::Range) const override { return {}; }
  uint64_t unreadable() const override { return 0; }

 private:
  std::vector<float> values_;
  std::vector<Step> steps_;
  std::vector<double> times_;
};

std::vector<ScalarPoint> taken(const Scalars& series, uint64_t limit) {
  std::vector<ScalarPoint> points;
  for_each_scalar(series, limit, [&](const ScalarPoint& point) { points.push_back(point); });
  return points;
}

TEST_CASE("samples: a long series keeps its ends, its extremes and its order") {
  std::vector<float> values(10'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  values[4321] = 50;
  values[777] = -60;
  values[5000] = std::nanf("");
  const auto points = taken(Scalars(values), 1000);
  CHECK(points.size() <= 1000);
  CHECK(points.size() > 600);
  CHECK(points.front().step == 0);
  CHECK(points.back().step == 9999);
  bool has_high = false, has_low = false, has_nan = false;
  for (size_t i = 0; i < points.size(); ++i) {
    if (i > 0) CHECK(points[i - 1].step < points[i].step);
    has_high = has_high || points[i].step == 4321;
    has_low = has_low || points[i].step == 777;
    has_nan = has_nan || points[i].step == 5000;
  }
  CHECK(has_high);
  CHECK(has_low);
  CHECK(has_nan);
}

TEST_CASE("samples: a series within the limit is whole, tiny limits keep the last point") {
  const Scalars series({1, 2, 3, 4, 5});
  CHECK(taken(series, 5).size() == 5);
  CHECK(taken(series, kAllSamples).size() == 5);
  for (const uint64_t limit : {1, 2, 3, 4}) {
    const auto points = taken(series, limit);
    CHECK(points.size() <= limit);
    CHECK(points.back().step == 4);
  }
  CHECK(even_positions(100, 4) == std::vector<uint64_t>{0, 33, 66, 99});
  CHECK(even_positions(3, 10).size() == 3);
  CHECK(even_positions(3, 1) == std::vector<uint64_t>{2});
}

TEST_CASE("samples: --samples_per_plugin is read, 0 means all") {
  const auto limits = SampleLimits::parse("scalars=500, images=0");
  REQUIRE(limits.has_value());
  CHECK(limits->of("scalars", 1000) == 500);
  CHECK(limits->of("images", 10) == kAllSamples);
  CHECK(limits->of("text", 7) == 7);
  for (const std::string_view bad : {"scalars", "scalars=", "=5", "scalars=x", "scalars=-1", ","}) {
    CHECK_FALSE(SampleLimits::parse(bad).has_value());
  }
}

TEST_CASE("text_proto: every spelling of protobuf text, and no endless nesting") {
  const auto parsed = parse_text_proto(
      "# a comment\nembeddings { tensor_name: \"a\" 'b\\n\\303\\251' ; sprite: < single_image_dim: "
      "[28, 0x1c] > }, x: -1.5");
  REQUIRE(parsed.has_value());
  const auto embeddings = parsed->all("embeddings");
  REQUIRE(embeddings.size() == 1);
  CHECK(embeddings[0]->messages[0].text("tensor_name") == "ab\n\xc3\xa9");
  CHECK(embeddings[0]->messages[0].all("sprite")[0]->messages[0].all("single_image_dim").size() ==
        2);
  CHECK(parsed->text("x") == "-1.5");
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "a { ";
  for (const std::string& bad : {deep, std::string("a: \"x"), std::string("a b"),
                                 std::string("a {"), std::string("a: [1"), std::string("}")}) {
    CHECK_FALSE(parse_text_proto(bad).has_value());
  }
}

TEST_CASE("projector: tab-separated numbers") {
  const auto matrix = embed::projector::parse_tsv("1\t2.5\n\n-3e-2\tnan\r\n");
  REQUIRE(matrix.has_value());
  CHECK(matrix->rows == 2);
  CHECK(matrix->columns == 2);
  CHECK(matrix->values[2] == doctest::Approx(-0.03));
  CHECK(embed::projector::parse_tsv("1\t2\n3\n").error().code == Code::kInvalid);
  CHECK(embed::projector::parse_tsv("a\tb\n").error().code == Code::kInvalid);
  CHECK(embed::projector::parse_tsv("1\n2\n3\n", 2)->rows == 2);
}

}  // namespace
}  // namespace sonde::query
