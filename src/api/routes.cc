#include "api/routes.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

#include "api/mcp/protocol.h"
#include "api/services/upload_keeper.h"
#include "api/tensorboard/areas.h"
#include "api/v1/area.h"
#include "codec/json.h"

namespace sonde::api {
namespace {

// One line an area.
// clang-format off
constexpr Area kAreas[] = {
    tensorboard::core_area,
    tensorboard::scalars_area,
    tensorboard::timeseries_area,
    tensorboard::media_area,
    tensorboard::text_area,
    tensorboard::histograms_area,
    tensorboard::graphs_area,
    tensorboard::hparams_area,
    tensorboard::projector_area,
    tensorboard::pr_curves_area,
    tensorboard::custom_scalars_area,
    tensorboard::mesh_area,
    tensorboard::debugger_area,
    tensorboard::profile_area,
    tensorboard::whatif_area,
    v1::area,
    mcp::area,
};
// clang-format on

struct Table {
  std::vector<Route> all;
  boost::unordered_flat_map<std::string_view, std::vector<const Route*>> exact;
  std::vector<const Route*> prefixes;  // paths that end in "/*", longest first
};

const Table& table() {
  static const Table built = [] {
    Table t;
    for (const Area area : kAreas) {
      if (area) t.all.insert(t.all.end(), area().begin(), area().end());
    }
    for (const Route& route : t.all) {
      if (route.path.ends_with("/*")) {
        t.prefixes.push_back(&route);
      } else {
        t.exact[route.path].push_back(&route);
      }
    }
    std::stable_sort(t.prefixes.begin(), t.prefixes.end(), [](const Route* a, const Route* b) {
      return a->path.size() > b->path.size();
    });
    return t;
  }();
  return built;
}

// The routes of a path: exact ones, else those of the longest prefix that covers it.
std::vector<const Route*> routes_of(std::string_view path) {
  const Table& t = table();
  if (const auto found = t.exact.find(path); found != t.exact.end()) return found->second;
  std::vector<const Route*> covering;
  for (const Route* route : t.prefixes) {
    if (!covering.empty() && route->path != covering.front()->path) break;
    if (path.starts_with(route->path.substr(0, route->path.size() - 1))) covering.push_back(route);
  }
  return covering;
}

// A doubled slash at the start and one at the end are forgiven, as TensorBoard does.
std::string_view normal_path(std::string_view path) {
  while (path.starts_with("//")) path.remove_prefix(1);
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

bool fits(const Route& route, const Request& request) {
  return route.method == "*" || route.method == (request.method == "HEAD" ? "GET" : request.method);
}

}  // namespace

const std::vector<Route>& all_routes() { return table().all; }

std::optional<size_t> route_of(const Request& request) {
  for (const Route* route : routes_of(normal_path(request.path))) {
    if (fits(*route, request)) return static_cast<size_t>(route - table().all.data());
  }
  return std::nullopt;
}

namespace {

// What was made while a store could not fetch its points is not sent.
Answer checked(const Context& context, const Request& request, const Route& route) {
  const uint64_t failed_before = context.store.failed_reads();
  Answer answer = route.handle(context, request);
  if (context.store.failed_reads() == failed_before) return answer;
  const std::string why = context.store.last_failure();
  return request.path.starts_with("/api/v1/") ? json_error({Code::kBusy, why})
                                              : plain_error(status_of(Code::kBusy), why);
}

}  // namespace

Answer handle(const Context& context, const Request& request) {
  context.services.uploads().note_request();
  std::string allowed;
  for (const Route* route : routes_of(normal_path(request.path))) {
    if (fits(*route, request)) return checked(context, request, *route);
    allowed += allowed.empty() ? "" : ", ";
    allowed += route->method;
  }
  const bool own = request.path.starts_with("/api/v1/");
  if (allowed.empty() && own)
    return json_error({Code::kNotFound, "there is no such route"}, request.path);
  if (allowed.empty()) return plain_error(404, "Not found");
  Answer answer = plain_error(405, "Method not allowed");
  if (own) {
    answer.content_type = "application/json";
    answer.body = R"({"error":{"code":"method","text":"the route does not know this method"}})";
  }
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
  answer.body = std::string(text);
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
  JsonWriter json(answer.text());
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
