// Tables of samples and rollouts that runs keep beside their events: the list, pages of rows, one
// row whole, and the media that cells name.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/v1/area.h"
#include "api/v1/beside/table_rows_file.h"
#include "api/v1/support.h"
#include "image/sniff.h"
#include "io/confine.h"
#include "io/remote/beside.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMostSteps = 20'000;
constexpr size_t kCellBytes = 2000;  // of a text in a page of rows; tables/row has all of it
constexpr uint64_t kMostMediaBytes = uint64_t{1} << 30;

Answer list_tables(const Context& context, const Request&) {
  const auto snapshot = context.store.snapshot();
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("rev").number(snapshot->revision);
    json.key("tables").array([&] {
      for (const TableFile& table : all_tables(context, *snapshot)) {
        json.object([&] {
          json.key("run").string(table.run);
          json.key("name").string(table.name);
          json.key("bytes").number(table.bytes);
        });
      }
    });
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

Result<RowsQuestion> question_in(const JsonValue& body) {
  RowsQuestion out;
  if (const JsonValue* step = body.find("step")) {
    if (!step->integer()) return fail(Code::kInvalid, "'step' must be a whole number");
    out.step = step->integer();
  }
  SONDE_TRY(q, text_in(body, "q"));
  for (const char c : q) out.q += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  SONDE_TRY(offset, integer_in(body, "offset", 0));
  SONDE_TRY(limit, integer_in(body, "limit", 100));
  out.offset = static_cast<uint64_t>(std::max<int64_t>(0, offset));
  out.limit = static_cast<uint64_t>(std::clamp<int64_t>(limit, 0, 1000));
  if (const JsonValue* sort = body.find("sort")) {
    if (!sort->is_array() || sort->items.size() != 2 || !sort->items[0].is_string())
      return fail(Code::kInvalid, "'sort' must be [column, \"asc\" or \"desc\"]");
    out.sort = sort->items[0].text;
    out.descending = sort->items[1].text == "desc";
  }
  const JsonValue* filters = body.find("filter");
  if (filters && !filters->is_array()) return fail(Code::kInvalid, "'filter' must be a list");
  static const std::vector<JsonValue> kNone;
  for (const JsonValue& one : filters ? filters->items : kNone) {
    RowFilter filter;
    SONDE_TRY(column, text_in(one, "col"));
    filter.column = column;
    if (const JsonValue* min = one.find("min")) filter.min = min->number();
    if (const JsonValue* max = one.find("max")) filter.max = max->number();
    if (const JsonValue* contains = one.find("contains")) {
      filter.contains.emplace();
      for (const char c : contains->text)
        *filter.contains += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    out.filters.push_back(std::move(filter));
    if (out.filters.size() > 100) return fail(Code::kTooLarge, "more than 100 filters");
  }
  return out;
}

// Long texts are cut where a character ends; returns whether anything was.
bool shorten(JsonValue& cell, int depth = 0) {
  bool is_cut = false;
  if (cell.is_string() && cell.text.size() > kCellBytes) {
    size_t end = kCellBytes;
    while (end > 0 && (static_cast<unsigned char>(cell.text[end]) & 0xC0) == 0x80) --end;
    cell.text.resize(end);
    is_cut = true;
  }
  if (cell.is_array() && cell.items.size() > 200) {
    cell.items.resize(200);
    is_cut = true;
  }
  if (depth < 6) {
    for (JsonValue& item : cell.items) is_cut = shorten(item, depth + 1) || is_cut;
    for (JsonMember& member : cell.members) is_cut = shorten(member.second, depth + 1) || is_cut;
  }
  return is_cut;
}

void write_row(JsonWriter& json, uint64_t number, int64_t step, std::string_view line,
               bool shortens) {
  json.object([&] {
    json.key("row").number(number);
    json.key("step").safe_integer(step);
    auto row = read_row(line);
    if (!row || !row->is_object()) {
      json.key("damage").string(row ? "not an object" : row.error().text);
      return;
    }
    if (const JsonValue* time = row->find("_time"); time && time->number())
      json.key("time").number(*time->number());
    std::vector<std::string> cut;
    std::erase_if(row->members, [](const JsonMember& member) {
      return member.first == "_step" || member.first == "_time";
    });
    for (JsonMember& member : row->members) {
      if (shortens && shorten(member.second)) cut.push_back(member.first);
    }
    json.key("cells");
    write_json(json, *row);
    if (!cut.empty()) {
      json.key("cut").array([&] {
        for (const std::string& name : cut) json.string(name);
      });
    }
  });
}

Answer rows(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(run, text_in(body, "run"));
  SONDE_ANSWER(name, text_in(body, "table"));
  SONDE_ANSWER(question, question_in(body));
  SONDE_ANSWER(file, find_table(context, *snapshot, run, name));
  SONDE_ANSWER(table, TableSource::open(context, file));
  SONDE_ANSWER(columns, columns_of(table));
  SONDE_ANSWER(found, find_rows(table, question, request));
  std::map<uint64_t, std::string> texts;
  for (const uint64_t line : found.lines) {
    if (texts.contains(line)) continue;
    const auto read = table.read(line, [&](uint64_t number, std::string_view text) {
      if (std::ranges::find(found.lines, number) == found.lines.end()) return false;
      texts.emplace(number, text);
      return true;
    });
    if (!read) return error(read.error());
  }
  const std::vector<int64_t> steps = table.different_steps();
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("run").string(file.run);
    json.key("table").string(file.name);
    json.key("total").number(found.total);
    json.key("matched").number(found.matched);
    json.key("steps").array([&] {
      size_t left = kMostSteps;
      for (const int64_t step : steps) {
        if (left-- == 0) break;
        json.safe_integer(step);
      }
    });
    json.key("columns").array([&] {
      for (const ColumnKind& column : columns) {
        json.object([&] {
          json.key("name").string(column.name);
          json.key("kind").string(column.kind);
        });
      }
    });
    json.key("rows").array([&] {
      for (const uint64_t line : found.lines)
        write_row(json, line, table.step(line), texts[line], true);
    });
  });
  return json_answer(context, snapshot->revision, std::move(out));
}

