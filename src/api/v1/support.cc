#include "api/v1/support.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sonde::api::v1 {

uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>{}(text); }

uint64_t source_of(const Context& context) { return hash_of(context.settings.boot); }

std::string etag_of(const Context& context, std::string_view content) {
  return fmt::format("\"{:x}-{:x}\"", source_of(context) & 0xffffff, hash_of(content));
}

Answer json_answer(const Context& context, uint64_t revision, std::string body) {
  Answer answer = Answer::json(std::move(body));
  answer.etag = etag_of(context, answer.text());
  answer.headers.emplace_back("Sonde-Rev", std::to_string(revision));
  return answer;
}

Answer columns_answer(uint64_t revision, std::string body, std::string etag) {
  Answer answer;
  answer.content_type = "application/vnd.sonde.columns";
  answer.body = std::move(body);
  answer.etag = std::move(etag);
  answer.headers.emplace_back("Sonde-Rev", std::to_string(revision));
  return answer;
}

Answer unchanged(uint64_t revision, std::string etag) {
  Answer answer;
  answer.status = 204;
  answer.etag = std::move(etag);
  answer.headers.emplace_back("Sonde-Rev", std::to_string(revision));
  return answer;
}

Answer error(const Error& error, std::string_view where, std::string_view fix) {
  // Texts that name a question of their own, or the route, need no other advice.
  const bool is_plain = error.code == Code::kNotFound &&
                        error.text.find("GET ") == std::string::npos &&
                        where.find('/') == std::string_view::npos;
  return json_error(error, where, fix.empty() && is_plain ? kNames : fix);
}

Result<JsonValue> object_of(const Request& request) {
  SONDE_TRY(content, request.content());
  if (content.empty()) return JsonValue::object();
  SONDE_TRY(body, read_json(content));
  if (!body.is_object()) return fail(Code::kInvalid, "the body is not a JSON object");
  return body;
}

Result<std::string> text_in(const JsonValue& body, std::string_view name,
                            std::string_view otherwise) {
  const JsonValue* value = body.find(name);
  if (!value) return std::string(otherwise);
  if (!value->is_string()) return fail(Code::kInvalid, fmt::format("'{}' is not a string", name));
  return value->text;
}

Result<int64_t> integer_in(const JsonValue& body, std::string_view name, int64_t otherwise) {
  const JsonValue* value = body.find(name);
  if (!value) return otherwise;
  const auto number = value->integer();
  if (!number) return fail(Code::kInvalid, fmt::format("'{}' is not a whole number", name));
  return *number;
}

Result<double> number_in(const JsonValue& body, std::string_view name, double otherwise) {
  const JsonValue* value = body.find(name);
  if (!value) return otherwise;
  const auto number = value->number();
  if (!number) return fail(Code::kInvalid, fmt::format("'{}' is not a number", name));
  return *number;
}

namespace {

Result<store::View> view_of(std::string_view text) {
  if (text.empty() || text == "newest") return store::View::kNewest;
  if (text == "all") return store::View::kAll;
  return fail(Code::kInvalid, fmt::format("'restarts' is '{}', not newest or all", text));
}

}  // namespace

Result<store::View> view_in(const JsonValue& body) {
  SONDE_TRY(const text, text_in(body, "restarts"));
  return view_of(text);
}

Result<store::View> view_param(const Request& request) {
  return view_of(request.param("restarts").value_or(""));
}

Result<int64_t> integer_param(const Request& request, std::string_view name, int64_t otherwise) {
  const auto text = request.param(name);
  if (!text || text->empty()) return otherwise;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size())
    return fail(Code::kInvalid, fmt::format("parameter '{}' is not a whole number", name));
  return value;
}

Result<std::string> text_param(const Request& request, std::string_view name) {
  const auto text = request.param(name);
  if (!text) return fail(Code::kInvalid, fmt::format("parameter '{}' is missing", name));
  return std::string(*text);
}

