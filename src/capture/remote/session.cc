#include "capture/remote/session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/strings.h"
#include "base/thread_pool.h"
#include "capture/remote/grpc_call.h"
#include "io/scan.h"
#include "io/write_file.h"

namespace sonde::remote {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kTogetherMs = 1000;  // several hosts begin at one moment, so late
constexpr milliseconds kPause{300};    // before the second attempt, twice that before the third …
constexpr std::chrono::seconds kTerminateTime{2};

int64_t unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// TensorBoard names a session by the local time; a second one within a second gets a number.
std::string free_session_name(const std::string& root) {
  const std::string name = fmt::format("{:%Y_%m_%d_%H_%M_%S}", fmt::localtime(std::time(nullptr)));
  std::string candidate = name;
  std::error_code ignored;
  for (int n = 2; std::filesystem::exists(root + "/" + candidate, ignored); ++n)
    candidate = fmt::format("{}_{}", name, n);
  return candidate;
}

// One attempt at all hosts, or several: what they share.
class Recorder {
 public:
  Recorder(const Plan& plan, const std::function<void(const Progress&)>& watch,
           const std::stop_token& stop)
      : plan_(plan),
        watch_(watch),
        stop_(stop),
        root_(io::absolute_path(plan.logdir) + "/plugins/profile") {
    progress_.attempts = plan.options.retries + 1;
  }

  Result<Recorded> run() {
    for (;; ++progress_.attempt) {
      if (attempt()) return Recorded{folder(), progress_};
      if (stop_.stop_requested()) return fail(Code::kConflict, "the capture was cancelled");
      const bool is_last = progress_.attempt >= progress_.attempts;
      if (is_last || !worth_another_try_) return failure();
      std::unique_lock lock(mutex_);
      std::condition_variable_any never;
      never.wait_for(lock, stop_, kPause * progress_.attempt, [] { return false; });
    }
  }

 private:
  std::string folder() const { return root_ + "/" + progress_.session; }
  std::string file_of(const Address& address) const {
    return folder() + "/" + address.file_name() + ".xplane.pb";
  }

  // Whether any host has data.
  bool attempt() {
    start_attempt(plan_.workers.empty() ? plan_.services : plan_.workers);
    if (!plan_.workers.empty()) {
      auto collected = collect_through_head();
      if (collected) return true;
      if (collected.error().code != Code::kUnsupported) {
        for (size_t i = 0; i < progress_.hosts.size(); ++i) set_failed(i, collected.error());
        return false;
      }
    }
    const auto& hosts = plan_.workers.empty() ? plan_.services : plan_.workers;
    {
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < hosts.size(); ++i) {
        threads.emplace_back([this, i, &address = hosts[i]] {
          name_this_thread("capture");
          if (auto done = record_host(i, address); !done) set_failed(i, done.error());
        });
      }
    }
    return std::ranges::any_of(progress_.hosts,
                               [](const HostProgress& h) { return h.phase == Phase::kDone; });
  }

  void start_attempt(const std::vector<Address>& hosts) {
    const std::lock_guard lock(mutex_);
    progress_.session = free_session_name(root_);
    progress_.hosts.clear();
    for (const Address& address : hosts) progress_.hosts.push_back({address.text(), {}, 0, {}});
    worth_another_try_ = true;
    int64_t delay_ms = plan_.options.delay_ms;
    if (delay_ms == 0 && hosts.size() > 1) delay_ms = kTogetherMs;
    start_ns_ = delay_ms == 0 ? 0 : unix_ns() + delay_ms * 1'000'000;
    deadline_ = std::chrono::steady_clock::now() +
                milliseconds(delay_ms + plan_.options.duration_ms + plan_.options.timeout_ms);
    watch_(progress_);
  }

  Call call_to(const Address& address, std::string_view path, std::string message) const {
    Call call;
    call.address = address;
    call.path = path;
    call.message = std::move(message);
    call.deadline = deadline_;
    call.max_answer_bytes = plan_.options.max_answer_bytes;
    call.stop = stop_;
    call.policy = plan_.policy ? &*plan_.policy : nullptr;
    return call;
  }

  Result<void> record_host(size_t i, const Address& address) {
    Call call =
        call_to(address, kProfile,
                encoded({plan_.options, root_, progress_.session, address.text(), start_ns_}));
    bool is_connected = false;
    call.connected = [&] {
      is_connected = true;
      set_phase(i, Phase::kRecording, 0);
    };
    call.received = [&](uint64_t bytes) { set_phase(i, Phase::kReceiving, bytes); };
    auto message = unary_call(call);
    if (!message) {
      if (is_connected && stop_.stop_requested()) terminate(address);
      return fail(std::move(message).error());
    }
    SONDE_TRY(response, parse_response(as_bytes(*message)));
    if (auto kept = keep(address, response); !kept) return kept;
    set_phase(i, Phase::kDone, message->size());
    return {};
  }

  // The program would go on recording for nobody, and refuse the next who asks.
  void terminate(const Address& address) const {
    Call call = call_to(address, kTerminate, encoded_terminate(progress_.session));
    call.stop = {};
    call.deadline = std::chrono::steady_clock::now() + kTerminateTime;
    // Nothing to be done about a server that cannot.
    [[maybe_unused]] const auto ignored = unary_call(call);
  }

