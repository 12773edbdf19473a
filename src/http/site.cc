#include "http/site.h"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <exception>

#include "base/log.h"
#include "base/strings.h"
#include "codec/html.h"
#include "codec/json.h"
#include "http/page.h"

namespace sonde::http {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kInlineUs = 600;     // below: on the connection's thread
constexpr uint32_t kPatientUs = 15000;  // above: on the workers that give way
constexpr uint32_t kUnknownUs = 1000;   // a route that was not asked yet

// What an answer cost its thread: the whole time when it had to wait for something (a disk, a
// lock, other threads), else what it computed, since being preempted on a busy machine says
// nothing about the route.
class Cost {
 public:
  uint32_t us() const {
    const bool waited = waits() != waits_;
    const auto took = waited ? Clock::now() - start_ : cpu() - cpu_;
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    return static_cast<uint32_t>(std::min<int64_t>(us, UINT32_MAX));
  }

 private:
  static int64_t waits() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  }
  static std::chrono::nanoseconds cpu() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  int64_t waits_ = waits();
  std::chrono::nanoseconds cpu_ = cpu();
  Clock::time_point start_ = Clock::now();
};

// The sentence for a person with a browser, JSON for /api, plain text for the rest.
api::Answer refusal(std::string_view path, int status, std::string_view code,
                    std::string_view text) {
  api::Answer answer = api::plain_error(status, text);
  if (path.starts_with("/api/")) {
    answer.content_type = "application/json";
    answer.body = std::string();
    JsonWriter json(answer.text());
    json.object([&] {
      json.key("error").object([&] {
        json.key("code").string(code);
        json.key("text").string(text);
      });
    });
  }
  return answer;
}

api::Answer failure(std::string_view path) {
  return refusal(path, 500, "internal", "The answer could not be made; the server's log says why");
}

bool is_page(const Asset& asset) { return std::string_view(asset.path) == "index.html"; }

bool wants_page(const Head& head) {
  return head.method == "GET" && head.header("accept").find("text/html") != std::string_view::npos;
}

api::Answer page_answer(int status, std::string html) {
  api::Answer answer;
  answer.status = status;
  answer.content_type = "text/html";
  answer.body = std::move(html);
  answer.cache = api::Cache::kNoStore;
  return answer;
}

api::Answer login_page(bool tried) {
  std::string html =
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>Sonde: token</title></head><body>"
      "<main><h1>Sonde asks for its token</h1>";
  if (tried) html += "<p role=\"alert\">That is not the token of this server.</p>";
  html +=
      "<p>The address that Sonde printed when it started contains it, after "
      "<code>?token=</code>.</p>"
      "<form method=\"get\"><label>Token <input name=\"token\" type=\"password\" autofocus "
      "required autocomplete=\"current-password\"></label> <button>Open</button></form>"
      "</main></body></html>\n";
  return page_answer(401, std::move(html));
}

// The address without its token, still relative to the server.
std::string without_token(const Target& target) {
  std::string query;
  for (const std::string_view pair : split(target.raw_query, '&')) {
    if (pair.empty() || pair.substr(0, pair.find('=')) == "token") continue;
    query += query.empty() ? '?' : '&';
    query += pair;
  }
  return target.base + percent_encoded(target.path, "/") + query;
}

}  // namespace

Site::Site(SiteOptions options, const api::Context& context, Metrics& metrics)
    : options_(std::move(options)),
      context_(context),
      metrics_(metrics),
      policy_(make_policy(options_.access.hosts, options_.access.frame_ancestors)),
      audit_(options_.audit_file),
      cost_us_(std::make_unique<std::atomic<uint32_t>[]>(api::all_routes().size())) {
  for (size_t i = 0; i < api::all_routes().size(); ++i) cost_us_[i] = kUnknownUs;
  if (const auto opened = audit_.open(); !opened) log::error("{}", opened.error().text);
}

void Site::answer(Exchange& exchange, api::Answer answer) {
  exchange.reply = make_reply(policy_, std::move(answer), exchange.head, exchange.compress);
}

// Runs on the event loop: whatever a library throws here would end the process.
Exchange Site::begin(Head head, const Peer& peer) {
  Exchange exchange;
  exchange.head = std::move(head);
  try {
    decide(exchange, peer);
  } catch (const std::exception& error) {
    log::error("looking at a request for {}: {}", exchange.head.target, error.what());
    exchange.route.reset();
    exchange.compress = Compress::kNo;
    answer(exchange, failure(exchange.request.path));
  }
  return exchange;
}

