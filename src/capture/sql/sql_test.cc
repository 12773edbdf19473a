#include "capture/sql/sql.h"

#include <doctest/doctest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "capture/report/render.h"
#include "capture/trace/builder.h"
#include "capture/trace/questions.h"
#include "tests/support/paths.h"

namespace sonde::capture::sql {
namespace {

using trace::Builder;
using trace::SliceId;
using trace::TrackId;
using trace::TrackKind;

// Two threads and a stream: step > matmul > launch, step > relu; on the stream gemm and relu_k.
trace::Trace small_trace() {
  Builder builder("test");
  const TrackId python = builder.process("python", 1);
  const TrackId main = builder.track(TrackKind::kThread, python, "main", 10);
  const TrackId reader = builder.track(TrackKind::kThread, python, "reader", 11);
  const TrackId gpu = builder.process("gpu", 2);
  const TrackId stream = builder.track(TrackKind::kStream, gpu, "stream 7", 7);
  const TrackId memory = builder.track(TrackKind::kCounter, gpu, "memory", 0);
  builder.slice(main, {0}, {100}, builder.label("step", "user"));
  builder.slice(main, {10}, {40}, builder.label("matmul", "op"));
  builder.arg("shape", "[2,3]");
  builder.arg("flops", int64_t{12});
  const SliceId launch = builder.slice(main, {20}, {10}, builder.label("launch"));
  builder.slice(main, {60}, {30}, builder.label("relu", "op"));
  builder.arg("flops", int64_t{3});
  builder.slice(reader, {5}, {20}, builder.label("read"));
  const SliceId gemm = builder.slice(stream, {40}, {35}, builder.label("gemm", "kernel"));
  builder.arg("load", 0.5);
  builder.slice(stream, {80}, {5}, builder.label("relu", "kernel"));
  builder.flow(launch, gemm, "launch");
  builder.point(memory, {0}, 1.5);
  builder.point(memory, {50}, 3.0);
  return std::move(builder).finish();
}

struct Loaded {
  explicit Loaded(trace::Trace trace) : session(one_host(std::move(trace))) {}
  static trace::Session one_host(trace::Trace trace) {
    trace::Session session;
    session.hosts.push_back(
        {"host0", "file", 0, std::make_shared<const trace::Trace>(std::move(trace))});
    return session;
  }
  const HostAnalysis& host() const { return *session.analysis().hosts[0]; }
  Session session;
};

// Rows as "a,b;c,d", without the header.
std::string asked(const HostAnalysis& host, std::string_view query, const Limits& limits = {}) {
  const auto answer = run(host, query, limits);
  if (!answer) return "error: " + answer.error().text;
  std::string out;
  for (const auto& row : answer->table.rows) {
    if (!out.empty()) out += ";";
    for (size_t c = 0; c < row.size(); ++c) out += (c > 0 ? "," : "") + cell_text(row[c]);
  }
  return out;
}

}  // namespace

TEST_CASE("SQL: tables, views and functions over a small trace") {
  const Loaded loaded(small_trace());
  const struct {
    std::string promise, query, rows;
  } cases[] = {
      {"a slice has all its columns", "select * from slices where id = 1",
       "1,10,40,1,matmul,op,1,0,30"},
      {"the outermost has no parent, and no category is NULL",
       "select id, parent is null, category is null from slices where id in (0, 4) order by id",
       "0,1,0;4,1,1"},
      {"equal names of different categories are one group",
       "select name, count(*), sum(dur) from slices group by name order by name",
       "gemm,1,35;launch,1,10;matmul,1,40;read,1,20;relu,2,35;step,1,100"},
      {"groups by name and category",
       "select category, name, count(*) from slices group by category, name order by 1, 2",
       ",launch,1;,read,1;kernel,gemm,1;kernel,relu,1;op,matmul,1;op,relu,1;user,step,1"},
      {"groups by category", "select category, count(*) from slices group by category",
       ",2;kernel,2;op,2;user,1"},
      {"order by name backwards", "select name from slices where track = 1 order by name desc",
       "step;relu;matmul;launch"},
      {"a range of time", "select name from slices where ts >= 20 and ts < 60 order by ts",
       "launch;gemm"},
      {"a bound that is no whole number", "select count(*) from slices where ts > 19.5", "4"},
      {"a bound that is a text of a number", "select count(*) from slices where ts > '59'", "2"},
      {"a bound that is NULL", "select count(*) from slices where ts > NULL", "0"},
      {"a key that is no whole number", "select count(*) from slices where id = 1.5", "0"},
      {"patterns", "select name from slices where name like 'RE%' and category glob 'k*'", "relu"},
      {"regular expressions",
       "select name from slices where name regexp '^(gemm|launch)$' order by 1", "gemm;launch"},
      {"another collation", "select count(*) from slices where name = 'RELU' collate nocase", "2"},
      {"children of a slice", "select name from slices where parent = 0 order by ts",
       "matmul;relu"},
      {"nothing has no children", "select count(*) from slices where parent = 99", "0"},
      {"a walk up by recursion",
       "with recursive up(id, parent, name) as (select id, parent, name from slices where name = "
       "'launch' union all select s.id, s.parent, s.name from up join slices s on s.id = "
       "up.parent) "
       "select group_concat(name, ' < ') from up",
       "launch < matmul < step"},
      {"arguments", "select slice, key, value, type from args order by slice, key",
       "1,flops,12,integer;1,shape,[2,3],text;3,flops,3,integer;5,load,0.5,real"},
      {"arguments join their slices",
       "select s.name, a.value from slices s join args a on a.slice = s.id and a.key = 'flops' "
       "order by 2",
       "relu,3;matmul,12"},
      {"a key that nobody has", "select count(*) from args where key = 'nobody'", "0"},
      {"tracks", "select id, name, kind, process, thread, number, slices from tracks order by id",
       "0,python,process,python,,1,0;1,main,thread,python,main,10,4;2,reader,thread,python,reader,"
       "11,1;3,gpu,process,gpu,,2,0;4,stream 7,stream,gpu,stream 7,7,2;5,memory,counter,gpu,,0,0"},
      {"counters", "select * from counters where ts > 10", "5,50,3,memory"},
      {"flows lead to device work",
       "select a.name, b.name, f.kind from flows f join slices a on a.id = f.from_slice join "
       "slices "
       "b on b.id = f.to_slice",
       "launch,gemm,launch"},
      {"flows by their end", "select from_slice from flows where to_slice = 5", "2"},
      {"a trace without steps", "select count(*) from steps", "0"},
      {"what the trace says of itself", "select value from metadata where key = 'sonde.format'",
       "test"},
      {"views in ms", "select dur_ms, self_ms from slices_ms where name = 'matmul'", "4e-08,3e-08"},
      {"device work", "select name, process, thread from device_slices order by ts",
       "gemm,gpu,stream 7;relu,gpu,stream 7"},
      {"threads", "select process, thread from thread_slices where name = 'read'", "python,reader"},
      {"sums by name", "select name, category, count, dur, self, min_dur from names where id >= 2",
       "matmul,op,1,40,30,40;read,,1,20,20,20;relu,kernel,1,5,5,5;relu,op,1,30,30,30;step,user,1,"
       "100,30,100"},
      {"in ms", "select name, count, max_ms from names_ms where name = 'matmul'", "matmul,1,4e-08"},
      {"percentiles", "select percentile(dur, 50), median(dur), percentile(dur, 100) from slices",
       "30,30,100"},
      {"between two values", "select percentile(dur, 25) from slices where track = 4", "12.5"},
      {"of nothing", "select median(dur) is null from slices where id < 0", "1"},
      {"ms and us", "select ms(1500000000), us(dur) from slices where id = 0", "1.5,0.0001"},
      {"windows", "select name, dur - lag(dur) over (order by ts) from slices where track = 4",
       "gemm,;relu,-30"},
      {"JSON of an argument",
       "select j.value from args a, json_each(a.value) j where a.key = 'shape'", "2;3"},
      {"a trailing semicolon and a comment", "select 1; -- that is all", "1"},
      {"how a query is run", "select count(*) > 0 from (select * from slices) where 1", "1"},
  };
  for (const auto& [promise, query, rows] : cases) {
    CAPTURE(promise);
    CHECK(asked(loaded.host(), query) == rows);
  }
}

TEST_CASE("SQL: what is wrong is said with its place") {
  const Loaded loaded(small_trace());
  const struct {
    std::string query, text;
  } cases[] = {
      {"select nam from slices", "line 1, column 8: no such column: nam"},
      {"select *\nfrom slice", "no such table: slice"},
      {"select 'ä', nam from slices", "line 1, column 13: no such column: nam"},
      {"select\n  name from slices where and", "line 2, column 26: near \"and\": syntax error"},
      {"select \"step\" from slices", "line 1, column 8: no such column: step"},
      {"", "the query is empty"},
      {"-- nothing", "the query is empty"},
      {"select 1; select 2",
       "line 1, column 10: one query at a time, without anything behind its semicolon"},
      {"delete from slices", "table slices may not be modified"},
      {"insert into slices values (1)", "a query may only read (SELECT or WITH), not use INSERT"},
      {"create table t(x)",
       "a query may only read (SELECT or WITH) the tables and views of the schema"},
      {"drop view names_ms",
       "a query may only read (SELECT or WITH) the tables and views of the schema"},
      {"attach ':memory:' as other", "a query may only read (SELECT or WITH), not use ATTACH"},
      {"pragma temp_store = file", "a query may only read (SELECT or WITH), not use PRAGMA"},
      {"select * from pragma_database_list",
       "a query may only read (SELECT or WITH) the tables and views of the schema"},
      {"select * from dbstat",
       "a query may only read (SELECT or WITH) the tables and views of the schema"},
      {"begin", "a query may only read (SELECT or WITH), not use a transaction"},
      {"vacuum into '/tmp/x'", "a query may only read (SELECT or WITH)"},
      {"select load_extension('x')",
       "line 1, column 8: the function load_extension() is not allowed here"},
      {"select fts3_tokenizer('simple')",
       "line 1, column 8: the function fts3_tokenizer() is not allowed here"},
      {"select randomblob(1000000)",
       "line 1, column 8: the function randomblob() is not allowed here"},
      {"select replace(printf('%300000d', 1), ' ', 'xx')", "string or blob too big"},
      {"select name from slices where name regexp '('",
       "regular expression '(': missing ): ( (lookaround and back-references are not available)"},
      {"select percentile(dur, 200) from slices", "percentile(x, p) takes a p from 0 to 100"},
  };
  for (const auto& [query, text] : cases) {
    CAPTURE(query);
    CHECK(asked(loaded.host(), query) == "error: " + text);
  }
  CHECK(asked(loaded.host(), std::string("select 1\0", 9)) ==
        "error: a query cannot contain a zero byte");
  CHECK(asked(loaded.host(), std::string(70000, ' ')).starts_with("error: a query may have 64 kB"));
}

TEST_CASE("SQL: limits are kept and said") {
  const Loaded loaded(small_trace());
  Limits limits;
  limits.rows = 3;
  auto answer = run(loaded.host(), "select * from slices", limits);
  REQUIRE(answer);
  CHECK(answer->table.rows.size() == 3);
  CHECK(answer->cut == "after 3 rows");
  limits.rows = 7;  // exactly all
  CHECK(run(loaded.host(), "select * from slices", limits)->cut == "");

  limits = {};
  limits.bytes = 1'000'000;
  answer = run(loaded.host(),
               "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100) "
               "select printf('%100000d', i) from n",
               limits);
  REQUIRE(answer);
  CHECK(answer->cut == "after 10 rows, which are 1 MB");

  limits = {};
  int looks = 0;
  limits.stop = [&] { return ++looks > 3 ? std::string("enough") : std::string(); };
  const auto endless =
      run(loaded.host(),
          "with recursive n(i) as (select 1 union all select i + 1 from n) select sum(i) from n",
          limits);
  REQUIRE_FALSE(endless);
  CHECK(endless.error().code == Code::kTooLarge);
  CHECK(endless.error().text == "enough");

  // A sort that does not fit into the memory of all queries ends with a sentence, not the program.
  const auto hungry =
      run(loaded.host(),
          "with recursive n(i) as (select 1 union all select i + 1 from n limit 6000) "
          "select i from n order by printf('%100000d', i) desc");
  REQUIRE_FALSE(hungry);
  CHECK(hungry.error().code == Code::kTooLarge);
  CHECK(hungry.error().text.find("512 MiB") != std::string::npos);
}

TEST_CASE("SQL: columns have unique ids, types and units") {
  const Loaded loaded(small_trace());
  const auto answer =
      run(loaded.host(),
          "select a.ts, b.ts, a.name, 1.5 as mean_ms, 7 as x, 'a' as dur from slices "
          "a join slices b on b.id = a.id");
  REQUIRE(answer);
  const auto& columns = answer->table.columns;
  REQUIRE(columns.size() == 6);
  CHECK(columns[0].id == "ts");
  CHECK(columns[1].id == "ts_2");
  CHECK(columns[1].label == "ts");
  CHECK(columns[0].unit == "ps");
  CHECK(columns[2].type == Type::kText);
  CHECK(columns[3].unit == "");  // its name says it
  CHECK(columns[4].type == Type::kNumber);
  CHECK(columns[5].unit == "");  // a text has none
}

TEST_CASE("SQL: the schema is what can be read") {
  const Loaded loaded(small_trace());
  for (const Described& table : schema()) {
    CAPTURE(table.name);
    const auto answer = run(loaded.host(), "select * from " + table.name);
    REQUIRE(answer);
    std::vector<std::string> names;
    for (const Column& column : answer->table.columns) names.push_back(column.id);
    CHECK(names == table.columns);
  }
}

TEST_CASE("SQL: docs/sql.md lists the schema, and its queries run") {
  std::ifstream file(testing::source_path("docs/sql.md"));
  std::stringstream whole;
  whole << file.rdbuf();
  const std::string text = whole.str();
  for (const Described& table : schema()) {
    std::string row = "| `" + table.name + "` | ";
    for (size_t c = 0; c < table.columns.size(); ++c)
      row += (c > 0 ? ", `" : "`") + table.columns[c] + "`";
    CAPTURE(row);
    CHECK(text.find(row + " |") != std::string::npos);
  }
  const Loaded loaded(small_trace());
  int queries = 0;
  constexpr std::string_view kBegin = "```sql\n";
  for (size_t at = 0; (at = text.find(kBegin, at)) != std::string::npos; ++queries) {
    at += kBegin.size();
    const std::string query = text.substr(at, text.find("```", at) - at);
    CAPTURE(query);
    const auto answer = run(loaded.host(), query);
    CHECK(answer.has_value());
  }
  CHECK(queries == 10);
  CHECK(asked(loaded.host(), "select name, self_ms from names_ms order by self_ms desc limit 1") ==
        "gemm,3.5e-08");
}

// A narrowed scan gives what a scan of everything and a test of each row gives.
TEST_CASE("SQL: narrowing changes the cost, never the rows") {
  Builder builder("test");
  const TrackId process = builder.process("p", 1);
  uint32_t state = 1;
  const auto below = [&](uint32_t n) { return (state = state * 1664525 + 1013904223) / 65536 % n; };
  for (int t = 0; t < 5; ++t) {
    const TrackId track = builder.track(TrackKind::kThread, process, "t", t);
    for (int i = 0; i < 200; ++i) {
      builder.slice(track, {below(500)}, {below(60)},
                    builder.label("n" + std::to_string(below(12)), below(2) ? "a" : "b"));
      if (below(3) == 0) builder.arg("k" + std::to_string(below(4)), int64_t{below(9)});
    }
  }
  const Loaded loaded(std::move(builder).finish());
  const char* conditions[] = {"id = 7",
                              "id > 990",
                              "id <= 3",
                              "ts = 100",
                              "ts < 50",
                              "ts between 100 and 120",
                              "track = 3",
                              "track > 4",
                              "name = 'n3'",
                              "name like 'N1%'",
                              "name glob 'n[23]'",
                              "name regexp '1$'",
                              "category = 'a'",
                              "dur > 55",
                              "dur = 0",
                              "depth >= 3",
                              "parent = 5",
                              "ts >= 99.5 and track in (1, 2)",
                              "parent in (1, 2, 3)",
                              "name = 'n1' and ts < 300 and depth < 2"};
  for (const std::string condition : conditions) {
    CAPTURE(condition);
    // A unary plus keeps SQLite from handing the constraint on.
    std::string plain = condition;
    for (const std::string column :
         {"id", "ts", "track", "name", "category", "dur", "depth", "parent"}) {
      for (size_t at = 0; (at = plain.find(column + " ", at)) != std::string::npos;
           at += column.size() + 1)
        plain.insert(at, "+"), ++at;
    }
    const auto both = [&](const std::string& what, const std::string& fast,
                          const std::string& slow) {
      CHECK(asked(loaded.host(), "select " + what + " from slices where " + condition + fast) ==
            asked(loaded.host(), "select " + what + " from slices where " + plain + slow));
    };
    both("id", " order by id", " order by +id");
    both("id", " order by name, +id", " order by +name, +id");
    for (const char* way : {"", " desc"}) {
      const std::string by =
          " group by category, name order by category" + std::string(way) + ", name" + way;
      both("category, name, count(*), sum(dur)", by,
           " group by +category, +name order by 1" + std::string(way) + ", 2" + way);
      both("name, sum(dur)", " group by name order by 1" + std::string(way),
           " group by +name order by 1" + std::string(way));
      both("name, sum(dur)", " group by name order by 2" + std::string(way) + ", 1",
           " group by +name order by 2" + std::string(way) + ", 1");
    }
  }
  CHECK(asked(loaded.host(), "select slice, value from args where key = 'k2' and slice > 500") ==
        asked(loaded.host(), "select slice, value from args where +key = 'k2' and +slice > 500"));
  const trace::Trace& trace = loaded.host().trace();
  const auto answer = run(loaded.host(), "select id, parent, self from slices");
  REQUIRE(answer);
  for (const auto& row : answer->table.rows) {
    const auto s = static_cast<SliceId>(std::get<int64_t>(row[0]));
    const SliceId parent = trace::parent_of(trace, s);
    CHECK(parent == (std::holds_alternative<int64_t>(row[1])
                         ? static_cast<SliceId>(std::get<int64_t>(row[1]))
                         : trace::kNone));
    CHECK(trace::self_time(trace, s).value == std::get<int64_t>(row[2]));
  }
}

}  // namespace sonde::capture::sql
