// GET and POST export: every point of scalar series, nothing thinned, streamed.
#include <fmt/format.h>

#include <memory>

#include "api/services/state.h"
#include "api/v1/area.h"
#include "api/v1/series/series_list.h"
#include "api/v1/support.h"
#include "log/query/series/points.h"

namespace sonde::api::v1 {
namespace {

constexpr uint64_t kPerPiece = 8192;  // points; about half a megabyte of text

enum class Format : uint8_t { kCsv, kJsonLines };

Result<Format> format_of(std::string_view text) {
  if (text.empty() || text == "csv") return Format::kCsv;
  if (text == "jsonl") return Format::kJsonLines;
  return fail(Code::kInvalid, fmt::format("'format' is '{}', not csv or jsonl", text));
}

// A field of CSV after RFC 4180: quoted only when it must be.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted += '"';
}

void append_number(std::string& out, double value) {
  const size_t at = out.size();
  append_json_number(out, value);
  if (out[at] == '"') {  // NaN and infinities stand without quotes in CSV
    out.erase(at, 1);
    out.pop_back();
  }
}

// Walks the series one after the other; the snapshot keeps them alive.
class Exporter {
 public:
  Exporter(std::shared_ptr<const store::Snapshot> snapshot, std::vector<query::Item> items,
           Format format, store::View view)
      : snapshot_(std::move(snapshot)), items_(std::move(items)), format_(format), view_(view) {}

  std::optional<std::string> next() {
    std::string out;
    if (!began_ && format_ == Format::kCsv) out = "run,tag,step,wall_time,value\n";
    began_ = true;
    while (series_ < items_.size() && out.size() < (1u << 18)) append_some(out);
    if (out.empty()) return std::nullopt;
    return out;
  }

 private:
  void append_some(std::string& out) {
    const query::Item& item = items_[series_];
    const query::ViewReader reader(*item.series, view_);
    const uint64_t end = std::min(reader.size(), at_ + kPerPiece);
    points_.clear();
    reader.read(at_, end, points_);
    const bool narrow = item.series->value_type() == store::ValueType::kFloat32;
    const std::string prefix = prefix_of(item);
    for (size_t i = 0; i < points_.size(); ++i) append_point(out, prefix, i, narrow);
    at_ = end;
    if (at_ < reader.size()) return;
    ++series_;
    at_ = 0;
  }

  std::string prefix_of(const query::Item& item) const {
    if (format_ == Format::kCsv)
      return csv_field(item.run->name) + "," + csv_field(item.series->tag()) + ",";
    std::string prefix = "{\"run\":";
    append_json_string(prefix, item.run->name);
    prefix += ",\"tag\":";
    append_json_string(prefix, item.series->tag());
    return prefix += ",\"step\":";
  }

  void append_point(std::string& out, const std::string& prefix, size_t i, bool narrow) const {
    out += prefix;
    const bool csv = format_ == Format::kCsv;
    if (csv) {
      fmt::format_to(std::back_inserter(out), "{},", points_.steps[i]);
      append_number(out, points_.walls[i]);
      out += ',';
    } else {
      JsonWriter json(out);
      json.safe_integer(points_.steps[i]);
      out += ",\"wall_time\":";
      append_json_number(out, points_.walls[i]);
      out += ",\"value\":";
    }
    std::string value;
    JsonWriter json(value);
    if (narrow) {
      json.number(static_cast<float>(points_.values[i]));
    } else {
      json.number(points_.values[i]);
    }
    if (csv && value.front() == '"') value = value.substr(1, value.size() - 2);
    out += value;
    out += csv ? "\n" : "}\n";
  }

  std::shared_ptr<const store::Snapshot> snapshot_;
  std::vector<query::Item> items_;
  Format format_;
  store::View view_;
  size_t series_ = 0;
  uint64_t at_ = 0;
  bool began_ = false;
  query::Points points_;
};

Answer stream_of(std::shared_ptr<const store::Snapshot> snapshot, std::vector<query::Item> items,
                 Format format, store::View view,
                 std::vector<std::shared_ptr<const store::Series>> made = {}) {
  Answer answer;
  answer.content_type = format == Format::kCsv ? "text/csv; charset=utf-8" : "application/jsonl";
  answer.headers.emplace_back("Content-Disposition",
                              format == Format::kCsv ? "attachment; filename=\"scalars.csv\""
                                                     : "attachment; filename=\"scalars.jsonl\"");
  answer.headers.emplace_back("Sonde-Rev", std::to_string(snapshot->revision));
  auto exporter = std::make_shared<Exporter>(std::move(snapshot), std::move(items), format, view);
  auto stream = std::make_shared<Stream>();
  stream->next = [exporter, made = std::move(made)] { return exporter->next(); };
  answer.body = std::move(stream);
  return answer;
}

Answer export_get(const Context& context, const Request& request) {
  SONDE_ANSWER(const format, format_of(request.param("format").value_or("")));
  SONDE_ANSWER(const view, view_param(request));
  auto snapshot = context.store.snapshot();
  std::vector<const store::RunSnapshot*> runs;
  for (const std::string_view name : request.params("run")) {
    const auto* run = snapshot->find(name);
    if (!run) return error({Code::kNotFound, fmt::format("there is no run '{}'", name)}, "run");
    runs.push_back(run);
  }
  if (runs.empty()) {
    for (const auto& run : snapshot->runs) runs.push_back(run.get());
  }
  const auto tags = request.params("tag");
  std::vector<query::Item> items;
  for (const auto* run : runs) {
    if (tags.empty()) {
      for (const auto& series : run->series) {
        if (series->is_scalar()) items.push_back({run, series.get(), nullptr, 0});
      }
    }
    for (const std::string_view tag : tags) {
      const store::Series* series = run->find(tag);
      if (series && series->is_scalar()) items.push_back({run, series, nullptr, 0});
    }
  }
  return stream_of(std::move(snapshot), std::move(items), format, view);
}

Answer export_post(const Context& context, const Request& request) {
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const name, text_in(body, "format"));
  SONDE_ANSWER(const format, format_of(name));
  SONDE_ANSWER(const view, view_in(body));
  auto snapshot = context.store.snapshot();
  SONDE_ANSWER(const entries, entries_in(*snapshot, body));
  std::vector<std::shared_ptr<const store::Series>> made;
  auto items = items_of(entries, context, made);
  return stream_of(std::move(snapshot), std::move(items), format, view, std::move(made));
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/export", export_get},
                             {"POST", "/api/v1/export", export_post}};

}  // namespace

std::span<const Route> export_routes() { return kRoutes; }

}  // namespace sonde::api::v1
