#include "api/services/recordings.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/services/captures.h"
#include "base/thread_pool.h"
#include "io/remote/remote.h"

namespace sonde::api {

std::string_view name_of(RecordingState state) {
  constexpr std::string_view kNames[] = {"running", "done", "failed", "cancelled"};
  return kNames[static_cast<size_t>(state)];
}

Recordings::~Recordings() = default;  // the thread is stopped and joined first

Result<Recording> Recordings::start(const Context& context, remote::Plan plan,
                                    std::string_view root) {
  if (!context.settings.no_capture.empty())
    return fail(Code::kForbidden, context.settings.no_capture);
  const auto& roots = context.store.options().roots;
  const auto chosen = std::ranges::find_if(
      roots, [&](const auto& one) { return root.empty() || one.name == root; });
  if (chosen == roots.end())
    return fail(
        Code::kNotFound,
        fmt::format("there is no log directory named '{}'; GET profile/capture lists them", root));
  if (io::is_address(chosen->path))
    return fail(Code::kUnsupported, "a capture cannot be written to " + chosen->path +
                                        "; serve a local log directory to record into it");
  plan.logdir = chosen->path;
  plan.policy = context.settings.connect;
  if (auto good = remote::check(plan.options); !good) return fail(std::move(good).error());

  std::unique_lock lock(mutex_);
  if (!entries_.empty() && entries_.front()->recording.state == RecordingState::kRunning)
    return fail(Code::kBusy, "a capture is under way; wait for it or cancel it");
  auto entry = std::make_shared<Entry>();
  entry->recording.id = next_id_++;
  entry->recording.progress.attempts = plan.options.retries + 1;
  entry->recording.expected_ms = plan.options.delay_ms + plan.options.duration_ms;
  entry->attempt_began = Clock::now();
  entries_.push_front(entry);
  if (entries_.size() > kKept) entries_.pop_back();
  Recording begun = copy_of(*entry);
  std::jthread before = std::move(thread_);  // is over, and joined below without the lock
  thread_ = std::jthread(
      [this, entry, plan = std::move(plan), prefix = chosen->name.empty() ? "" : chosen->name + "/",
       looks = context.services.captures().looks()](const std::stop_token& stop) {
        run(*entry, plan, stop);
        // The list of sessions has grown before anybody is told that this is over.
        ++*looks;
        finish(*entry, prefix);
      });
  lock.unlock();
  return begun;
}

void Recordings::run(Entry& entry, const remote::Plan& plan, const std::stop_token& stop) {
  name_this_thread("record");
  const auto watch = [&](const remote::Progress& progress) {
    const std::lock_guard lock(mutex_);
    if (entry.recording.progress.attempt != progress.attempt) entry.attempt_began = Clock::now();
    entry.recording.progress = progress;
  };
  auto recorded = remote::record(plan, watch, stop);
  const std::lock_guard lock(mutex_);
  entry.is_cancelled = !recorded && stop.stop_requested();
  if (recorded) {
    entry.recording.progress = std::move(recorded->progress);
  } else {
    entry.recording.error = std::move(recorded.error().text);
  }
}

void Recordings::finish(Entry& entry, const std::string& prefix) {
  const std::lock_guard lock(mutex_);
  Recording& recording = entry.recording;
  recording.elapsed_ms = copy_of(entry).elapsed_ms;
  if (recording.error.empty()) {
    recording.state = RecordingState::kDone;
    recording.session = prefix + recording.progress.session;
  } else {
    recording.state = entry.is_cancelled ? RecordingState::kCancelled : RecordingState::kFailed;
  }
  changed_.notify_all();
}

Recording Recordings::copy_of(const Entry& entry) const {
  Recording recording = entry.recording;
  if (recording.state == RecordingState::kRunning) {
    recording.elapsed_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - entry.attempt_began)
            .count();
  }
  return recording;
}

Result<std::shared_ptr<Recordings::Entry>> Recordings::find(uint64_t id) const {
  for (const auto& entry : entries_) {
    if (entry->recording.id == id) return entry;
  }
  return fail(Code::kNotFound,
              fmt::format("there is no capture {}; GET profile/capture lists them", id));
}

Result<Recording> Recordings::look(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  SONDE_TRY(entry, find(id));
  return copy_of(*entry);
}

Result<Recording> Recordings::cancel(uint64_t id) {
  const std::lock_guard lock(mutex_);
  SONDE_TRY(entry, find(id));
  // Only the newest can be running, and the thread is its.
  if (entry->recording.state == RecordingState::kRunning) thread_.request_stop();
  return copy_of(*entry);
}

Result<Recording> Recordings::wait(uint64_t id) const {
  std::unique_lock lock(mutex_);
  SONDE_TRY(entry, find(id));
  changed_.wait(lock, [&] { return entry->recording.state != RecordingState::kRunning; });
  return copy_of(*entry);
}

std::vector<Recording> Recordings::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<Recording> all;
  for (const auto& entry : entries_) all.push_back(copy_of(*entry));
  return all;
}

}  // namespace sonde::api
