#include "numerics/alerts.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace sonde;
using namespace sonde::numerics;

namespace {

// Rows of named tensors without any file.
struct Made {
  Data data;
  uint32_t tensor(const char* name, const char* type) {
    if (data.graphs.empty()) {
      data.graphs.push_back({"g", "model", "", {}, {}, {}});
      data.graph_by_id["g"] = 0;
    }
    const auto op = static_cast<uint32_t>(data.ops.size());
    data.ops.push_back({data.texts.id(type), 0, name, 0, {}, {}, 0, {}});
    data.graphs[0].ops[name] = op;
    data.traced.push_back({data.texts.id("g"), data.texts.id(name), 0, 0, 0});
    return static_cast<uint32_t>(data.traced.size() - 1);
  }
  void row(uint32_t traced, uint32_t step, float rms, float zeros = 0, float saturated = 0,
           uint8_t bad = kNone) {
    data.traces.push_back({0, 0, bad, 4, step, traced, rms, zeros, 0, saturated});
  }
  std::vector<std::string> kinds() const {
    std::vector<std::string> out;
    for (const Alert& alert : alerts(data)) out.emplace_back(name_of(alert.kind));
    return out;
  }
};

using Kinds = std::vector<std::string>;

}  // namespace

TEST_CASE("numerics: a tensor that stays as it is gives no alert") {
  Made made;
  const uint32_t relu = made.tensor("relu", "ReLU"), grad = made.tensor("w/grad", "Gradient");
  for (uint32_t step = 0; step < 50; ++step) {
    const float wave = 1 + 0.9f * std::sin(static_cast<float>(step));
    made.row(relu, step, wave, 0.5f + 0.4f * std::sin(static_cast<float>(step)));
    made.row(grad, step, 0.01f * wave);
  }
  CHECK(made.kinds().empty());
}

TEST_CASE("numerics: each alert is said once, where it began") {
  Made made;
  const uint32_t relu = made.tensor("relu", "ReLU"), layer = made.tensor("layer", "Linear");
  const uint32_t small = made.tensor("first/grad", "Linear backward");
  const uint32_t large = made.tensor("last/grad", "Linear backward");
  const uint32_t half = made.tensor("half", "Linear"), mask = made.tensor("mask", "Const");
  for (uint32_t step = 0; step < 20; ++step) {
    made.row(relu, step, step < 4 ? 1 : 0, step < 4 ? 0.5f : 1);
    made.row(layer, step, step == 12 ? 50.0f : step == 19 ? 2e4f : 1.0f);
    made.row(large, step, 1);
    made.row(small, step, step < 15 ? 1e-3f : 1e-8f);
    made.row(half, step, 1, 0, step == 17 ? 0.7f : 0.1f, step == 19 ? kNan : kNone);
    made.row(mask, step, 1, 0, 0, kNegInf);
  }
  CHECK(made.kinds() == Kinds{"dead", "spike", "vanishing", "saturation", "explosion", "bad"});
  const auto all = alerts(made.data);
  CHECK(made.data.traces[all[0].row].step == 4);
  CHECK(all[1].text == "rms 50, 50 times the median before");
  CHECK(all[3].text == "70 % of the largest value of its type");
}
