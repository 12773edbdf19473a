#include "api/mcp/tool.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/regex.h"
#include "codec/json.h"

namespace sonde::api::mcp {

Result<std::string> Call::text(std::string_view name, std::string_view otherwise) const {
  const JsonValue* found = arguments.find(name);
  if (!found) return std::string(otherwise);
  if (!found->is_string()) return fail(Code::kInvalid, fmt::format("'{}' must be a text", name));
  return found->text;
}

Result<int64_t> Call::integer(std::string_view name, int64_t otherwise, int64_t least,
                              int64_t most) const {
  const JsonValue* found = arguments.find(name);
  if (!found) return otherwise;
  const auto value = found->integer();
  if (!value) return fail(Code::kInvalid, fmt::format("'{}' must be a whole number", name));
  return std::clamp(*value, least, most);
}

Result<std::vector<std::string>> Call::texts(std::string_view name) const {
  const JsonValue* found = arguments.find(name);
  if (!found) return std::vector<std::string>{};
  if (found->is_string()) return std::vector<std::string>{found->text};
  std::vector<std::string> out;
  for (const JsonValue& item : found->items) {
    if (item.is_string()) out.push_back(item.text);
  }
  if (!found->is_array() || out.size() != found->items.size())
    return fail(Code::kInvalid, fmt::format("'{}' must be a list of texts", name));
  return out;
}

std::vector<const Tool*> all_tools(bool may_write) {
  std::vector<const Tool*> out;
  for (const auto list : {log_tools(), chart_tools(), run_tools(), beside_tools(), profile_tools(),
                          numerics_tools(), write_tools()}) {
    for (const Tool& tool : list) {
      if (may_write || !tool.writes) out.push_back(&tool);
    }
  }
  return out;
}

const std::vector<JsonValue>& items_of(const JsonValue* list) {
  static const std::vector<JsonValue> none;
  return list ? list->items : none;
}

Result<std::vector<const store::RunSnapshot*>> runs_of(const Call& call,
                                                       const store::Snapshot& snapshot) {
  SONDE_TRY(names, call.texts("runs"));
  SONDE_TRY(one, call.text("run"));
  SONDE_TRY(filter, call.text("filter"));
  if (!one.empty()) names.push_back(one);
  std::vector<const store::RunSnapshot*> out;
  for (const std::string& name : names) {
    const store::RunSnapshot* run = snapshot.find(name);
    if (!run)
      return fail(Code::kNotFound,
                  fmt::format("there is no run '{}'; list_runs names them all", name));
    out.push_back(run);
  }
  if (!names.empty()) return out;
  SONDE_TRY(regex, Regex::compile(filter));
  for (const auto& run : snapshot.runs) {
    if (filter.empty() || regex.found_in(run->name)) out.push_back(run.get());
  }
  if (out.empty() && !filter.empty())
    return fail(Code::kNotFound, fmt::format("no run matches '{}'", filter));
  return out;
}

query::Points points_of(const store::Series& series) {
  constexpr uint64_t kMostPoints = 5'000'000;  // read for one answer
  query::Points points;
  const query::ViewReader reader(series, store::View::kNewest);
  const uint64_t begin = reader.size() > kMostPoints ? reader.size() - kMostPoints : 0;
  reader.read(begin, reader.size(), points);
  return points;
}

Result<JsonValue> ask(const Context& context, std::string_view method, const std::string& path,
                      std::vector<std::pair<std::string, std::string>> query, std::string body) {
  Request request;
  request.method = method;
  request.path = "/api/v1/" + path;
  request.query = std::move(query);
  request.body = std::move(body);
  request.headers = {{"sonde-request", "1"}};  // the program itself asks, no other site
  Answer answer = handle(context, request);
  auto read = read_json(whole_text(answer.body));
  if (answer.status >= 400) {
    std::string text = fmt::format("the question failed with status {}", answer.status);
    if (read) {
      if (const JsonValue* error = read->find("error")) {
        if (const JsonValue* said = error->find("text")) text = said->text;
        if (const JsonValue* fix = error->find("fix")) text += "; " + fix->text;
      }
    }
    return fail(answer.status == 404 ? Code::kNotFound : Code::kInvalid, std::move(text));
  }
  return read;
}

RowsAnswer::RowsAnswer(std::vector<std::string> columns, size_t budget_bytes)
    : columns_(std::move(columns)), budget_bytes_(budget_bytes) {
  used_ = 160;  // the frame and the sentence about what is left out
  for (const std::string& column : columns_) used_ += column.size() + 3;
}

void RowsAnswer::add(std::string row) {
  if (is_full_) return;
  size_t notes = 0;
  for (const std::string& note : notes_) notes += note.size() + 1;
  if (used_ + notes + row.size() + 1 > budget_bytes_ && !rows_.empty()) {
    is_full_ = true;
    return;
  }
  used_ += row.size() + 1;
  rows_.push_back(std::move(row));
}

std::string RowsAnswer::finish(size_t total, std::string_view how) {
  std::string out = "{";
  for (const std::string& note : notes_) out += note + ",";
  JsonWriter json(out);
  out += "\"columns\":";
  json.array([&] {
    for (const std::string& column : columns_) json.string(column);
  });
  out += ",\"rows\":[";
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (i > 0) out += ',';
    out += rows_[i];
  }
  out += fmt::format("],\"total\":{}", total);
  if (rows_.size() < total) {
    out += ",\"left_out\":";
    append_json_string(
        out, fmt::format("{} of {} rows are left out; {}", total - rows_.size(), total, how));
  }
  out += "}";
  return out;
}

void append_cell(std::string& out, const JsonValue& cell, size_t most_bytes) {
  if (cell.is_string() && cell.text.size() > most_bytes) {
    size_t end = most_bytes;
    while (end > 0 && (static_cast<unsigned char>(cell.text[end]) & 0xC0) == 0x80) --end;
    append_json_string(out, cell.text.substr(0, end) + "…");
    return;
  }
  std::string text = to_text(cell);
  if (text.size() > most_bytes && !cell.is_string()) {
    append_json_string(out, fmt::format("({} bytes of JSON)", text.size()));
    return;
  }
  out += text;
}

}  // namespace sonde::api::mcp