void Site::decide(Exchange& exchange, const Peer& peer) {
  // A tunnel's end looks like this machine: what costs next to nothing is packed there, too.
  using Compression = SiteOptions::Compression;
  if (options_.compression == Compression::kAlways) exchange.compress = Compress::kYes;
  if (options_.compression == Compression::kAuto)
    exchange.compress = peer.is_loopback ? Compress::kCheap : Compress::kYes;
  auto parsed = parse_target(exchange.head.target, options_.path_prefix);
  if (!parsed) {
    answer(exchange, api::plain_error(api::status_of(parsed.error().code), parsed.error().text));
    return;
  }
  Target& target = *parsed;
  if (target.path == "/healthz") {
    answer(exchange, api::plain_error(200, "ok\n"));
    return;
  }
  if (refuse(exchange, peer, target)) return;
  if (!target.redirect.empty()) {
    api::Answer moved = api::plain_error(301, "");
    moved.headers.emplace_back("Location", target.redirect);
    answer(exchange, std::move(moved));
    return;
  }
  if (const Asset* asset = find_asset(target.path)) {
    if (exchange.head.method == "GET" || exchange.head.method == "HEAD") {
      exchange.reply = is_page(*asset) ? page(exchange, target, *asset)
                                       : make_reply(policy_, *asset, exchange.head);
    } else {
      api::Answer wrong = api::plain_error(405, "Method not allowed");
      wrong.headers.emplace_back("Allow", "GET");
      answer(exchange, std::move(wrong));
    }
    return;
  }
  if (answer_about_users(exchange, target)) return;
  if (target.path == "/metrics") {
    api::Answer text = api::plain_error(200, metrics_.prometheus(context_.store));
    text.content_type = "text/plain; version=0.0.4; charset=utf-8";
    answer(exchange, std::move(text));
    return;
  }
  api::Request& request = exchange.request;
  request.method = exchange.head.method;
  request.path = std::move(target.path);
  request.raw_query = std::move(target.raw_query);
  request.query = std::move(target.query);
  request.headers = exchange.head.headers;
  // Only what was found here counts.
  std::erase_if(request.headers, [](const auto& header) { return header.first == "sonde-role"; });
  if (exchange.user) request.headers.emplace_back("sonde-role", role_name(exchange.user->role));
  request.experiment = std::move(target.experiment);
  exchange.route = api::route_of(request);
  if (exchange.route) {
    exchange.body_limit = api::all_routes()[*exchange.route].max_body_bytes;
    if (exchange.body_limit > api::kMaxBodyBytes && exchange.head.has_body)
      exchange.upload = std::make_shared<io::Spool>(uploads_);
    look_up(exchange);
  } else {
    answer(exchange, api::handle(context_, request));  // 404 or 405: needs no body
  }
}

// The version is taken before the answer is made: one that changes in between is kept under the
// older version, which nobody asks for again.
void Site::look_up(Exchange& exchange) {
  const auto version = api::all_routes()[*exchange.route].version;
  const api::Request& request = exchange.request;
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  if (!version || !is_read || exchange.head.has_body) return;
  exchange.version = version(context_, request);
  if (exchange.version == 0) return;
  exchange.address = request.experiment + '\n' + request.path + '?' + request.raw_query;
  exchange.kept = kept_.find(exchange.address, exchange.version);
  if (exchange.kept) metrics_.response_cache.fetch_add(1, std::memory_order_relaxed);
}

void Site::keep(const Exchange& exchange, api::Answer& answer) {
  if (exchange.address.empty() || answer.status != 200 || !answer.is_complete) return;
  if (auto* text = std::get_if<std::string>(&answer.body)) {
    answer.body = std::make_shared<const std::string>(std::move(*text));
  }
  const auto* shared = std::get_if<api::SharedText>(&answer.body);
  if (!shared) return;
  if (answer.etag.empty() && answer.cache == api::Cache::kNoCache) {
    answer.etag = content_tag(**shared);
  }
  kept_.keep(exchange.address, exchange.version, answer);
  metrics_.kept_bytes.store(kept_.bytes(), std::memory_order_relaxed);
}

// The page with its first answers in it: never older than the request.
Reply Site::page(const Exchange& exchange, const Target& target, const Asset& asset) {
  const auto ask = [&](std::string_view path) {
    api::Request request;
    const size_t query = std::min(path.find('?'), path.size());
    request.path = "/" + std::string(path.substr(0, query));
    request.raw_query = path.substr(std::min(query + 1, path.size()));
    request.query = parse_query(request.raw_query);
    request.experiment = target.experiment;
    return api::handle(context_, request);
  };
  api::Answer answer = page_answer(200, filled_page(asset.plain.view(), ask));
  answer.cache = api::Cache::kNoCache;
  return make_reply(policy_, std::move(answer), exchange.head, exchange.compress);
}