  Result<void> keep(const Address& address, const ProfileResponse& response) const {
    if (!response.xspace.empty() && !response.is_empty)
      return io::write_whole(file_of(address), as_text(response.xspace));
    bool kept = false;
    for (const auto& [name, content] : response.tool_data) {
      if (!is_tool_name(name) || content.empty()) continue;
      const std::string path = fmt::format("{}/{}.{}", folder(), address.file_name(), name);
      if (auto written = io::write_whole(path, as_text(content)); !written) return written;
      kept = true;
    }
    if (kept) return {};
    if (response.is_empty) {
      return fail(Code::kBusy,
                  fmt::format("{} recorded nothing in {} ms; is the program computing? Try a "
                              "longer time or higher tracer levels",
                              address.text(), plan_.options.duration_ms));
    }
    return written_by_server(address);
  }

  // Servers before 2025 write the file themselves: on a shared file system it is here.
  Result<void> written_by_server(const Address& address) const {
    std::error_code ignored;
    if (std::filesystem::exists(file_of(address), ignored)) return {};
    return fail(Code::kNotFound,
                fmt::format("{} wrote its capture on its own machine, to {}; copy it here, or give "
                            "a log directory that both machines see",
                            address.text(), file_of(address)));
  }

  Result<void> collect_through_head() {
    const Address& head = plan_.services.front();
    std::vector<std::string> hosts;
    for (const Address& worker : plan_.workers) hosts.push_back(worker.text());
    Call call =
        call_to(head, kNewSession,
                encoded_new_session({plan_.options, root_, progress_.session, head.host, start_ns_},
                                    hosts));
    SONDE_TRY(message, unary_call(call));
    SONDE_TRY(response, parse_new_session(as_bytes(message)));
    if (!response.error.empty())
      return fail(Code::kIo, fmt::format("{}: {}", head.text(), response.error));
    if (response.is_empty)
      return fail(Code::kBusy, fmt::format("the workers of {} recorded nothing", head.text()));
    std::error_code ignored;
    if (!std::filesystem::exists(folder(), ignored)) {
      return fail(Code::kNotFound,
                  fmt::format("{} wrote the capture on its own machine, to {}; copy it here",
                              head.text(), folder()));
    }
    for (size_t i = 0; i < progress_.hosts.size(); ++i) set_phase(i, Phase::kDone, 0);
    return {};
  }

  void set_phase(size_t i, Phase phase, uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    progress_.hosts[i].phase = phase;
    progress_.hosts[i].bytes = bytes;
    watch_(progress_);
  }

  void set_failed(size_t i, const Error& error) {
    const std::lock_guard lock(mutex_);
    progress_.hosts[i].phase = Phase::kFailed;
    progress_.hosts[i].error = error.text;
    if (error.code != Code::kBusy) {
      worth_another_try_ = false;
      code_ = error.code;
    }
    watch_(progress_);
  }

  tl::unexpected<Error> failure() const {
    std::string text;
    for (const HostProgress& host : progress_.hosts) {
      if (!text.empty()) text += "; ";
      text += host.error;
    }
    if (worth_another_try_ && progress_.attempts > 1)
      text += fmt::format(" (tried {} times)", progress_.attempts);
    return fail(worth_another_try_ ? Code::kBusy : code_, std::move(text));
  }

  const Plan& plan_;
  const std::function<void(const Progress&)>& watch_;
  const std::stop_token& stop_;
  const std::string root_;
  std::chrono::steady_clock::time_point deadline_;
  int64_t start_ns_ = 0;

  std::mutex mutex_;  // guards: progress_ while threads run, worth_another_try_, code_
  Progress progress_;
  bool worth_another_try_ = true;
  Code code_ = Code::kIo;
};

}  // namespace

std::string_view name_of(Phase phase) {
  constexpr std::string_view kNames[] = {"connecting", "recording", "receiving", "done", "failed"};
  return kNames[static_cast<size_t>(phase)];
}

bool is_tool_name(std::string_view name) {
  const auto is_harmless = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '@' || c == '^';
  };
  return !name.empty() && name.size() <= 64 && name[0] != '.' &&
         std::ranges::all_of(name, is_harmless) && name.find("..") == std::string_view::npos;
}

Result<Recorded> record(const Plan& plan, const std::function<void(const Progress&)>& watch,
                        const std::stop_token& stop) {
  if (auto good = check(plan.options); !good) return fail(std::move(good).error());
  if (plan.services.empty()) return fail(Code::kInvalid, "no profiler server is named");
  if (plan.logdir.find("://") != std::string::npos)
    return fail(Code::kUnsupported, "captures are written to a folder of this machine only");
  if (!io::may_write_at(io::absolute_path(plan.logdir) + "/plugins/profile/x"))
    return fail(Code::kForbidden,
                fmt::format("'{}' may not be written by this program", plan.logdir));
  return Recorder(plan, watch, stop).run();
}

}  // namespace sonde::remote
