#include "api/v1/beside/sample_files.h"

#include <doctest/doctest.h>

#include "api/v1/beside/row_cells.h"
#include "api/v1/beside/table_source.h"

namespace sonde::api::v1 {

TEST_CASE("sample files: the number at a name's end is the step") {
  const auto is = [](std::string_view name, std::string_view stem, std::optional<int64_t> step) {
    const NumberedName found = numbered_name(name);
    CHECK_MESSAGE(found.stem == stem, name);
    CHECK_MESSAGE(found.step == step, name);
  };
  is("completions_00010", "completions", 10);
  is("7", "", 7);
  is("train_data_step12", "train_data", 12);
  is("global_step_5", "", 5);
  is("rank0-step-3", "rank0", 3);
  is("generations", "generations", std::nullopt);
  is("run-20261118210000123456789", "run-20261118210000123456789", std::nullopt);
}

TEST_CASE("sample files: tokens with values, batches of one, and rows that are neither") {
  const auto row = [](std::string_view line) { return to_text(*read_row(line)); };
  CHECK(row(R"({"tokens":["a","b"],"logprob":[-1,null],"n":3})") ==
        R"({"tokens":{"_tokens":["a","b"],"values":{"logprob":[-1,null]}},"n":3})");
  CHECK(row(R"({"content":["x"],"rewards":[1.5],"idx":0})") ==
        R"({"content":"x","rewards":1.5,"idx":0})");
  CHECK(row(R"({"tokens":["a","b"],"three":[1,2,3]})") ==
        R"({"tokens":["a","b"],"three":[1,2,3]})");
  CHECK(row(R"({"only":["x"],"n":1})") == R"({"only":["x"],"n":1})");
  // Sonde's own rows are as they were logged.
  CHECK(row(R"({"_step":1,"a":[1],"b":[2]})") == R"({"_step":1,"a":[1],"b":[2]})");
}

TEST_CASE(
    "sample files: a cell is found without reading the row, and only where that is the same") {
  const std::string_view line =
      R"({"_step":1,"a":"x\"}, {\\","b":{"a":[1,"}"]},"a":2.5,"":3,"n":null})";
  CHECK(member_text(line, "a") == "2.5");
  CHECK(member_text(line, "b") == R"({"a":[1,"}"]})");
  CHECK(member_text(line, "") == "3");
  CHECK(member_text(line, "none") == "");
  CHECK(!member_text(line, "a\"b"));
  for (const std::string_view bad : {"", "[1]", "{", "{\"a\":}", "{\"a\":1", "{\"a\":1}x",
                                     "{\"a\":\"\\\"}", "{\"a\" :1}", "{a:1}", "{\"a\":1 }x"})
    CHECK_MESSAGE(!member_text(bad, "a"), bad);
  RowCells cells(line);
  CHECK((*cells.find("a"))->number() == 2.5);
  CHECK(*cells.find("n") == nullptr);
  CHECK(*RowCells(R"({"_step": 1, "a": 7})").find("a") != nullptr);
  CHECK(!RowCells("no row").find("a"));
}

}  // namespace sonde::api::v1