// True when the exchange has its reply: the request may not be answered from data.
bool Site::refuse(Exchange& exchange, const Peer& peer, const Target& target) {
  const Access& access = options_.access;
  const bool has_token = access.asks();
  const Presented given = has_token ? presented(access, exchange.head, target) : Presented{};
  const Credential credential = given.how;
  exchange.user = given.user;
  const bool proved = credential == Credential::kHeader || credential == Credential::kQuery;
  if (!proved && !host_allowed(access, exchange.head.header("host"))) {
    answer(exchange, refusal(target.path, 403, "forbidden",
                             "This server answers only to names of its own machine. If '" +
                                 host_name(exchange.head.header("host")) +
                                 "' is one, start sonde with --allow_host " +
                                 host_name(exchange.head.header("host"))));
    return true;
  }
  if (credential != Credential::kHeader && is_foreign(access, exchange.head)) {
    answer(exchange, refusal(target.path, 403, "forbidden",
                             "Requests from other web sites are not answered"));
    return true;
  }
  // A proxy on this machine that has asked for a password says who it is.
  if (!access.user_header.empty() && peer.is_loopback && !exchange.user) {
    if (const std::string_view name = exchange.head.header(access.user_header); !name.empty()) {
      exchange.user = user_of_name(access.users, name);
      if (exchange.user) return is_beyond_role(exchange, target);
      answer(exchange, refusal(target.path, 403, "forbidden",
                               "'" + to_utf8(name) + "' is not among the users of this server"));
      note(exchange, target.path, 403);
      return true;
    }
  }
  if (has_token && check_token(exchange, peer, target)) {
    if (credential == Credential::kWrong) note(exchange, target.path, 401);
    return true;
  }
  return is_beyond_role(exchange, target);
}

// Viewers look: whatever changes something carries a header that no other web site can send.
bool Site::is_beyond_role(Exchange& exchange, const Target& target) {
  const bool changes = exchange.head.header("sonde-request") == "1";
  if (!exchange.user || exchange.user->role != Role::kViewer || !changes) return false;
  answer(exchange, refusal(target.path, 403, "forbidden",
                           "Viewers cannot change anything; ask an admin for the role editor"));
  note(exchange, target.path, 403);
  return true;
}

bool Site::answer_about_users(Exchange& exchange, const Target& target) {
  if (target.path == "/api/v1/user") {
    std::string body;
    JsonWriter json(body);
    json.object([&] {
      json.key("name").string(exchange.user ? exchange.user->name : "");
      json.key("role").string(exchange.user ? role_name(exchange.user->role) : "");
    });
    api::Answer told = api::Answer::json(std::move(body));
    told.cache = api::Cache::kNoStore;
    answer(exchange, std::move(told));
    return true;
  }
  if (target.path != "/api/v1/audit") return false;
  if (!audit_.is_kept()) return false;
  if (!exchange.user || exchange.user->role != Role::kAdmin) {
    answer(exchange, refusal(target.path, 403, "forbidden", "The audit log is for admins"));
    return true;
  }
  constexpr uint64_t kMostBytes = 1 << 20;
  api::Answer lines;
  lines.content_type = "application/x-ndjson";
  lines.body = audit_.newest(kMostBytes);
  lines.cache = api::Cache::kNoStore;
  answer(exchange, std::move(lines));
  return true;
}

void Site::note(const Exchange& exchange, std::string_view path, int status) const {
  if (!audit_.is_kept()) return;
  audit_.add({exchange.user ? std::string_view(exchange.user->name) : std::string_view(),
              exchange.user ? role_name(exchange.user->role) : std::string_view(),
              exchange.head.method, path, status});
}

