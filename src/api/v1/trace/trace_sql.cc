// GET trace/schema and POST trace/sql: queries over a trace (profile/sql), with the limits of a
// server that others use too: time, rows, bytes, and an end when the client has gone.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "api/v1/support.h"
#include "api/v1/trace/trace_viewed.h"
#include "capture/report/render.h"
#include "capture/sql/sql.h"

namespace sonde::api::v1 {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kUsualTimeMs = 10'000, kMostTimeMs = 60'000;
constexpr int64_t kUsualRows = 10'000, kMostRows = 200'000;

std::string time_text(int64_t ms) {
  return ms % 1000 == 0 ? fmt::format("{} s", ms / 1000) : fmt::format("{} ms", ms);
}

}  // namespace

Answer trace_schema(const Context& context, const Request&) {
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("tables").array([&] {
      for (const capture::sql::Described& table : capture::sql::schema()) {
        json.object([&] {
          json.key("name").string(table.name);
          json.key("columns").array([&] {
            for (const std::string& column : table.columns) json.string(column);
          });
        });
      }
    });
  });
  return json_answer(context, 0, std::move(body));
}

Answer trace_sql(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(query, text_in(body, "sql"));
  SONDE_ANSWER(rows, integer_in(body, "limit", kUsualRows));
  SONDE_ANSWER(time_ms, integer_in(body, "timeout_ms", kUsualTimeMs));
  const int64_t most_ms = std::clamp<int64_t>(time_ms, 1, kMostTimeMs);
  const auto deadline = std::chrono::steady_clock::now() + milliseconds(most_ms);
  capture::sql::Limits limits;
  limits.rows = static_cast<size_t>(std::clamp<int64_t>(rows, 1, kMostRows));
  limits.stop = [&]() -> std::string {
    if (request.is_abandoned()) return "the client has gone";
    if (std::chrono::steady_clock::now() < deadline) return {};
    return fmt::format(
        "the query was stopped after {}; narrow it by track, name or time, or use the table names "
        "instead of sums over slices",
        time_text(most_ms));
  };
  const capture::HostAnalysis& host = *found.analysis;
  auto answer = capture::sql::run(host, query, limits);
  if (!answer) return error(answer.error(), "sql");
  if (request.param("format").value_or("") == "csv") {
    Answer csv;
    csv.content_type = "text/csv; charset=utf-8";
    csv.body = capture::to_csv(answer->table);
    return csv;
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

}  // namespace sonde::api::v1
