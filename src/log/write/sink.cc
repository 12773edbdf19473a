#include "log/write/sink.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "codec/fields/event.h"
#include "codec/wire.h"

namespace sonde::writer {

using Clock = std::chrono::steady_clock;

// All live sinks, so that fork() finds each of them in a state the child can use: their locks are
// taken before the fork and given back on both sides. Never destroyed: a fork may come during exit.
struct ForkGuard {
  std::mutex mutex;  // guards: sinks
  std::vector<Sink*> sinks;

  static ForkGuard& instance() {
    static ForkGuard* guard = [] {
      auto* made = new (std::nothrow) ForkGuard;
      pthread_atfork([] { instance().prepare(); }, [] { instance().parent(); },
                     [] { instance().child(); });
      return made;
    }();
    return *guard;
  }
  void add(Sink* sink) {
    std::lock_guard lock(mutex);
    sinks.push_back(sink);
  }
  void remove(Sink* sink) {
    std::lock_guard lock(mutex);
    std::erase(sinks, sink);
  }
  void prepare() {
    mutex.lock();
    for (Sink* sink : sinks) sink->before_fork();
  }
  void parent() {
    for (Sink* sink : sinks) sink->after_fork_in_parent();
    mutex.unlock();
  }
  void child() {
    for (Sink* sink : sinks) sink->after_fork_in_child();
    mutex.unlock();
  }
};

void Sink::Buffer::enlarge(size_t needed) {
  const size_t bigger = std::max({needed, capacity * 2, size_t{4096}});
  std::unique_ptr<char[]> moved(new char[bigger]);
  if (size != 0) std::copy_n(data.get(), std::min(size, capacity), moved.get());
  data = std::move(moved);
  capacity = bigger;
}

Sink::Sink(SinkOptions options)
    : options_(std::move(options)),
      soft_limit_(std::max<size_t>(options_.max_buffer_bytes, 4096)),
      file_(std::make_unique<EventFile>(options_.file)) {
  ForkGuard::instance().add(this);
}

Sink::~Sink() {
  close();
  ForkGuard::instance().remove(this);
}

void Sink::open() {
  std::unique_lock lock(mutex_);
  if (!running_) start();
  const uint64_t before = attempts_;
  wake(true);
  done_.wait(lock, [&] { return attempts_ > before || !running_; });
}

bool Sink::make_room(std::unique_lock<std::mutex>& lock, size_t size) {
  if (!running_) start();
  const auto fits = [&] { return buffer_.size == 0 || buffer_.size + size <= soft_limit_; };
  while (options_.when_full == WhenFull::kWait && !fits() && !failing_) {
    wake(true);
    const auto wait = [&] { done_.wait(lock, [&] { return fits() || failing_; }); };
    if (!options_.wait_with) {
      wait();
      continue;
    }
    lock.unlock();
    options_.wait_with([&] {
      lock.lock();
      wait();
      lock.unlock();
    });
    lock.lock();  // another caller may have taken the room meanwhile
  }
  if (fits()) return true;
  ++dropped_;
  return false;
}

void Sink::start() {
  running_ = true;
  stopping_ = false;
  // Signals are the training program's business; SIGXFSZ would kill it at a file size limit.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&thread_, nullptr, run_thread, this) != 0) {
    running_ = false;
    failing_ = true;
    problem_ = "cannot start the logging thread";
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Sink::wake(bool urgent) {
  if (urgent) urgent_ = true;
  work_.notify_one();
}

void* Sink::run_thread(void* self) {
#ifdef __linux__
  pthread_setname_np(pthread_self(), "sonde-log");
#endif
  static_cast<Sink*>(self)->run();
  return nullptr;
}

void Sink::run() {
  const auto interval = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::max(0.0, options_.flush_interval_s)));
  constexpr auto kGather =
      std::chrono::milliseconds(10);  // lets a burst after silence be one write
  auto last = Clock::now() - interval;
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto pressed = [&] { return stopping_ || urgent_; };
    if (failing_) {
      work_.wait_for(lock, std::max<Clock::duration>(interval, kGather), pressed);
    } else {
      work_.wait(lock, [&] { return pressed() || buffer_.size > 0; });
      if (!pressed() && buffer_.size < kUrgentBytes) {
        const auto due =
            std::max(last + interval, Clock::now() + std::min(interval, Clock::duration(kGather)));
        work_.wait_until(lock, due, pressed);
      }
    }
    urgent_ = false;
    write_chunk(lock);
    last = Clock::now();
    if (stopping_ && (failing_ || buffer_.size == 0)) return;
  }
}

// Writes what has gathered, the lock released meanwhile.
void Sink::write_chunk(std::unique_lock<std::mutex>& lock) {
  if (chunk_done_ == chunk_.size) {
    chunk_.size = chunk_done_ = 0;
    chunk_base_ = written_;
    std::swap(chunk_, buffer_);
    done_.notify_all();  // there is room again
  }
  const bool sync = std::exchange(sync_wanted_, false);
  writing_ = true;
  EventFile& file = *file_;
  const size_t from = chunk_done_;
  lock.unlock();
  size_t done = from;
  Error problem{Code::kIo, {}};
  if (chunk_.size > from) {
    done = file.append(chunk_.view(), from);
  } else if (auto opened = file.open(); !opened) {
    problem = opened.error();
  }
  if (done < chunk_.size && file.last_problem() != nullptr) problem = *file.last_problem();
  if (sync && problem.text.empty()) {
    if (auto synced = file.sync(); !synced) problem = synced.error();
  }
  const std::string path = file.path();
  lock.lock();
  writing_ = false;
  chunk_done_ = done;
  written_ = chunk_base_ + done;
  path_ = path;
  ++attempts_;
  failing_ = !problem.text.empty();
  problem_ = problem.text;
  done_.notify_all();
  if (failing_ && !reported_) {
    reported_ = true;
    lock.unlock();
    report(problem.text + "; training goes on, records are kept in memory");
    lock.lock();
  }
}