std::string_view kind_of(const store::Series& series) {
  if (series.is_scalar()) return "scalar";
  const std::string_view plugin = series.metadata().plugin;
  struct Known {
    std::string_view plugin, kind;
  };
  static constexpr Known kKnown[] = {{"scalars", "scalar"},
                                     {"images", "image"},
                                     {"audio", "audio"},
                                     {"histograms", "histogram"},
                                     {"text", "text"},
                                     {"pr_curves", "pr_curve"},
                                     {"mesh", "mesh"},
                                     {"hparams", "hparams"},
                                     {"custom_scalars", "layout"}};
  for (const Known& known : kKnown) {
    // Numbers that could not be kept as columns are no scalars for a reader.
    if (known.plugin == plugin && known.kind != "scalar") return known.kind;
  }
  if (plugin.starts_with("graph")) return "graph";
  return series.metadata().data_class == store::DataClass::kBlobSequence ? "blob" : "tensor";
}

Result<Found> find_series(const store::Snapshot& snapshot, std::string_view run,
                          std::string_view tag) {
  Found found;
  found.run = snapshot.find(run);
  if (!found.run) return fail(Code::kNotFound, fmt::format("there is no run '{}'", run));
  found.series = found.run->find(tag);
  if (!found.series)
    return fail(Code::kNotFound, fmt::format("run '{}' has no tag '{}'", run, tag));
  return found;
}

Result<Found> series_param(const store::Snapshot& snapshot, const Request& request,
                           std::string_view kind) {
  SONDE_TRY(const run, text_param(request, "run"));
  SONDE_TRY(const tag, text_param(request, "tag"));
  SONDE_TRY(const found, find_series(snapshot, run, tag));
  if (!kind.empty() && kind_of(*found.series) != kind) {
    return fail(Code::kUnsupported, fmt::format("tag '{}' of run '{}' holds {} data, not {}", tag,
                                                run, kind_of(*found.series), kind));
  }
  return found;
}

Result<const store::RunSnapshot*> run_in(const store::Snapshot& snapshot, const JsonValue& value) {
  if (value.is_string()) {
    if (const auto* run = snapshot.find(std::string_view(value.text))) return run;
    return fail(Code::kNotFound, fmt::format("there is no run '{}'", value.text));
  }
  const auto id = value.integer();
  if (!id || *id < 0 || *id > UINT32_MAX)
    return fail(Code::kInvalid, "a run is its id (a number) or its name (a string)");
  if (const auto* run = snapshot.find(static_cast<store::RunId>(*id))) return run;
  return fail(Code::kNotFound, fmt::format("there is no run with id {}", *id));
}

std::vector<store::BlobPoint> points_of(const store::Series& series, store::View view) {
  std::vector<store::BlobPoint> points;
  if (series.is_scalar()) return points;
  for (const store::Range& range : series.ranges(view)) {
    const auto part = series.points(range);
    points.insert(points.end(), part.begin(), part.end());
  }
  return points;
}

Result<Page> page_of(const Request& request, size_t total, size_t otherwise, size_t most) {
  SONDE_TRY(const from, integer_param(request, "from", 0));
  SONDE_TRY(const count, integer_param(request, "count", static_cast<int64_t>(otherwise)));
  if (count < 0) return fail(Code::kInvalid, "parameter 'count' is negative");
  const auto size = static_cast<int64_t>(std::min<size_t>(total, INT64_MAX));
  const int64_t begin =
      std::clamp(from < 0 ? std::max(size + from, int64_t{0}) : from, int64_t{0}, size);
  const int64_t end = std::min(size, begin + std::min(count, static_cast<int64_t>(most)));
  return Page{static_cast<size_t>(begin), static_cast<size_t>(end)};
}

Result<void> may_write(const Request& request) {
  if (request.header("sonde-request") == "1") return {};
  return fail(Code::kForbidden,
              "a request that changes something needs the header Sonde-Request: 1");
}

void write_steps(JsonWriter& json, const std::vector<store::BlobPoint>& points) {
  json.key("steps").array([&] {
    for (const auto& point : points) json.safe_integer(point.step);
  });
  json.key("walls").array([&] {
    for (const auto& point : points) json.number(point.wall_time);
  });
}

void write_partial(JsonWriter& json, const store::LoadProgress& progress) {
  if (!progress.loading) return;
  json.key("partial").object([&] {
    json.key("bytes_done").number(progress.bytes_done);
    json.key("bytes").number(progress.bytes);
  });
}

}  // namespace sonde::api::v1
