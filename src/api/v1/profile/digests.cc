// GET digests, digests/ranks, digests/collectives, POST digests/sql, digests/open: thousands of ranks
// by what `sonde worker` kept of their traces.
#include "api/services/digests.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <list>

#include "api/services/captures.h"
#include "api/v1/area.h"
#include "api/v1/support.h"
#include "capture/report/render.h"
#include "capture/sql/sql.h"
#include "codec/base64.h"

namespace sonde::api::v1 {
namespace {

namespace digest = capture::digest;
constexpr size_t kMostRows = 512, kMostColumns = 1024;  // of the picture

Answer list(const Context& context, const Request&) {
  std::string body;
  JsonWriter json(body);
  json.array([&] {
    for (const DigestFolder& folder : *digest_folders(context)) {
      json.object([&] {
        json.key("id").string(folder.id);
        json.key("captures").number(folder.captures);
        json.key("bytes").number(folder.bytes);
        json.key("modified").number(static_cast<double>(folder.modified_ns) / 1e9);
      });
    }
  });
  return json_answer(context, 0, std::move(body));
}

// The picture: a cell is the longest of the ranks and steps it stands for, row by row.
void write_map(JsonWriter& json, const digest::Ranks& ranks) {
  const size_t steps = ranks.steps.size(), high = ranks.ranks.size();
  const size_t rows = std::min(high, kMostRows), columns = std::min(steps, kMostColumns);
  std::vector<float> cells(rows * columns, std::nanf(""));
  for (size_t rank = 0; rank < high; ++rank) {
    for (size_t step = 0; step < steps; ++step) {
      const float value = ranks.dur_ms[rank * steps + step];
      float& cell = cells[rank * rows / high * columns + step * columns / steps];
      if (!std::isnan(value) && !(cell >= value)) cell = value;
    }
  }
  static_assert(std::endian::native == std::endian::little);
  json.key("map").object([&] {
    json.key("rows").number(rows);
    json.key("columns").number(columns);
    json.key("dur_ms").string(
        base64({reinterpret_cast<const char*>(cells.data()), cells.size() * sizeof(float)}));
  });
}

Answer ranks(const Context& context, const Request& request) {
  SONDE_ANSWER(id, text_param(request, "digest"));
  SONDE_ANSWER(folder, digest_folder(context, id));
  SONDE_ANSWER(found, digest_ranks(context, folder));
  const digest::Ranks& all = *found;
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("digest").string(id);
    json.key("ranks").array([&] {
      for (const std::string& name : all.ranks) json.string(name);
    });
    json.key("hosts").array([&] {
      for (const std::string& name : all.hosts) json.string(name);
    });
    json.key("steps").array([&] {
      for (const std::string& name : all.steps) json.string(name);
    });
    json.key("median_ms").array([&] {
      for (const double value : all.median_ms) json.number(value);
    });
    write_map(json, all);
    json.key("stragglers").array([&] {
      for (const auto& one : all.stragglers) {
        json.object([&] {
          json.key("rank").number(one.rank);
          json.key("lost_ms").number(one.lost_ms);
          json.key("slowest").number(one.slowest);
          json.key("part").string(one.part);
          json.key("part_ms").number(one.part_ms);
        });
      }
    });
    json.key("outliers").array([&] {
      for (const auto& one : all.outliers) {
        json.object([&] {
          json.key("rank").number(one.rank);
          json.key("step").number(one.step);
          json.key("dur_ms").number(one.dur_ms);
          json.key("median_ms").number(one.median_ms);
        });
      }
    });
  });
  return json_answer(context, 0, std::move(body));
}

