// `sonde data_server`: the data server of TensorBoard itself. TensorBoard starts the program that
// TENSORBOARD_DATA_SERVER_BINARY names with these flags, reads the port from a file and then asks
// over gRPC; without a subcommand the flag --port-file is what tells such a start from any other.
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>

#include "api/provider/provider.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/logdir.h"
#include "http/grpc_server.h"
#include "io/remote/remote.h"
#include "io/scan.h"
#include "io/write_file.h"

namespace sonde::cli {
namespace {

constexpr std::string_view kHelp =
    "sonde data_server --logdir DIR [--port N]\n"
    "\n"
    "Answers TensorBoard's own questions about a log directory (gRPC), so that TensorBoard runs "
    "on\n"
    "Sonde's engine. Usually TensorBoard starts it itself:\n"
    "\n"
    "  TENSORBOARD_DATA_SERVER_BINARY=$(command -v sonde) tensorboard --logdir DIR --load_fast "
    "true\n"
    "\n"
    "  --logdir DIR             directory to look for runs in, now and later\n"
    "  --port N                 default: 6806; 0: any free one\n"
    "  --host ADDR              numeric address to listen on (default: 127.0.0.1)\n"
    "  --port-file FILE         write the port there once it is open\n"
    "  --error-file FILE        write there why the start failed\n"
    "  --reload SEC|once        seconds between looks where needed; once: load and stop\n"
    "  --die-after-stdin        stop when the standard input ends\n"
    "  --samples-per-plugin S   accepted; every point is kept whatever it says\n"
    "  --max_memory SIZE        memory for columns, e.g. 8G (default: half)\n";

struct Options {
  std::string logdir, host = "127.0.0.1", port_file, error_file, reload = "5", samples;
  int64_t port = 6806;
  bool dies_after_stdin = false, verbose = false;
  uint64_t max_memory_bytes = 0;
};

// TensorBoard shows the error file's text; people see standard error.
int startup_failed(const Options& options, const std::string& text, int exit_code = 1) {
  if (!options.error_file.empty()) {
    if (const auto written = io::write_whole(options.error_file, text + "\n"); !written)
      failed(written.error().text);
  }
  return failed(text, exit_code);
}

Result<store::Options> store_options(const Options& options) {
  store::Options result;
  if (options.logdir.empty()) return fail(Code::kInvalid, "give a log directory with --logdir");
  if (const auto good = io::check_scheme(options.logdir); !good) return fail(good.error());
  result.roots.push_back({"", io::absolute_path(options.logdir)});
  result.max_memory_bytes = options.max_memory_bytes;
  if (options.reload == "once") {
    result.follow = false;
    return result;
  }
  double seconds = 0;
  const char* end = options.reload.data() + options.reload.size();
  const auto [stop, problem] = std::from_chars(options.reload.data(), end, seconds);
  if (problem != std::errc() || stop != end || !(seconds >= 0)) {
    return fail(Code::kInvalid,
                fmt::format("--reload takes seconds or 'once', not '{}'", options.reload));
  }
  // TensorBoard cuts fractions off: half a second arrives as 0 and still means often.
  result.reload_interval_s = std::max(seconds, 0.2);
  return result;
}

// Returns when the standard input has ended.
void wait_for_stdin() {
  char buffer[256];
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n == 0 || (n < 0 && errno != EINTR)) return;
  }
}

int serve_provider(const Options& options) {
  auto store_setup = store_options(options);
  if (!store_setup) return startup_failed(options, store_setup.error().text, 2);
  signal(SIGPIPE, SIG_IGN);
  auto store = store::Store::open(std::move(*store_setup));
  if (!store) return startup_failed(options, store.error().text);
  api::Settings settings;
  settings.logdir = options.logdir;
  ThreadPool pool("split", usable_cores());
  api::Services services(**store, settings);
  const api::Context context{**store, settings, pool, services};
  const auto server = http::GrpcServer::start(options.host, static_cast<uint16_t>(options.port),
                                              [&](std::string_view path, Bytes message) {
                                                return api::provider::call(context, path, message);
                                              });
  if (!server) return startup_failed(options, server.error().text);
  if (!options.port_file.empty()) {
    const auto written = io::write_whole(options.port_file, fmt::format("{}\n", (*server)->port()));
    if (!written) return startup_failed(options, written.error().text);
  }
  if (options.verbose || options.port_file.empty())
    fmt::print(stderr, "sonde: gRPC data server at {}:{}\n", options.host, (*server)->port());
  if (options.dies_after_stdin) {
    wait_for_stdin();
  } else {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM}) sigaddset(&set, signal);
    int signal = 0;
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    sigwait(&set, &signal);
  }
  _exit(0);  // at once: nothing of ours needs saving
}

}  // namespace

int data_server_command(const Args& args) {
  if (asks_for_help(args)) {
    fmt::print("{}", kHelp);
    return 0;
  }
  Options options;
  Flags flags("sonde data_server");
  flags.text("logdir", options.logdir);
  flags.text("host", options.host);
  flags.integer("port", options.port, 0, 65535);
  flags.text("port_file", options.port_file);
  flags.text("error_file", options.error_file);
  flags.text("reload", options.reload);
  flags.text("samples_per_plugin", options.samples);
  flags.on("die_after_stdin", options.dies_after_stdin);
  flags.on("verbose", options.verbose);
  flags.obsolete("checksum", Flags::Takes::kNothing, "does nothing: checksums are always checked");
  flags.bytes("max_memory", options.max_memory_bytes);
  if (const auto parsed = flags.parse(args); !parsed)
    return startup_failed(options, parsed.error().text, 2);
  return serve_provider(options);
}

}  // namespace sonde::cli
