#include "log/write/outbox.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <utility>

#include "io/file.h"
#include "io/remote/upload.h"
#include "io/write_file.h"

namespace sonde::writer {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::string_view kAddressFile = "/.address";

double seconds_of(const char* name, double otherwise) {
  const char* given = std::getenv(name);
  if (!given || !*given) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(given, &end);
  return *end == 0 && value >= 0 && value < 1e6 ? value : otherwise;
}

Clock::duration seconds(double number) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(number));
}

// After a fork the child writes files of its own into the same folder, and uploads them itself.
bool is_ours(const std::string& name) {
  return name.find("tfevents") == name.npos ||
         name.find(fmt::format(".{}.", ::getpid())) != name.npos;
}

}  // namespace

std::string outbox_folder() {
  if (const char* given = std::getenv("SONDE_OUTBOX_DIR"); given && *given) return given;
  const std::string state = io::state_folder();
  return state.empty() ? "" : state + "/outbox";
}

struct Outbox::State {
  explicit State(const Outbox& box) : upload(box.folder_, box.address_, is_ours) {}

  const int process = ::getpid();
  std::mutex passing;  // guards: upload, problem, is_told
  io::FolderUpload upload;
  std::string problem;
  bool is_told = false;
  std::mutex mutex;  // guards: is_stopping, thread
  std::condition_variable changed;
  bool is_stopping = false;
  std::thread thread;
};

Outbox::Outbox(std::string folder, std::string address, Report on_problem)
    : folder_(std::move(folder)),
      address_(std::move(address)),
      on_problem_(std::move(on_problem)),
      state_(std::make_unique<State>(*this)) {}

Result<std::shared_ptr<Outbox>> Outbox::make(const std::string& address, Report on_problem) {
  static std::atomic<uint64_t> count{0};
  std::string to = address;
  while (to.ends_with('/')) to.pop_back();
  if (auto good = io::check_upload(to); !good) return fail(good.error());
  const std::string all = outbox_folder();
  if (all.empty()) {
    return fail(Code::kInvalid, "cannot write to " + address +
                                    ": SONDE_OUTBOX_DIR names no folder for what is not uploaded "
                                    "yet, and there is no home directory");
  }
  std::error_code error;
  fs::create_directories(all, error);
  for (int tries = 0; tries < 1000; ++tries) {
    const std::string folder = fmt::format("{}/{}-{}", all, ::getpid(), count++);
    if (!fs::create_directory(folder, error)) continue;
    ::chmod(folder.c_str(), 0700);  // logs may not be everybody's
    std::ofstream(folder + std::string(kAddressFile)) << to << "\n";
    return std::shared_ptr<Outbox>(new Outbox(folder, to, std::move(on_problem)));
  }
  return fail(Code::kIo, "cannot write to " + address + ": no folder could be made in " + all);
}

Outbox::~Outbox() {
  if (state_->process != ::getpid()) {
    leave_behind();
  } else if (state_->thread.joinable()) {
    close();
  }
}

// A child has our memory but not our threads: their locks and what they were changing at that moment
// are left behind, not destroyed.
void Outbox::leave_behind() { [[maybe_unused]] const State* const left = state_.release(); }

Outbox::State& Outbox::state() {
  if (state_->process != ::getpid()) {
    leave_behind();
    state_ = std::make_unique<State>(*this);
  }
  return *state_;
}

void Outbox::begin() {
  State& mine = state();
  const std::lock_guard lock(mine.mutex);
  const std::string note = folder_ + std::string(kAddressFile);
  if (!io::stat_of(note)) std::ofstream(note) << address_ << "\n";
  if (mine.thread.joinable()) return;
  mine.is_stopping = false;
  sigset_t all, before;
  sigfillset(&all);  // signals are the training program's business
  pthread_sigmask(SIG_SETMASK, &all, &before);
  mine.thread = std::thread([this, &mine] { run(mine); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool Outbox::upload_once(State& state) const {
  const std::lock_guard lock(state.passing);
  io::Moved moved;
  const auto done = state.upload.pass(moved);
  state.problem = done ? "" : done.error().text;
  if (!done && !std::exchange(state.is_told, true)) {
    report(fmt::format("cannot upload to {}: {}; training goes on, records are kept in {}",
                       address_, state.problem, folder_));
  }
  return done.has_value();
}

void Outbox::run(State& state) const {
  const auto interval = seconds(seconds_of("SONDE_UPLOAD_SECONDS", 5));
  constexpr auto kLongest = std::chrono::minutes(1);
  auto pause = interval;
  std::unique_lock lock(state.mutex);
  while (!state.is_stopping) {
    state.changed.wait_for(lock, pause, [&] { return state.is_stopping; });
    if (state.is_stopping) return;
    lock.unlock();
    const bool is_done = upload_once(state);
    lock.lock();
    pause = is_done ? interval : std::min<Clock::duration>(pause * 2 + seconds(1), kLongest);
  }
}

void Outbox::close() {
  State& mine = state();
  std::thread thread;
  {
    const std::lock_guard lock(mine.mutex);
    mine.is_stopping = true;
    thread = std::move(mine.thread);
  }
  mine.changed.notify_all();
  if (thread.joinable()) thread.join();
  const auto deadline = Clock::now() + seconds(seconds_of("SONDE_UPLOAD_WAIT", 60));
  while (!upload_once(mine) && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  mine.upload.remove_sent();
  if (const size_t left = mine.upload.waiting(); left > 0) {
    report(
        fmt::format("{} file{} for {} not uploaded: {}; kept in {}, `sonde sync --pending` "
                    "uploads what is there",
                    left, left == 1 ? "" : "s", address_, mine.problem, folder_));
    return;
  }
  // The folder stays while another process writes there.
  std::error_code error;
  bool is_empty = true;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
    is_empty = is_empty && it->path().filename().string() == kAddressFile.substr(1);
  if (is_empty) {
    ::unlink((folder_ + std::string(kAddressFile)).c_str());
    ::rmdir(folder_.c_str());
  }
}

void Outbox::report(const std::string& text) const {
  if (on_problem_) {
    on_problem_(text);
  } else {
    fmt::print(stderr, "sonde: logging: {}\n", text);
  }
}

std::vector<Pending> pending_uploads() {
  std::vector<Pending> pending;
  std::error_code error;
  for (fs::directory_iterator it(outbox_folder(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string folder = it->path().string(), name = it->path().filename().string();
    int process = 0;
    std::from_chars(name.data(), name.data() + name.size(), process);
    // Who still runs uploads by itself.
    if (process <= 0 || ::kill(process, 0) == 0) continue;
    auto address = io::read_file(folder + std::string(kAddressFile), 1 << 16);
    if (!address) continue;
    while (address->ends_with('\n')) address->pop_back();
    pending.push_back({folder, std::move(*address)});
  }
  return pending;
}

}  // namespace sonde::writer