Answer collectives(const Context& context, const Request& request) {
  SONDE_ANSWER(id, text_param(request, "digest"));
  SONDE_ANSWER(folder, digest_folder(context, id));
  constexpr size_t kMost = 100;
  SONDE_ANSWER(found, digest::slowest_collectives(folder.path, kMost));
  std::string body;
  JsonWriter json(body);
  json.array([&] {
    for (const digest::Collective& one : found) {
      json.object([&] {
        json.key("name").string(one.name);
        json.key("number").number(one.number);
        json.key("ranks").number(one.ranks);
        json.key("min_ms").number(one.min_ms);
        json.key("mean_ms").number(one.mean_ms);
        json.key("max_ms").number(one.max_ms);
        json.key("waited_ms").number(one.waited_ms);
        json.key("last_rank").string(one.last_rank);
      });
    }
  });
  return json_answer(context, 0, std::move(body));
}

Answer sql(const Context& context, const Request& request) {
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(id, text_in(body, "digest"));
  SONDE_ANSWER(folder, digest_folder(context, id));
  SONDE_ANSWER(query, text_in(body, "sql"));
  SONDE_ANSWER(rows, integer_in(body, "limit", 10'000));
  std::list<table::ParquetTable> tables;
  std::vector<capture::sql::Flat> flat;
  for (const std::string_view name : digest::kTables) {
    // Only what the query names is read: the columns of all operations of all ranks are large.
    if (query.find(name) == std::string::npos) continue;
    SONDE_ANSWER(read, digest::read_table(folder.path, name, context.pool));
    tables.push_back(std::move(read));
    flat.push_back({std::string(name), &tables.back()});
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  capture::sql::Limits limits;
  limits.rows = static_cast<size_t>(std::clamp<int64_t>(rows, 1, 200'000));
  limits.stop = [&]() -> std::string {
    if (request.is_abandoned()) return "the client has gone";
    return std::chrono::steady_clock::now() < deadline ? "" : "the query was stopped after 30 s";
  };
  auto answer = capture::sql::run(flat, query, limits);
  if (!answer) {
    return error(answer.error(), "sql",
                 "the tables are steps, ops, collectives, memory, findings and captures");
  }
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("table");
    capture::append_table(json, answer->table);
    if (!answer->cut.empty()) json.key("cut").string(answer->cut);
  });
  return json_answer(context, 0, std::move(out));
}

// The trace of one rank becomes a session like any other.
Answer open(const Context& context, const Request& request) {
  if (auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(asked, object_of(request));
  SONDE_ANSWER(id, text_in(asked, "digest"));
  SONDE_ANSWER(rank, text_in(asked, "rank"));
  SONDE_ANSWER(folder, digest_folder(context, id));
  SONDE_ANSWER(table, digest::read_table(folder.path, "captures", context.pool));
  std::string path;
  const auto column = [&](std::string_view name) {
    return std::ranges::find(table.columns, name, &table::ParquetColumn::name);
  };
  const auto ranks = column("rank"), paths = column("capture");
  for (uint64_t row = 0; ranks != table.columns.end() && paths != table.columns.end() &&
                         ranks->is_text && paths->is_text && row < table.rows;
       ++row) {
    const uint32_t name = ranks->codes[row], at = paths->codes[row];
    if (name != table::ParquetColumn::kNull && at != table::ParquetColumn::kNull &&
        ranks->words[name] == rank)
      path = paths->words[at];
  }
  if (path.empty())
    return error({Code::kNotFound, fmt::format("the digests do not say where the capture of rank "
                                               "'{}' is",
                                               rank)});
  SONDE_ANSWER(session, context.services.captures().open(context, path));
  std::string body;
  JsonWriter json(body);
  json.object([&] { json.key("session").string(session); });
  return json_answer(context, 0, std::move(body));
}

constexpr Effort always_long(const Context&, const Request&) { return Effort::kLong; }

constexpr Route kRoutes[] = {
    {"GET", "/api/v1/digests", list},
    {"GET", "/api/v1/digests/ranks", ranks},
    {"GET", "/api/v1/digests/collectives", collectives, kMaxBodyBytes, always_long},
    {"POST", "/api/v1/digests/sql", sql, kMaxBodyBytes, always_long},
    {"POST", "/api/v1/digests/open", open},
};

}  // namespace

std::span<const Route> digest_routes() { return kRoutes; }

}  // namespace sonde::api::v1
