// `sonde capture --service HOST:PORT --logdir DIR`: asks running programs for a profile and writes
// it where the Profile dashboard and TensorBoard look. One line on the terminal says how far it is.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "base/strings.h"
#include "capture/remote/session.h"
#include "cli/commands.h"
#include "cli/flags.h"

namespace sonde::cli {
namespace {

constexpr std::string_view kHelp =
    R"(sonde capture --service HOST:PORT --logdir DIR: record a profile of a program that runs

The program has to listen first, one line near its start:
  JAX          jax.profiler.start_server(6009)
  TensorFlow   tf.profiler.experimental.server.start(6009)
  PyTorch/XLA  torch_xla.debug.profiler.start_server(6009)
(PyTorch without XLA: sonde.profile in Python, see docs/logging.md.)

  sonde capture --service localhost:6009 --logdir logs
  sonde capture --service node1:6009,node2:6009 --logdir logs --duration_ms 3000

writes DIR/plugins/profile/<time>/<host>_<port>.xplane.pb; `sonde profile DIR` shows it.

  --service LIST           profiler servers, host:port, separated by commas
  --logdir DIR             log directory to write into
  --duration_ms N          how long to record (default 1000)
  --delay_ms N             wait before recording (default 0; several hosts begin together,
                           after 1000 unless given)
  --retries N              further tries when nothing was recorded (default 3)
  --host_tracer_level N    0 off, 1 annotations, 2 and costly operations (default), 3 all
  --device_tracer_level N  0 off, 1 on (default)
  --python_tracer_level N  0 off (default), 1 on: Python functions; slows the program down
  --worker_list LIST       of a TPU pod: the workers that the service collects from
  --option KEY=VALUE       told to the profiler as it is; may be repeated
  --timeout_ms N           how long an answer may take beyond delay and duration (default 60000)

Exit code 0: every host is written; 1: one or all could not be; 2: wrong usage.
Ctrl-C ends the recording in the programs and writes nothing.
)";

std::string line_of(const remote::Progress& progress) {
  std::string text = fmt::format("{}: ", progress.session);
  if (progress.attempt > 1)
    text += fmt::format("attempt {} of {}, ", progress.attempt, progress.attempts);
  size_t done = 0;
  uint64_t bytes = 0;
  for (const remote::HostProgress& host : progress.hosts) {
    done += host.phase >= remote::Phase::kDone ? 1 : 0;
    bytes += host.bytes;
  }
  if (progress.hosts.size() == 1) {
    text += remote::name_of(progress.hosts[0].phase);
  } else {
    text += fmt::format("{} of {} hosts ready", done, progress.hosts.size());
  }
  return bytes > 0 ? fmt::format("{}, {}", text, human_bytes(bytes)) : text;
}

// Waits for Ctrl-C on a thread of its own while `body` runs, so that the programs are told to stop.
template <class Fn>
auto interruptible(Fn&& body) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::stop_source source;
  const std::jthread listener([&](const std::stop_token& over) {
    constexpr timespec kLook{0, 100'000'000};
    while (!over.stop_requested()) {
      if (sigtimedwait(&set, nullptr, &kLook) > 0) source.request_stop();
    }
  });
  return body(source.get_token());
}

Result<void> take_option(remote::Options& options, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return fail(Code::kInvalid, fmt::format("argument --option: write KEY=VALUE, not '{}'", text));
  options.extra.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  return {};
}

Result<remote::Plan> plan_of(const Args& args) {
  remote::Plan plan;
  remote::Options& o = plan.options;
  std::string service, workers;
  Flags flags("sonde capture");
  flags.text("service", service);
  flags.text("logdir", plan.logdir);
  flags.text("worker_list", workers);
  flags.integer("duration_ms", o.duration_ms, 1, 3'600'000);
  flags.integer("delay_ms", o.delay_ms, 0, 3'600'000);
  flags.integer("retries", o.retries, 0, 100);
  flags.integer("host_tracer_level", o.host_tracer_level, 0, 3);
  flags.integer("device_tracer_level", o.device_tracer_level, 0, 1);
  flags.integer("python_tracer_level", o.python_tracer_level, 0, 1);
  flags.integer("timeout_ms", o.timeout_ms, 1, 3'600'000);
  flags.parsed("option", [&](std::string_view text) { return take_option(o, text); });
  if (auto parsed = flags.parse(args); !parsed) return fail(std::move(parsed).error());
  if (service.empty())
    return fail(Code::kInvalid, "give the program's profiler server: --service localhost:6009");
  if (plan.logdir.empty())
    return fail(Code::kInvalid, "give the log directory to write into: --logdir DIR");
  auto services = remote::addresses_of(service);
  if (!services) return fail(std::move(services).error().in("--service"));
  plan.services = std::move(*services);
  if (!workers.empty()) {
    auto list = remote::addresses_of(workers);
    if (!list) return fail(std::move(list).error().in("--worker_list"));
    plan.workers = std::move(*list);
  }
  if (auto good = remote::check(o); !good) return fail(std::move(good).error());
  return plan;
}

}  // namespace

int capture_command(const Args& args) {
  for (const std::string& word : args) {
    if (word == "--help" || word == "-h") {
      fmt::print("{}", kHelp);
      return 0;
    }
  }
  const auto plan = plan_of(args);
  if (!plan) return failed(plan.error().text, 2);
  const bool shows_line = isatty(STDERR_FILENO) == 1;
  const auto watch = [&](const remote::Progress& progress) {
    if (shows_line) fmt::print(stderr, "\r\x1b[K{}", line_of(progress));
  };
  const auto recorded = interruptible(
      [&](const std::stop_token& stop) { return remote::record(*plan, watch, stop); });
  if (shows_line) fmt::print(stderr, "\r\x1b[K");
  if (!recorded) return failed(recorded.error().text);
  fmt::print("{}\n", recorded->folder);
  size_t missing = 0;
  for (const remote::HostProgress& host : recorded->progress.hosts) {
    if (host.phase == remote::Phase::kDone) continue;
    ++missing;
    fmt::print(stderr, "sonde: {}\n", host.error);
  }
  if (missing == 0) return 0;
  return failed(fmt::format("{} of {} hosts are missing in this capture", missing,
                            recorded->progress.hosts.size()));
}

}  // namespace sonde::cli
