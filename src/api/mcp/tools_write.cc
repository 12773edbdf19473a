// Tools that write, listed only when the user allowed it: notes and tags of runs, and the state of
// alerts, in the sidecar. The logs themselves are never touched.
#include <fmt/format.h>

#include "api/mcp/tool.h"
#include "codec/json.h"

namespace sonde::api::mcp {
namespace {

constexpr size_t kMostNoteBytes = 20'000, kMostTags = 50;

Result<std::string> annotate_run(const Call& call) {
  SONDE_TRY(run, call.text("run"));
  SONDE_TRY(note, call.text("note"));
  SONDE_TRY(tags, call.texts("tags"));
  if (!call.context.store.snapshot()->find(run))
    return fail(Code::kNotFound,
                fmt::format("there is no run '{}'; list_runs names them all", run));
  if (note.size() > kMostNoteBytes || tags.size() > kMostTags)
    return fail(Code::kTooLarge, fmt::format("a note has at most {} bytes, a run {} tags",
                                             kMostNoteBytes, kMostTags));
  const bool has_note = call.arguments.find("note"), has_tags = call.arguments.find("tags");
  if (!has_note && !has_tags) return fail(Code::kInvalid, "give 'note' or 'tags'");
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("runs").object([&] {
      json.key(run).object([&] {
        if (has_note) json.key("note").string(note);
        if (has_tags)
          json.key("tags").array([&] {
            for (const std::string& tag : tags) json.string(tag);
          });
      });
    });
  });
  SONDE_TRY(saved, ask(call.context, "PATCH", "sidecar", {}, std::move(body)));
  const JsonValue* runs = saved.find("runs");
  const JsonValue* kept = runs ? runs->find(run) : nullptr;
  return "{\"saved\":" + (kept ? to_text(*kept) : "null") + "}";
}

constexpr Tool kTools[] = {
    {"annotate_run", "Note about a run",
     "Keeps a note (Markdown, replaces the earlier one) or tags of a run, where the page shows "
     "them.",
     R"("run":{"type":"string"},"note":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}})",
     R"(["run"])", annotate_run, true},
};

}  // namespace

std::span<const Tool> write_tools() { return kTools; }

}  // namespace sonde::api::mcp
