#include "log/team/tables.h"

#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "base/strings.h"

namespace sonde::team {
namespace {

using io::put_number;
using io::put_string;

struct Definition {
  std::string_view name, columns, engine;
};

// The dialect is that of every version since 18.
constexpr std::array kDefinitions = {
    Definition{"points",
               "project String, run String, tag String, n UInt64, step Int64, wall_time Float64, "
               "value Float64",
               "ReplacingMergeTree() PARTITION BY project ORDER BY (project, tag, run, n)"},
    Definition{"last",
               "project String, run String, tag String, value AggregateFunction(argMax, Float64, "
               "UInt64), step AggregateFunction(argMax, Int64, UInt64)",
               "AggregatingMergeTree() PARTITION BY project ORDER BY (project, tag, run)"},
    // A point a level and 2^level points: what charts of long series are drawn from in SQL.
    // Points that are sent twice change none of it.
    Definition{"lod",
               "project String, run String, tag String, level UInt8, bucket UInt64, "
               "least AggregateFunction(min, Float64), most AggregateFunction(max, Float64), "
               "first AggregateFunction(argMin, Float64, UInt64), "
               "last AggregateFunction(argMax, Float64, UInt64), "
               "first_step AggregateFunction(argMin, Int64, UInt64), "
               "last_step AggregateFunction(argMax, Int64, UInt64), "
               "last_n AggregateFunction(max, UInt64)",
               "AggregatingMergeTree() PARTITION BY project ORDER BY (project, tag, level, run, "
               "bucket)"},
    Definition{"runs",
               "project String, run String, folder String, first_event Float64, started Float64, "
               "ended Float64, points UInt64, bytes UInt64, segments UInt64, meta_graphs UInt64, "
               "has_events UInt8, version UInt64",
               "ReplacingMergeTree(version) PARTITION BY project ORDER BY (project, run)"},
    Definition{"series",
               "project String, run String, tag String, position UInt32, plugin String, content "
               "String, display_name String, description String, data_class UInt8, from_v1 UInt8, "
               "is_scalar UInt8, value_type UInt8, points UInt64, unreadable UInt64, mistyped "
               "UInt64, first_step Int64, first_wall_time Float64, first_value Float64, last_step "
               "Int64, last_wall_time Float64, last_value Float64, layout UInt64, version UInt64",
               "ReplacingMergeTree(version) PARTITION BY project ORDER BY (project, run, tag)"},
    Definition{"blobs",
               "project String, run String, tag String, kind UInt8, n UInt64, step Int64, "
               "wall_time Float64, file String, offset UInt64, length UInt64, value UInt32, "
               "position UInt64",
               "ReplacingMergeTree() PARTITION BY project ORDER BY (project, run, tag, kind, n)"},
};

void put_end(std::string& rows, const EndPoint& end) {
  put_number(rows, int64_t{end.step});
  put_number(rows, end.wall_time);
  put_number(rows, end.value);
}

void read_end(io::RowReader& in, EndPoint& end) {
  end.step = in.number<int64_t>();
  end.wall_time = in.number<double>();
  end.value = in.number<double>();
}

tl::unexpected<Error> not_understood() {
  return fail(Code::kCorrupt, "ClickHouse's answer is cut or not understood");
}

}  // namespace

Tables::Tables(io::ClickHouse server, std::string project)
    : server_(std::move(server)),
      project_(std::move(project)),
      where_(" WHERE project = " + io::quoted_sql(project_)) {}

std::string Tables::table(std::string_view name) const {
  return server_.database + "." + std::string(name);
}

Result<void> Tables::make(const std::string& cluster) const {
  std::vector<std::string> statements = {"CREATE DATABASE IF NOT EXISTS " + server_.database};
  const std::string suffix = cluster.empty() ? "" : "_local";
  for (const Definition& one : kDefinitions) {
    const std::string name(one.name);
    statements.push_back("CREATE TABLE IF NOT EXISTS " + table(name + suffix) + " (" +
                         std::string(one.columns) + ") ENGINE = " + std::string(one.engine));
    if (cluster.empty()) continue;
    // All rows of a run are on one node: what is counted and merged there is whole.
    statements.push_back("CREATE TABLE IF NOT EXISTS " + table(name) + " AS " +
                         table(name + suffix) + " ENGINE = Distributed(" + io::quoted_sql(cluster) +
                         ", " + io::quoted_sql(server_.database) + ", " +
                         io::quoted_sql(name + suffix) + ", cityHash64(project, run))");
  }
  statements.push_back("CREATE MATERIALIZED VIEW IF NOT EXISTS " + table("last_feed") + " TO " +
                       table("last" + suffix) +
                       " AS SELECT project, run, tag, argMaxState(value, n) AS value, "
                       "argMaxState(step, n) AS step FROM " +
                       table("points" + suffix) + " GROUP BY project, run, tag");
  for (const std::string level : {"8", "12", "16"}) {
    statements.push_back("CREATE MATERIALIZED VIEW IF NOT EXISTS " + table("lod_feed_" + level) +
                         " TO " + table("lod" + suffix) + " AS SELECT project, run, tag, toUInt8(" +
                         level + ") AS level, bitShiftRight(n, " + level +
                         ") AS bucket, minState(value) AS least, maxState(value) AS most, "
                         "argMinState(value, n) AS first, argMaxState(value, n) AS last, "
                         "argMinState(step, n) AS first_step, argMaxState(step, n) AS last_step, "
                         "maxState(n) AS last_n FROM " +
                         table("points" + suffix) + " GROUP BY project, run, tag, bucket");
  }
  for (const std::string& statement : statements) {
    if (auto made = server_.run(statement); !made) return fail(made.error());
  }
  return {};
}

Result<std::string> Tables::fingerprint() const {
  std::string all;
  for (const std::string_view name : {"series", "runs"}) {
    SONDE_TRY(const text,
              server_.run("SELECT count(), max(version), sum(version), sum(points) FROM " +
                          table(name) + where_ + " FORMAT TabSeparated"));
    all += text;
  }
  return all;
}

Result<std::vector<RunRow>> Tables::runs() const {
  SONDE_TRY(const text,
            server_.run("SELECT run, folder, first_event, started, ended, points, bytes, segments, "
                        "meta_graphs, has_events, version FROM " +
                        table("runs") + " FINAL" + where_ + " ORDER BY run FORMAT RowBinary"));
  std::vector<RunRow> rows;
  io::RowReader in(text);
  while (in.has_more()) {
    RunRow row;
    row.run = in.string();
    row.folder = in.string();
    for (double* at : {&row.first_wall_time, &row.min_wall_time, &row.last_wall_time})
      *at = in.number<double>();
    for (uint64_t* at : {&row.points, &row.bytes, &row.segments, &row.meta_graphs})
      *at = in.number<uint64_t>();
    row.has_events = in.number<uint8_t>() != 0;
    row.version = in.number<uint64_t>();
    rows.push_back(std::move(row));
  }
  if (!in.is_good()) return not_understood();
  return rows;
}

Result<std::vector<SeriesRow>> Tables::series() const {
  SONDE_TRY(const text,
            server_.run("SELECT run, tag, position, plugin, content, display_name, description, "
                        "data_class, from_v1, is_scalar, value_type, points, unreadable, mistyped, "
                        "first_step, first_wall_time, first_value, last_step, last_wall_time, "
                        "last_value, layout, version FROM " +
                        table("series") + " FINAL" + where_ +
                        " ORDER BY run, position, tag FORMAT RowBinary"));
  std::vector<SeriesRow> rows;
  io::RowReader in(text);
  while (in.has_more()) {
    SeriesRow row;
    row.run = in.string();
    row.tag = in.string();
    row.position = in.number<uint32_t>();
    row.metadata.plugin = in.string();
    row.metadata.content = in.string();
    row.metadata.display_name = in.string();
    row.metadata.description = in.string();
    const auto data_class = in.number<uint8_t>();
    row.metadata.from_v1 = in.number<uint8_t>() != 0;
    row.is_scalar = in.number<uint8_t>() != 0;
    const auto type = in.number<uint8_t>();
    for (uint64_t* at : {&row.points, &row.unreadable, &row.mistyped}) *at = in.number<uint64_t>();
    read_end(in, row.first);
    read_end(in, row.last);
    row.layout = in.number<uint64_t>();
    row.version = in.number<uint64_t>();
    if (data_class > static_cast<uint8_t>(store::DataClass::kBlobSequence) ||
        type > static_cast<uint8_t>(store::ValueType::kBool))
      return not_understood();
    row.metadata.data_class = static_cast<store::DataClass>(data_class);
    row.type = static_cast<store::ValueType>(type);
    rows.push_back(std::move(row));
  }
  if (!in.is_good()) return not_understood();
  return rows;
}

Result<std::vector<BlobRow>> Tables::blobs(std::string_view run, std::string_view tag,
                                           BlobKind kind) const {
  SONDE_TRY(const text,
            server_.run("SELECT n, step, wall_time, file, offset, length, value, position FROM " +
                        table("blobs") + " FINAL" + where_ + " AND run = " + io::quoted_sql(run) +
                        " AND tag = " + io::quoted_sql(tag) + " AND kind = " +
                        std::to_string(static_cast<int>(kind)) + " ORDER BY n FORMAT RowBinary"));
  std::vector<BlobRow> rows;
  io::RowReader in(text);
  while (in.has_more()) {
    BlobRow row;
    row.n = in.number<uint64_t>();
    row.point.step = in.number<int64_t>();
    row.point.wall_time = in.number<double>();
    row.file = in.string();
    row.point.where.offset = in.number<uint64_t>();
    row.point.where.length = in.number<uint64_t>();
    row.point.where.value = in.number<uint32_t>();
    row.position = in.number<uint64_t>();
    rows.push_back(std::move(row));
  }
  if (!in.is_good()) return not_understood();
  return rows;
}

Result<void> Tables::points(std::string_view tag, const std::vector<std::string_view>& runs,
                            uint64_t from, uint64_t to, const TakePoint& take) const {
  std::string names;
  for (const std::string_view run : runs) {
    if (!names.empty()) names += ", ";
    names += io::quoted_sql(run);
  }
  // The names come back as places in the list: rows of a million points do not repeat them.
  SONDE_TRY(const text,
            server_.run("SELECT toUInt32(indexOf([" + names +
                        "], run)) AS place, n, step, wall_time, value FROM " + table("points") +
                        " FINAL" + where_ + " AND tag = " + io::quoted_sql(tag) + " AND run IN (" +
                        names + ") AND n >= " + std::to_string(from) + " AND n < " +
                        std::to_string(to) + " ORDER BY place, n FORMAT RowBinary"));
  io::RowReader in(text);
  while (in.has_more()) {
    const auto place = in.number<uint32_t>();
    const auto n = in.number<uint64_t>();
    EndPoint point;
    read_end(in, point);
    if (!in.is_good() || place == 0 || place > runs.size()) return not_understood();
    take(runs[place - 1], n, point);
  }
  if (!in.is_good()) return not_understood();
  return {};
}

Result<void> Tables::insert(std::string_view name, std::string_view rows) const {
  if (rows.empty()) return {};
  if (auto done = server_.run("INSERT INTO " + table(name) + " FORMAT RowBinary", rows); !done)
    return fail(done.error());
  return {};
}

void Tables::put(std::string& rows, const RunRow& row) const {
  for (const std::string* text : {&project_, &row.run, &row.folder}) put_string(rows, *text);
  for (const double number : {row.first_wall_time, row.min_wall_time, row.last_wall_time})
    put_number(rows, number);
  for (const uint64_t number : {row.points, row.bytes, row.segments, row.meta_graphs})
    put_number(rows, number);
  put_number(rows, static_cast<uint8_t>(row.has_events));
  put_number(rows, row.version);
}

void Tables::put(std::string& rows, const SeriesRow& row) const {
  for (const std::string* text : {&project_, &row.run, &row.tag}) put_string(rows, *text);
  put_number(rows, row.position);
  for (const std::string* text : {&row.metadata.plugin, &row.metadata.content,
                                  &row.metadata.display_name, &row.metadata.description})
    put_string(rows, *text);
  put_number(rows, static_cast<uint8_t>(row.metadata.data_class));
  put_number(rows, static_cast<uint8_t>(row.metadata.from_v1));
  put_number(rows, static_cast<uint8_t>(row.is_scalar));
  put_number(rows, static_cast<uint8_t>(row.type));
  for (const uint64_t number : {row.points, row.unreadable, row.mistyped}) put_number(rows, number);
  put_end(rows, row.first);
  put_end(rows, row.last);
  put_number(rows, row.layout);
  put_number(rows, row.version);
}

void Tables::put_point(std::string& rows, std::string_view run, std::string_view tag, uint64_t n,
                       const EndPoint& point) const {
  put_string(rows, project_);
  put_string(rows, run);
  put_string(rows, tag);
  put_number(rows, n);
  put_end(rows, point);
}

void Tables::put_blob(std::string& rows, std::string_view run, std::string_view tag, BlobKind kind,
                      const BlobRow& row) const {
  put_string(rows, project_);
  put_string(rows, run);
  put_string(rows, tag);
  put_number(rows, static_cast<uint8_t>(kind));
  put_number(rows, row.n);
  put_number(rows, int64_t{row.point.step});
  put_number(rows, row.point.wall_time);
  put_string(rows, row.file);
  put_number(rows, row.point.where.offset);
  put_number(rows, row.point.where.length);
  put_number(rows, row.point.where.value);
  put_number(rows, row.position);
}

Result<void> Tables::remove_points(std::string_view run, std::string_view tag) const {
  const std::string which =
      where_ + " AND run = " + io::quoted_sql(run) + " AND tag = " + io::quoted_sql(tag);
  for (const char* name : {"points", "last", "lod", "blobs"}) {
    if (auto done = server_.run("ALTER TABLE " + table(name) + " DELETE" + which); !done)
      return fail(done.error());
  }
  // Removal goes on behind the answer: what is sent now must not be taken for the old.
  for (int look = 0; look < 600; ++look) {
    SONDE_TRY(const left, server_.run("SELECT (SELECT count() FROM " + table("points") + which +
                                      ") + (SELECT count() FROM " + table("blobs") + which + ")"));
    if (trimmed(left) == "0") return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return fail(Code::kBusy, "ClickHouse has not removed the old points within a minute");
}

}  // namespace sonde::team
