#include "cli/serve.h"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "api/routes.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread_pool.h"
#include "cli/binding.h"
#include "cli/digest.h"
#include "cli/help.h"
#include "cli/info_file.h"
#include "cli/logdir.h"
#include "cli/progress.h"
#include "cli/serve_options.h"
#include "cli/version.h"
#include "http/server.h"
#include "io/remote/clickhouse.h"
#include "io/remote/remote.h"
#include "log/team/team_store.h"
#include "sonde/version.h"

namespace sonde::cli {
namespace {

// The TensorBoard whose flags, routes and files are kept: tools look for it in the serving line.
constexpr std::string_view kTensorBoard = "2.21.0";
constexpr int kCannotBind = 255;  // TensorBoard's exit code
constexpr uint16_t kPortTries = 100;
constexpr int kGivesWay = 1;  // niceness of the threads that split long answers
constexpr std::chrono::milliseconds kDrainTime{700};

sigset_t blocked_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

Result<std::unique_ptr<http::Server>> bind(const ServeOptions& o, const Binding& binding) {
  http::ListenOptions listen;
  listen.addresses = binding.addresses;
  listen.port = static_cast<uint16_t>(o.port);
  listen.tries = o.port_is_default ? kPortTries : 1;
  listen.reuse_port = o.reuse_port;
  listen.unix_socket = o.unix_socket;
  listen.certfile = o.certfile;
  listen.keyfile = o.keyfile;
  auto server = http::Server::listen(std::move(listen));
  if (server || server.error().code != Code::kConflict || !o.unix_socket.empty()) return server;
  if (o.port_is_default) {
    return fail(Code::kConflict,
                fmt::format("ports {} to {} are all in use; give another with --port, or --port 0 "
                            "for any free one",
                            o.port, o.port + kPortTries - 1));
  }
  return fail(Code::kConflict, fmt::format("port {} is already in use; give another, or leave "
                                           "--port out to take the next free one",
                                           o.port));
}

// One sentence when a root will not show anything, each with what to do.
int check_roots(const std::vector<store::Options::Root>& roots) {
  for (const auto& root : roots) {
    if (const auto good = io::check_scheme(root.path); !good) return failed(good.error().text);
    if (io::is_remote(root.path)) {
      const auto answers = io::check_remote(root.path);
      if (answers) continue;
      if (answers.error().code != Code::kIo) return failed(answers.error().text);
      log::warn("{}; trying again", answers.error().text);
      continue;
    }
    std::error_code error;
    const auto status = std::filesystem::status(root.path, error);
    if (std::filesystem::is_directory(status)) {
      if (access(root.path.c_str(), R_OK | X_OK) != 0) {
        return failed(
            fmt::format("the directory '{}' may not be read; check its permissions", root.path));
      }
    } else if (std::filesystem::exists(status)) {
      return failed(fmt::format("'{}' is a file; give the directory it is in", root.path));
    } else {
      log::warn("there is no directory '{}' yet; waiting for it to appear", root.path);
    }
  }
  return 0;
}

void say_where(const ServeOptions& o, const Binding& binding, const std::string& url,
               const http::Access& access) {
  if (o.host.empty() && !o.bind_all && !binding.addresses.empty()) {
    fmt::print(stderr,
               "Serving on localhost; to expose to the network, use a proxy or pass --bind_all\n");
  }
  if (!binding.is_loopback && !access.asks()) {
    log::warn("anyone who can reach this port can read the logs (--auth none)");
  }
  fmt::print(stderr, "Sonde {}, compatible with TensorBoard {} at {} (Press CTRL+C to quit)\n",
             SONDE_VERSION, kTensorBoard, url);
}

// Ends the process even if something does not let go in time.
void give_up_after_a_second() {
  struct sigaction action{};
  action.sa_handler = [](int) { _exit(0); };
  sigaction(SIGALRM, &action, nullptr);
  alarm(1);
}

// Waits for the signal to stop; SIGHUP looks at the log directory again, unless the terminal that
// the program was started from has gone.
int wait_for_stop(store::Store& store) {
  const bool has_terminal = isatty(STDIN_FILENO) == 1 || isatty(STDERR_FILENO) == 1;
  const sigset_t set = blocked_signals();
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    if (signal != SIGHUP || has_terminal) return signal;
    store.reload();
  }
}

store::Options store_options(const ServeOptions& o, std::vector<store::Options::Root> roots) {
  store::Options options;
  options.roots = std::move(roots);
  options.purge_orphaned_data = o.purge_orphaned_data;
  options.reload_interval_s = o.reload_interval_s;
  options.follow = o.reload_interval_s > 0;
  options.max_memory_bytes = o.max_memory_bytes;
  return options;
}

Result<std::unique_ptr<store::Store>> open_store(const ServeOptions& o,
                                                 std::vector<store::Options::Root> roots) {
  if (o.store.empty()) return store::Store::open(store_options(o, std::move(roots)));
  SONDE_TRY(server, io::ClickHouse::parse(o.store));
  return team::open_team_store(std::move(server), o.project, store_options(o, {}));
}

// A capture writes into the log directory and connects to where the asker says: only for people who
// may do so themselves.
std::string reason_against_captures(const ServeOptions& o, const Binding& binding,
                                    const http::Access& access) {
  if (!o.store.empty()) return "this server shows a database and has no log directory to write to";
  if (o.read_only) return "this server was started with --read_only and writes nothing";
  if (!binding.is_loopback && !access.asks())
    return "this server is open to the network without a token; start it without --auth none";
  return "";
}

api::Settings settings_of(const ServeOptions& o) {
  api::Settings settings;
  settings.logdir = o.logdir.empty() ? o.logdir_spec : o.logdir;
  for (const std::string& more : o.more_logdirs) settings.logdir += "," + more;
  if (const auto server = io::ClickHouse::parse(o.store)) settings.logdir = server->place();
  settings.window_title = o.window_title;
  settings.path_prefix = o.path_prefix;
  settings.samples_per_plugin = o.samples_per_plugin;
  settings.sidecar = o.sidecar;
  settings.read_only_sidecar = o.read_only;
  settings.keep_uploads_s = o.keep_uploads_s;
  settings.whatif_data = o.whatif_data;
  settings.whatif_endpoints = o.whatif_endpoints;
  settings.boot = http::random_token().substr(0, 12);
  return settings;
}

void say_loaded(const store::Snapshot& snapshot, const std::string& logdir) {
  if (snapshot.progress.files == 0 && snapshot.runs.empty()) {
    fmt::print(stderr, "sonde: no event files in '{}' yet; the page fills as soon as they appear\n",
               logdir);
  }
}

int run_server(const ServeOptions& o, const Args& args) {
  auto roots = roots_of(o);
  if (const int bad = check_roots(roots); bad != 0) return bad;
  if (const auto server = io::ClickHouse::parse(o.store); !o.store.empty() && !server)
    return failed("argument --store: " + server.error().text, 2);
  const auto binding = binding_of(o);
  if (!binding) return failed(binding.error().text, kCannotBind);
  auto access = access_of(o, *binding);
  if (!access) return failed(access.error().text);
  if (o.port > 65535) {
    return failed(fmt::format("cannot bind to port {} > 65535", o.port), kCannotBind);
  }

  // Signals are taken by sigwait below; every thread started from here on leaves them alone.
  const sigset_t set = blocked_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);

