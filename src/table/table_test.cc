#include "table/table.h"

#include <doctest/doctest.h>

#include "table/arrow.h"
#include "table/flat.h"
#include "table/parquet.h"
#include "table/thrift.h"

using namespace sonde;

namespace {

std::vector<table::Column> columns() {
  return {{"word", table::Kind::kWord, false, {"a", "b"}},
          {"number", table::Kind::kInt64, false, {}},
          {"text", table::Kind::kText, true, {}}};
}

table::Batch two_rows() {
  table::Batch batch{2, std::vector<table::Values>(3)};
  batch.columns[0].indices = {1, 0};
  batch.columns[1].integers = {7, -7};
  batch.columns[2].texts = {"", "x"};
  batch.columns[2].is_there = {0, 1};
  return batch;
}

}  // namespace

// That readers understand the files is tested with DuckDB, polars and pyarrow (tests/scale).
TEST_CASE("Tables: a file begins and ends as its format says, with or without rows") {
  for (const bool has_rows : {true, false}) {
    std::string parquet, arrow;
    const auto into = [](std::string& out) {
      return [&out](std::string_view bytes) {
        out += bytes;
        return true;
      };
    };
    const auto first = table::parquet_writer(columns(), into(parquet));
    const auto second = table::arrow_writer(columns(), into(arrow));
    for (table::Writer* writer : {first.get(), second.get()}) {
      if (has_rows) CHECK(writer->add(two_rows()));
      CHECK(writer->finish());
    }
    CHECK(parquet.starts_with("PAR1"));
    CHECK(parquet.ends_with("PAR1"));
    CHECK(arrow.starts_with("ARROW1"));
    CHECK(arrow.ends_with("ARROW1"));
  }
}

TEST_CASE("Tables: an output that cannot be written is an error") {
  const auto refuse = [](std::string_view) { return false; };
  CHECK(!table::parquet_writer(columns(), refuse)->add(two_rows()));
  CHECK(!table::arrow_writer(columns(), refuse)->finish());
}

TEST_CASE("Thrift: short and long steps between fields, lists, members") {
  std::string out;
  table::Thrift thrift(out);
  thrift.i32(1, -1);
  thrift.i64(20, 64);
  thrift.texts(21, {"ab"});
  thrift.object(22, [](table::Thrift& member) { member.i32(3, 1); });
  thrift.end();
  CHECK(out == std::string("\x15\x01\x06\x28\x80\x01\x19\x18\x02"
                           "ab\x1c\x35\x02\x00\x00",
                           16));
}

TEST_CASE("Flat buffers: members are aligned and references point forward") {
  table::Flat flat;
  const auto root = flat.table(
      {table::Flat::number(0, 1, 3), table::Flat::reference(1), table::Flat::number(3, 8, 9)});
  flat.root(root);
  flat.point(root.members[1], flat.text("hi"));
  const std::string bytes = flat.take();
  CHECK(bytes.size() % 8 == 0);
  CHECK(root.members[2] % 8 == 0);
  uint32_t offset = 0;
  std::memcpy(&offset, bytes.data() + root.members[1], sizeof offset);
  CHECK(bytes.substr(root.members[1] + offset + 4, 2) == "hi");
}
