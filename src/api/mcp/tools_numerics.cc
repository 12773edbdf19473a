// Recordings of numerics: which op made the first NaN, what else is odd, where two recordings part.
#include <fmt/format.h>

#include "api/mcp/tool.h"
#include "codec/json.h"

namespace sonde::api::mcp {
namespace {

void note_member(RowsAnswer& rows, const JsonValue& from, const char* name) {
  if (const JsonValue* value = from.find(name);
      value && !(value->is_string() && value->text.empty()))
    rows.note(fmt::format("\"{}\":", name) + to_text(*value));
}

std::string row_of(const JsonValue& one, std::initializer_list<const char*> fields) {
  std::string row = "[";
  for (const char* field : fields) {
    if (row.size() > 1) row += ',';
    const JsonValue* value = one.find(field);
    append_cell(row, value ? *value : JsonValue{}, 300);
  }
  return row + "]";
}

size_t total_of(const JsonValue& answer, size_t otherwise) {
  const JsonValue* total = answer.find("total");
  return total && total->integer() ? static_cast<size_t>(*total->integer()) : otherwise;
}

Result<std::string> numerics(const Call& call) {
  SONDE_TRY(dump, call.text("recording"));
  SONDE_TRY(other, call.text("other"));
  SONDE_TRY(listing, ask(call.context, "GET", "numerics", {}, ""));
  const auto& dumps = items_of(listing.find("dumps"));
  if (dumps.empty())
    return fail(Code::kNotFound, "the log directory holds no recording of numerics");
  if (dump.empty() && dumps.size() > 1) {
    RowsAnswer rows({"recording", "framework", "rank"}, call.budget_bytes);
    rows.note(R"("hint":"give one of them as 'recording'")");
    for (const JsonValue& one : dumps) rows.add(row_of(one, {"name", "framework", "rank"}));
    return rows.finish(dumps.size(), "raise max_tokens");
  }
  if (dump.empty()) {
    const JsonValue* name = dumps.front().find("name");
    if (name) dump = name->text;
  }
  if (!other.empty()) {
    SONDE_TRY(found, ask(call.context, "GET", "numerics/compare",
                         {{"dump", dump}, {"other", other}, {"count", "200"}}, ""));
    RowsAnswer rows({"step", "what", "first", "second"}, call.budget_bytes);
    for (const char* name : {"sentence", "compared", "only_first", "only_second"})
      note_member(rows, found, name);
    const auto& list = items_of(found.find("rows"));
    for (const JsonValue& one : list) rows.add(row_of(one, {"step", "what", "first", "second"}));
    return rows.finish(total_of(found, list.size()), "raise max_tokens");
  }
  SONDE_TRY(summary, ask(call.context, "GET", "numerics/summary", {{"dump", dump}}, ""));
  SONDE_TRY(found,
            ask(call.context, "GET", "numerics/alerts", {{"dump", dump}, {"count", "200"}}, ""));
  RowsAnswer rows({"kind", "step", "op", "text"}, call.budget_bytes);
  std::string named = "\"recording\":";
  append_json_string(named, dump);
  rows.note(named);
  for (const char* name : {"sentence", "advice", "traces", "executions", "ops"})
    note_member(rows, summary, name);
  if (const JsonValue* fault = summary.find("fault"); fault && fault->is_object()) {
    const JsonValue *chain = fault->find("chain"), *at = fault->find("at");
    const auto index = at && at->integer() ? static_cast<size_t>(*at->integer()) : 0;
    if (index < items_of(chain).size())
      rows.note("\"first_fault\":" + to_text(items_of(chain)[index]));
  }
  note_member(rows, found, "counts");
  const auto& list = items_of(found.find("rows"));
  for (const JsonValue& one : list) rows.add(row_of(one, {"kind", "step", "op", "text"}));
  return rows.finish(total_of(found, list.size()), "raise max_tokens");
}

constexpr Tool kTools[] = {
    {"numerics", "Numerics",
     "Recordings of tensors (sonde.debug, tfdbg): a sentence about the first NaN or infinity, the "
     "op and source line that made it, and alerts (spikes, dead or vanishing tensors …). With "
     "'other': where two recordings first differ. Several recordings and none named: lists them.",
     R"("recording":{"type":"string"},"other":{"type":"string","description":"a second recording"})",
     "", numerics},
};

}  // namespace

std::span<const Tool> numerics_tools() { return kTools; }

}  // namespace sonde::api::mcp