  auto server = bind(o, *binding);
  if (!server) {
    const bool is_setup = server.error().code == Code::kInvalid && !o.certfile.empty();
    return failed(server.error().text, is_setup ? 1 : kCannotBind);
  }
  access->cookie = fmt::format("sonde-{}", (*server)->port());

  api::Settings settings = settings_of(o);
  settings.no_capture = reason_against_captures(o, *binding, *access);
  set_index(o.keeps_index, o.index_dir);
  for (const std::string& range : o.allow_connect) {
    if (auto allowed = settings.connect.allow(range); !allowed)
      return failed("argument --allow_connect: " + allowed.error().text, 2);
  }
  settings.is_loopback = binding->is_loopback;
  auto store = open_store(o, std::move(roots));
  if (!store) return failed(store.error().text);
  if (o.loads_before_serving) (*store)->wait_loaded();
  ThreadPool pool("split", usable_cores(), kGivesWay);
  api::Services services(**store, settings);
  const api::Context context{**store, settings, pool, services};
  http::SiteOptions site_options;
  site_options.access = *access;
  site_options.audit_file = o.audit_log.empty() ? "" : io::absolute_path(o.audit_log);
  site_options.path_prefix = o.path_prefix;
  using Compression = http::SiteOptions::Compression;
  site_options.compression = o.compression == "always"  ? Compression::kAlways
                             : o.compression == "never" ? Compression::kNever
                                                        : Compression::kAuto;
  http::Metrics metrics;
  http::Site site(std::move(site_options), context, metrics);
  (*server)->start(site);

  const InfoFile info({settings.logdir, o.path_prefix, (*server)->port(), args});
  say_where(o, *binding, url_of(o, *binding, (*server)->port(), access->token), *access);
  {
    const ProgressLine progress(
        **store, [&](const store::Snapshot& snapshot) { say_loaded(snapshot, settings.logdir); });
    const int signal = wait_for_stop(**store);
    give_up_after_a_second();
    if (signal == SIGINT) {  // at once: nothing of ours needs saving
      if (!info.path().empty()) ::unlink(info.path().c_str());
      if (!o.unix_socket.empty()) ::unlink(o.unix_socket.c_str());
      _exit(0);
    }
    fmt::print(stderr, "sonde: caught {}; exiting\n", signal == SIGTERM ? "SIGTERM" : "SIGHUP");
  }
  (*server)->stop(kDrainTime);
  return 0;
}

}  // namespace

int serve(const Args& args) {
  const auto asks = [](const std::string& a) { return a == "--help" || a == "-h"; };
  if (std::ranges::any_of(args, asks)) {
    fmt::print("{}", help());
    return 0;
  }
  const auto options = parse_serve_options(args);
  if (!options) {
    return failed(options.error().text, options.error().code == Code::kInvalid ? 2 : 1);
  }
  for (const std::string& note : options->notes) fmt::print(stderr, "sonde: {}\n", note);
  if (options->prints_version) {
    fmt::print("{}\n", version_text());
    return 0;
  }
  if (options->inspect) {
    const auto text = digest({options->logdir, options->event_file, options->tag});
    if (!text) return failed(text.error().text);
    fmt::print("{}", *text);
    return 0;
  }
  return run_server(*options, args);
}

}  // namespace sonde::cli
