// Every route of the program, one table. An area (a TensorBoard plug-in, a part of /api/v1) exports
// its own array; routes.cc lists the areas. To add a route: a file in src/api/<area>/, its lines in
// the area's array, its paragraph in docs/api.md and a case in tests/api.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/answer.h"
#include "api/services/services.h"
#include "base/thread_pool.h"
#include "io/address_policy.h"
#include "log/store/store.h"

namespace sonde::api {

// What the command line decided and answers depend on.
struct Settings {
  std::string logdir;  // as the user typed it: /data/environment, /data/logdir
  std::string window_title;
  std::string path_prefix;         // "" or "/prefix"
  std::string samples_per_plugin;  // as typed: "scalars=500,images=0"
  std::string sidecar;             // "", "off" or a folder
  bool read_only_sidecar = false;
  std::string no_capture;       // why captures of running programs are refused; empty: they are not
  std::string boot;             // random text per start
  io::AddressPolicy connect;    // where requests may make the server connect to
  double keep_uploads_s = 600;  // uploads are forgotten this long after the last page closed
  std::vector<std::string> whatif_data;       // folders that examples may also lie in
  std::vector<std::string> whatif_endpoints;  // models that may be asked without a click
  bool is_loopback = false;                   // only users of this machine reach the server
};

// What a handler may use. Everything in it is thread-safe and outlives every request.
struct Context {
  store::Store& store;
  const Settings& settings;
  ThreadPool& pool;    // for splitting one large answer over the cores
  Services& services;  // what the server keeps between requests
};

// What a request may carry; GET info tells both. Uploads go to disk (io/spool.h), other bodies stay
// in memory.
inline constexpr uint64_t kMaxBodyBytes = 32 << 20, kMaxUploadBytes = 1 << 30;

// How long an answer will take, where the request tells: long ones wait their turn on threads that
// give way.
enum class Effort : uint8_t { kShort, kLong };

struct Route {
  std::string_view method;  // "GET", "POST", "PATCH", "DELETE" or "*" for any; GET answers HEAD too
  std::string_view path;    // exact, or a prefix when it ends in '/*'
  Answer (*handle)(const Context&, const Request&);
  uint64_t max_body_bytes = kMaxBodyBytes;  // http answers 413 beyond it
  // Without one http goes by what the route's answers took lately.
  Effort (*cost)(const Context&, const Request&) = nullptr;
  // Everything a GET's answer depends on besides its address, as a number that never returns to
  // an earlier value: as long as it stays, http may send the same bytes again. 0: cannot tell.
  uint64_t (*version)(const Context&, const Request&) = nullptr;
};

// Routes of one area, e.g. api/tensorboard/scalars.cc. Listed in routes.cc.
using Area = std::span<const Route> (*)();

// The answer to any request: finds the route, 404 or 405 otherwise, never throws.
Answer handle(const Context& context, const Request& request);

// The route that handle() will take as an index into all_routes(), nothing when none fits. http
// learns from it how long a route's answers take and how large a body may be.
std::optional<size_t> route_of(const Request& request);

// All routes in one list, for docs and tests.
const std::vector<Route>& all_routes();

// The error body of TensorBoard's routes (plain text) and of /api/v1 (JSON), status by code.
int status_of(Code code);
Answer plain_error(int status, std::string_view text);
Answer json_error(const Error& error, std::string_view where = "", std::string_view fix = "");

}  // namespace sonde::api