Answer row(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  SONDE_ANSWER(run, text_param(request, "run"));
  SONDE_ANSWER(name, text_param(request, "table"));
  SONDE_ANSWER(number, integer_param(request, "row", 0));
  SONDE_ANSWER(file, find_table(context, *snapshot, run, name));
  SONDE_ANSWER(table, TableSource::open(context, file));
  if (number < 0 || static_cast<uint64_t>(number) >= table.lines())
    return error({Code::kNotFound, fmt::format("the table has {} rows", table.lines())});
  std::string out;
  JsonWriter json(out);
  const auto read =
      table.read(static_cast<uint64_t>(number), [&](uint64_t at, std::string_view text) {
        write_row(json, at, table.step(at), text, false);
        return false;
      });
  if (!read) return error(read.error());
  return json_answer(context, snapshot->revision, std::move(out));
}

// By the bytes and the name's end; anything else is sent as bytes that no browser interprets.
std::string media_type(std::string_view bytes, std::string_view path) {
  const std::string_view end = path.substr(std::min(path.size(), path.rfind('.')));
  if (end == ".mp4" || end == ".m4v") return "video/mp4";
  if (end == ".webm") return "video/webm";
  if (end == ".wav") return "audio/wav";
  if (end == ".mp3") return "audio/mpeg";
  if (end == ".ogg") return "audio/ogg";
  if (end == ".flac") return "audio/flac";
  const auto header = image::sniff(as_bytes(bytes));
  const std::string_view sniffed = header ? header->mime : "";
  return sniffed.starts_with("image/") && sniffed != "image/svg+xml" ? std::string(sniffed)
                                                                     : "application/octet-stream";
}

Answer media(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  SONDE_ANSWER(name, text_param(request, "run"));
  SONDE_ANSWER(path, text_param(request, "path"));
  const store::RunSnapshot* run = snapshot->find(name);
  if (!run) return error({Code::kNotFound, fmt::format("there is no run '{}'", name)}, "", kNames);
  SONDE_ANSWER(inside, io::is_inside_root(io::local_view(run->folder) + "/media",
                                          path.starts_with("media/") ? path.substr(6) : path));
  SONDE_ANSWER(bytes, io::read_file(inside, kMostMediaBytes));
  Answer answer;
  answer.content_type = media_type(bytes, inside);
  answer.body = std::move(bytes);
  answer.allows_range = true;
  answer.csp = "sandbox";
  answer.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return answer;
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/tables", list_tables},
                             {"POST", "/api/v1/tables/rows", rows},
                             {"GET", "/api/v1/tables/row", row},
                             {"GET", "/api/v1/tables/media", media}};

}  // namespace

std::span<const Route> sample_table_routes() { return kRoutes; }

}  // namespace sonde::api::v1
