#include "whatif/dataset.h"

#include <doctest/doctest.h>

#include "codec/wire.h"
#include "whatif/files/csv.h"
#include "whatif/files/examples.h"
#include "whatif/files/json_rows.h"
#include "whatif/files/read.h"

namespace sonde::whatif {
namespace {

Dataset csv(std::string_view text, ReadOptions options = {}) {
  auto data = read_csv(text, options);
  REQUIRE_MESSAGE(data, (data ? "" : data.error().text));
  return std::move(*data);
}

std::string refused(std::string_view text) {
  const auto data = read_csv(text, {});
  return data ? "" : data.error().text;
}

TEST_CASE("CSV: kinds, quotes, what is missing") {
  const Dataset data =
      csv("\xEF\xBB\xBF"
          "age, job,score\r\n20,\"a, \"\"b\"\"\",0.5\r\n,x,1e3\r\n+40,\"\",-2\r\n");
  REQUIRE(data.columns.size() == 3);
  CHECK(data.rows == 3);
  CHECK(data.columns[0].is_numeric());
  CHECK(data.columns[0].is_integer);
  CHECK(data.columns[0].number(2) == 40);
  CHECK(data.columns[0].is_missing(1));
  CHECK(data.columns[1].name == "job");
  CHECK(data.columns[1].kind == Kind::kCategorical);
  CHECK(data.columns[1].text(0) == "a, \"b\"");
  CHECK_FALSE(data.columns[1].is_missing(2));
  CHECK(data.columns[2].number(1) == 1000);
  CHECK_FALSE(data.columns[2].is_integer);
}

TEST_CASE("CSV: one word makes a column categorical, wherever it stands") {
  std::string text = "v,w\n";
  for (int i = 0; i < 3000; ++i) text += i == 2500 ? "x,1\n" : "7,1\n";
  const Dataset data = csv(text);
  CHECK_FALSE(data.columns[0].is_numeric());
  CHECK(data.columns[0].words == std::vector<std::string>{"7", "x"});
  CHECK(data.columns[1].is_numeric());
}

TEST_CASE("CSV: hostile files are refused with a sentence") {
  CHECK(refused("") == "the file is empty: a header row is needed");
  CHECK(refused("a,b\n1\n") == "row 2 has 1 cells, the header has 2");
  CHECK(refused("a,b\n1,2\n1,2,3\n") == "row 3 has 3 cells, the header has 2");
  CHECK(refused("a,b\n1,\"2\n") == "the quote opened in row 2 is never closed");
  CHECK(refused("a,b\n1,\"2\"x\n") == "row 2 has text after a closing quote");
  CHECK(refused(std::string_view("a,b\n1,\0\n", 8)) == "byte 6 is NUL: this is no text file");
  CHECK(refused(std::string(2 * kMaxColumns, ',')) == "row 1 has more than 10000 cells");
  CHECK(refused("a\n" + std::string(kMaxCellBytes + 1, 'x')) ==
        "row 2, cell 1 has 16777217 bytes; at most 16777216 are read");
}

TEST_CASE("CSV: limits, sampling, separators, names") {
  std::string text = "a;b;b\n";
  for (int i = 0; i < 1000; ++i) text += "1;2;3\n";
  CHECK(csv(text).columns[2].name == "b (2)");
  const Dataset first = csv(text, {.max_examples = 10});
  CHECK(first.rows == 10);
  CHECK(first.note == "only the first 10 examples were read");
  const size_t kept = csv(text, {.sampling_odds = 0.3}).rows;
  CHECK(kept > 200);
  CHECK(kept < 400);
  CHECK(kept == csv(text, {.sampling_odds = 0.3}).rows);
}

TEST_CASE("CSV out: formulas are disarmed, numbers are not") {
  std::string out;
  for (const std::string_view cell : {"=1+2", "-3.5", "@x", "a\"b", "-x", "plain"}) {
    append_csv_cell(out, cell);
    out += '|';
  }
  CHECK(out == "\"'=1+2\"|-3.5|\"'@x\"|\"a\"\"b\"|\"'-x\"|plain|");
}

TEST_CASE("JSON rows: lines and arrays, nesting, lists, gaps") {
  const auto lines =
      read_json_rows("{\"a\":1,\"b\":{\"c\":\"x\"}}\n{\"a\":2.5,\"l\":[1,2,3]}\n", {});
  REQUIRE(lines);
  CHECK(lines->rows == 2);
  CHECK(lines->find("b.c")->text(0) == "x");
  CHECK(lines->find("b.c")->is_missing(1));
  CHECK(lines->find("l")->length(1) == 3);
  CHECK(lines->find("l")->is_missing(0));
  const auto array = read_json_rows(" [ {\"a\":\"}\"} , {\"a\":null},{\"a\":true} ]", {});
  REQUIRE(array);
  CHECK(array->rows == 3);
  CHECK(array->columns[0].text(0) == "}");
  CHECK(array->columns[0].is_missing(1));
  CHECK(read_json_rows("{\"a\":1", {}).error().text == "example 1 at byte 0 is cut off");
  CHECK(read_json_rows("3", {}).error().text == "example 1 at byte 0 is no JSON object");
  CHECK_FALSE(read_json_rows("{\"a\":[{}]}", {}));
}

TEST_CASE("Examples: written and read again; damage loses one record") {
  const auto data = read_json_rows(
      "{\"n\":3,\"f\":0.5,\"w\":\"a\",\"l\":[1,2]}\n{\"n\":-4,\"f\":0.25,\"w\":\"b\",\"l\":[]}\n"
      "{\"n\":5,\"f\":1.5,\"w\":\"c\",\"l\":[7]}\n",
      {});
  REQUIRE(data);
  std::string file = write_records(*data);
  const auto again = read_examples(as_bytes(file), {});
  REQUIRE(again);
  CHECK(again->rows == 3);
  CHECK(again->find("n")->number(1) == -4);
  CHECK(again->find("n")->is_integer);
  CHECK(again->find("f")->number(0) == 0.5);
  CHECK(again->find("w")->text(2) == "c");
  CHECK(again->find("l")->length(0) == 2);
  CHECK(again->find("l")->is_missing(1));
  const size_t second = file.find(
      "\x01"
      "b");
  REQUIRE(second != file.npos);
  file[second + 1] = 'z';
  const auto damaged = read_examples(as_bytes(file), {});
  REQUIRE(damaged);
  CHECK(damaged->rows == 2);
  CHECK(damaged->note == "1 damaged records were skipped");
  for (size_t size = 0; size < file.size(); ++size)
    (void)read_examples(as_bytes(file).subspan(0, size), {});
}

TEST_CASE("Examples out: what no 64-bit number holds is written as a float") {
  const auto data = read_csv("a,b\n1111111111111111111111111111,1\n2,2\n", {});
  REQUIRE(data);
  const auto again = read_examples(as_bytes(write_records(*data)), {});
  REQUIRE(again);
  CHECK(again->find("a")->number(0) == doctest::Approx(1.1111111e27));
  CHECK(again->find("b")->number(1) == 2);
  const auto holes = read_json_rows("{\"l\":[1,null,3]}\n{\"l\":[4]}\n", {});
  REQUIRE(holes);
  const auto list = read_examples(as_bytes(write_records(*holes)), {});
  REQUIRE(list);
  const Column& l = *list->find("l");
  REQUIRE(l.length(0) == 3);
  CHECK(std::isnan(l.numbers[1]));
  CHECK(l.numbers[2] == 3);
}

TEST_CASE("SequenceExample: context and lists") {
  // context { feature { key "id" int64 7 } } lists { key "t" feature_list { float 1 } { float 2 } }
  std::string message;
  wire::Encoder encoder(message);
  encoder.message(1, [](wire::Encoder& features) {
    features.message(1, [](wire::Encoder& entry) {
      entry.bytes(1, "id");
      entry.message(2, [](wire::Encoder& f) {
        f.message(3, [](wire::Encoder& list) { list.varint(1, 7); });
      });
    });
  });
  encoder.message(2, [](wire::Encoder& lists) {
    lists.message(1, [](wire::Encoder& entry) {
      entry.bytes(1, "t");
      entry.message(2, [](wire::Encoder& list) {
        for (const float v : {1.f, 2.f})
          list.message(1, [&](wire::Encoder& f) {
            f.message(2, [&](wire::Encoder& values) { values.real32(1, v); });
          });
      });
    });
  });
  DatasetBuilder builder;
  CHECK(add_example(as_bytes(message), Message::kSequenceExample, builder) == Added::kYes);
  const auto data = std::move(builder).finish("");
  REQUIRE(data);
  CHECK(data->find("id")->number(0) == 7);
  CHECK(data->find("t")->length(0) == 2);
}

TEST_CASE("A data set of many narrow rows is refused before memory is") {
  DatasetBuilder builder;
  bool fits = true;
  size_t row = 0;
  for (; fits && row < 30'000; ++row) {
    ColumnBuilder* column = builder.column(std::to_string(row));
    if (!column) break;
    column->number(1, true);
    fits = builder.end_row();
  }
  CHECK(row <= kMaxColumns);
}

TEST_CASE("Bytes of an unknown kind say what to do") {
  CHECK_FALSE(read_bytes(as_bytes("PAR1...."), "x.parquet", {}));
  CHECK_FALSE(read_bytes(as_bytes("PK\x03\x04 cut"), "x.npz", {}));
  CHECK_FALSE(read_bytes({}, "x", {}));
}

}  // namespace
}  // namespace sonde::whatif
