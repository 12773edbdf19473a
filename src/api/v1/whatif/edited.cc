// A set of its own out of edits: all tabs then speak of the examples as they were changed.
#include <fmt/format.h>

#include <algorithm>

#include "api/v1/whatif/shared.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMaxChanges = 10'000;

Result<std::vector<uint32_t>> rows_named(const LoadedSet& set, const JsonValue& body,
                                         std::string_view name) {
  std::vector<uint32_t> out;
  const JsonValue* list = body.find(name);
  if (!list) return out;
  if (!list->is_array() || list->items.size() > kMaxChanges)
    return fail(Code::kInvalid,
                fmt::format("'{}' must be a list of at most {} examples", name, kMaxChanges));
  for (const JsonValue& item : list->items) {
    const auto row = item.integer();
    if (!row || *row < 0 || static_cast<uint64_t>(*row) >= set.data().rows)
      return fail(Code::kInvalid, fmt::format("'{}' names an example that is not there", name));
    out.push_back(static_cast<uint32_t>(*row));
  }
  return out;
}

}  // namespace

Answer whatif_edited(const Context& context, const Request& request,
                     const std::shared_ptr<LoadedSet>& set) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const copies, rows_named(*set, body, "copies"));
  SONDE_ANSWER(const removed, rows_named(*set, body, "removed"));
  whatif::SetEdits edits;
  SONDE_ANSWER(features, texts_in(body, "features"));
  edits.features = std::move(features);
  const size_t rows = set->data().rows;
  std::vector<const JsonValue*> values(rows);
  if (const JsonValue* list = body.find("edits"); list) {
    if (!list->is_array() || list->items.size() > kMaxChanges)
      return error(
          {Code::kInvalid, fmt::format("'edits' must be a list of at most {}", kMaxChanges)},
          "edits");
    for (const JsonValue& edit : list->items) {
      SONDE_ANSWER(const row, integer_in(edit, "row", -1));
      if (row < 0 || static_cast<uint64_t>(row) >= rows)
        return error({Code::kInvalid, fmt::format("there is no example {}", row)}, "edits");
      const JsonValue* changed = edit.find("values");
      if (!changed || !changed->is_object())
        return error({Code::kInvalid, "an edit has 'values', an object"}, "edits");
      for (const JsonMember& member : changed->members)
        if (!set->data().find(member.first) &&
            std::ranges::find(edits.features, member.first) == edits.features.end())
          return error({Code::kNotFound, fmt::format("there is no feature '{}'", member.first)},
                       "edits");
      values[static_cast<size_t>(row)] = changed;
    }
  }
  std::vector<bool> is_gone(rows);
  for (const uint32_t row : removed) is_gone[row] = true;
  for (uint32_t row = 0; row < rows; ++row)
    if (!is_gone[row]) edits.rows.push_back(row);
  const size_t first_copy = edits.rows.size();
  edits.rows.insert(edits.rows.end(), copies.begin(), copies.end());
  if (edits.rows.empty()) return error({Code::kInvalid, "one example must stay"}, "removed");
  for (const uint32_t row : edits.rows) edits.values.push_back(values[row]);
  SONDE_ANSWER(made, set->edited(edits));
  const uint64_t count = edits.rows.size();
  const std::string id = context.services.whatif().keep_edited(std::move(made));
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("id").string(id);
    json.key("rows").number(count);
    json.key("first_copy").number(static_cast<uint64_t>(first_copy));
  });
  return Answer::json(std::move(out));
}

}  // namespace sonde::api::v1