void Sink::report(const std::string& problem) {
  if (options_.on_problem) {
    options_.on_problem(problem);
  } else {
    fmt::print(stderr, "sonde: logging: {}\n", problem);
  }
}

namespace {

struct Lost {
  uint64_t records = 0;
  std::optional<int64_t> first_step;
};

// Counts the whole frames of `frames` that end behind byte `written`.
void count_lost(std::string_view frames, size_t written, Lost& lost) {
  for (size_t at = 0; at + kFrameHead <= frames.size();) {
    const uint64_t length = load<uint64_t>(as_bytes(frames), at);
    const size_t end = at + kFrameHead + length + kFrameTail;
    if (end > written) {
      if (lost.records++ == 0) {
        lost.first_step = 0;
        wire::Cursor event(as_bytes(frames.substr(at + kFrameHead, length)));
        for (wire::Field field; event.next(field);) {
          if (field.number == fields::Event::kStep && field.type == wire::Type::kVarint)
            lost.first_step = field.as_int();
        }
      }
    }
    at = end;
  }
}

}  // namespace

// Nobody will write these any more: the file is left with whole records, and the loss is said.
void Sink::give_up_unwritten(std::unique_lock<std::mutex>& lock) {
  Lost lost;
  count_lost(chunk_.view(), chunk_done_, lost);
  count_lost(buffer_.view(), 0, lost);
  if (chunk_done_ < chunk_.size) file_->cut_begun_frame(chunk_.view(), chunk_done_);
  chunk_.size = chunk_done_ = buffer_.size = 0;
  chunk_base_ = written_ = appended_;
  dropped_ += lost.records;
  if (dropped_ == told_lost_) return;
  told_lost_ = dropped_;
  const std::string first =
      lost.first_step ? fmt::format(", first at step {}", *lost.first_step) : "";
  const std::string text = fmt::format("{} record{} lost{}: {}", dropped_, dropped_ == 1 ? "" : "s",
                                       first, problem_.empty() ? "the buffer was full" : problem_);
  lock.unlock();
  report(text);
  lock.lock();
}

bool Sink::flush(Sync sync) {
  std::unique_lock lock(mutex_);
  if (!running_) {
    if (written_ == appended_ && sync == Sync::kNo) return problem_.empty();
    start();
  }
  const uint64_t target = appended_;
  // A round that is under way may have begun before our records: a failure counts from the next.
  const uint64_t enough = attempts_ + (writing_ ? 2 : 1);
  if (sync == Sync::kYes) sync_wanted_ = true;
  if (target == written_ && sync == Sync::kNo && !failing_ && !path_.empty()) return true;
  wake(true);
  done_.wait(lock, [&] {
    if (sync == Sync::kNo && written_ >= target) return true;
    if (attempts_ >= enough) {
      if (failing_ || written_ >= target) return true;
      wake(true);
    }
    return false;
  });
  return written_ >= target && !failing_;
}

void Sink::close() {
  std::unique_lock lock(mutex_);
  while (running_) {
    stop(lock);
    if (failing_ || buffer_.size == 0) break;
    start();  // a record slipped in while the thread was ending
  }
  if (appended_ > written_ || dropped_ > told_lost_) give_up_unwritten(lock);
  if (file_) {
    (void)file_->sync();
    file_->close();
  }
}

void Sink::stop(std::unique_lock<std::mutex>& lock) {
  stopping_ = true;
  wake(true);
  const pthread_t thread = thread_;
  lock.unlock();
  pthread_join(thread, nullptr);
  lock.lock();
  running_ = false;
  stopping_ = false;
  done_.notify_all();
}

SinkState Sink::state() const {
  std::lock_guard lock(mutex_);
  return {records_, appended_, written_, dropped_, problem_};
}

std::string Sink::path() const {
  std::lock_guard lock(mutex_);
  return path_;
}

// The child has our memory but not our thread. What waits in the buffers is the parent's to write;
// objects the thread may have been changing at that moment are left behind, not destroyed.
void Sink::after_fork_in_child() {
  new (&work_) std::condition_variable;
  new (&done_) std::condition_variable;
  buffer_.size = 0;
  (void)chunk_.data.release();
  chunk_ = {};
  chunk_done_ = 0;
  chunk_base_ = written_ = appended_;
  running_ = stopping_ = writing_ = urgent_ = sync_wanted_ = failing_ = false;
  (void)file_.release();
  options_.file.has_purge = false;  // the parent's file has said it
  file_ = std::make_unique<EventFile>(options_.file);
  new (&path_) std::string;
  mutex_.unlock();
}

}  // namespace sonde::writer
