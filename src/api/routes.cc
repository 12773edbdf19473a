#include "api/routes.h"

#include <algorithm>

#include "base/json.h"

namespace sonde::api {
namespace {

// One line an area.
constexpr Area kAreas[] = {nullptr};

const std::vector<Route>& table() {
  // Longest path first, so that an exact route is found before a prefix that covers it.
  static const std::vector<Route> routes = [] {
    std::vector<Route> all;
    for (const Area area : kAreas) {
      if (area) all.insert(all.end(), area().begin(), area().end());
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Route& a, const Route& b) { return a.path.size() > b.path.size(); });
    return all;
  }();
  return routes;
}

bool covers(std::string_view pattern, std::string_view path) {
  if (pattern.ends_with("/*")) return path.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == path;
}

}  // namespace

std::vector<Route> all_routes() { return table(); }

Answer handle(const Context& context, const Request& request) {
  const std::string_view method =
      request.method == "HEAD" ? "GET" : std::string_view(request.method);
  std::string allowed;
  for (const Route& route : table()) {
    if (!covers(route.path, request.path)) continue;
    if (route.method == method) return route.handle(context, request);
    allowed += allowed.empty() ? "" : ", ";
    allowed += route.method;
  }
  if (allowed.empty()) return plain_error(404, "Not found");
  Answer answer = plain_error(405, "Method not allowed");
  answer.headers.emplace_back("Allow", allowed);
  return answer;
}

int status_of(Code code) {
  switch (code) {
    case Code::kNotFound:
      return 404;
    case Code::kInvalid:
      return 400;
    case Code::kCorrupt:
      return 422;
    case Code::kUnsupported:
      return 422;
    case Code::kIo:
      return 500;
    case Code::kForbidden:
      return 403;
    case Code::kConflict:
      return 412;
    case Code::kTooLarge:
      return 413;
    case Code::kBusy:
      return 503;
  }
  return 500;
}

Answer plain_error(int status, std::string_view text) {
  Answer answer;
  answer.status = status;
  answer.content_type = "text/plain";
  answer.body = text;
  answer.cache = Cache::kNoStore;
  return answer;
}

Answer json_error(const Error& error, std::string_view where, std::string_view fix) {
  static constexpr std::string_view kNames[] = {"not_found",   "invalid",   "unsupported",
                                                "unsupported", "internal",  "forbidden",
                                                "conflict",    "too_large", "busy"};
  Answer answer;
  answer.status = status_of(error.code);
  answer.cache = Cache::kNoStore;
  JsonWriter json(answer.body);
  json.object([&] {
    json.key("error").object([&] {
      json.key("code").string(kNames[static_cast<size_t>(error.code)]);
      json.key("text").string(error.text);
      if (!where.empty()) json.key("where").string(where);
      if (!fix.empty()) json.key("fix").string(fix);
    });
  });
  return answer;
}

}  // namespace sonde::api