bool Site::check_token(Exchange& exchange, const Peer& peer, const Target& target) {
  const Access& access = options_.access;
  const Presented given = presented(access, exchange.head, target);
  const Credential credential = given.how;
  const Asset* asset = find_asset(target.path);
  const bool wants_start = asset && is_page(*asset);
  if (credential == Credential::kHeader || credential == Credential::kCookie) return false;
  if (credential == Credential::kQuery) {
    const std::string_view site = exchange.head.header("sec-fetch-site");
    const bool is_framed_elsewhere =
        exchange.head.header("sec-fetch-dest") == "iframe" && site == "cross-site";
    // Scripts that put the token into each address are served; a browser gets a cookie instead. In
    // a frame of another site cookies are not sent: the page keeps the token itself.
    if (!wants_start || !wants_page(exchange.head) || is_framed_elsewhere) return false;
    // Relative: behind a proxy that takes a part of the path away it still leads here.
    const std::string whole = without_token(target);
    const std::string there = "." + whole.substr(whole.rfind('/', whole.find('?')));
    api::Answer moved = page_answer(303, "");
    if (site == "cross-site" || site == "same-site") {
      // A strict cookie is withheld from a redirect that another site began, not from a reload.
      moved = page_answer(200,
                          "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
                          "<title>Sonde</title><meta http-equiv=\"refresh\" content=\"0;url=" +
                              html_escaped(there) + "\"></head></html>\n");
    } else {
      moved.headers.emplace_back("Location", there);
    }
    moved.headers.emplace_back(
        "Set-Cookie", access.cookie + "=" + given.token + "; Path=" + options_.path_prefix +
                          "/; HttpOnly; SameSite=Strict" + (peer.is_tls ? "; Secure" : ""));
    answer(exchange, std::move(moved));
    return true;
  }
  if (asset && !wants_start)
    return false;  // the page's code is no secret, and the login needs none
  const bool tried = credential == Credential::kWrong;
  api::Answer denied = wants_start && wants_page(exchange.head)
                           ? login_page(tried)
                           : refusal(target.path, 401, "unauthorised",
                                     "Unauthenticated: this server asks for its token, as "
                                     "'Authorization: Bearer TOKEN' or ?token=TOKEN");
  denied.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"sonde\"");
  answer(exchange, std::move(denied));
  if (tried) exchange.delay = penalty();
  return true;
}

// Each wrong token within a minute of the last doubles the wait, up to three seconds.
std::chrono::milliseconds Site::penalty() {
  const int64_t now =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch())
          .count();
  if (now - last_wrong_ms_.exchange(now) > 60'000) wrong_tokens_ = 0;
  const uint32_t count = wrong_tokens_.fetch_add(1);
  return std::chrono::milliseconds(std::min<int64_t>(100LL << std::min(count, 5u), 3000));
}

Lane Site::lane(const Exchange& exchange) const {
  if (!exchange.route) return Lane::kInline;
  if (exchange.kept && exchange.compress == Compress::kNo) return Lane::kInline;
  if (const auto cost = api::all_routes()[*exchange.route].cost) {
    try {
      return cost(context_, exchange.request) == api::Effort::kShort ? Lane::kWorker
                                                                     : Lane::kSlowLane;
    } catch (const std::exception& error) {
      log::error("the cost of {}: {}", exchange.request.path, error.what());
      return Lane::kSlowLane;
    }
  }
  const uint32_t cost = cost_us_[*exchange.route].load(std::memory_order_relaxed);
  return cost < kInlineUs ? Lane::kInline : cost < kPatientUs ? Lane::kWorker : Lane::kSlowLane;
}

Reply Site::finish(Exchange& exchange, std::string body) {
  const Cost spent;
  const bool was_kept = exchange.kept.has_value();
  exchange.request.body = std::move(body);
  exchange.request.upload = std::move(exchange.upload);
  Reply reply;
  try {
    api::Answer answer =
        was_kept ? std::move(*exchange.kept) : api::handle(context_, exchange.request);
    if (!was_kept) keep(exchange, answer);
    reply = make_reply(policy_, std::move(answer), exchange.head, exchange.compress);
  } catch (const std::exception& error) {  // our code does not throw; libraries and memory do
    log::error("answering {}: {}", exchange.request.path, error.what());
    reply = make_reply(policy_, failure(exchange.request.path), exchange.head, Compress::kNo);
  }
  exchange.request.upload.reset();  // read: its place on the disk is free again
  const bool starts_capture = exchange.request.path.ends_with("/capture_profile");
  if (exchange.head.header("sonde-request") == "1" || starts_capture)
    note(exchange, exchange.request.path, reply.status);
  if (exchange.route && !was_kept) {
    const uint32_t us = spent.us();
    std::atomic<uint32_t>& cost = cost_us_[*exchange.route];
    const uint32_t old = cost.load(std::memory_order_relaxed);
    cost.store(std::max(us, old - old / 8), std::memory_order_relaxed);
  }
  return reply;
}

}  // namespace sonde::http
