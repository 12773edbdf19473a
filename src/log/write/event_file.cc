#include "log/write/event_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "codec/fields/event.h"
#include "codec/wire.h"
#include "log/write/frame.h"
#include "log/write/wall_clock.h"

namespace sonde::writer {
namespace {

// Shared by all writers of the process, as TensorFlow and torch do, so that two files of one second
// differ in name.
std::atomic<uint64_t> g_files{0};

std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == 0) return "localhost";
  for (char& c : name)
    if (c == '/') c = '_';
  return name;
}

Error system_error(std::string_view what, int error) {
  return {Code::kIo, fmt::format("{}: {}", what, std::strerror(error))};
}

void add_frame(std::string& out, std::string_view payload) {
  const size_t at = out.size();
  out.resize(at + kFrameHead + payload.size() + kFrameTail);
  std::memcpy(out.data() + at + kFrameHead, payload.data(), payload.size());
  frame(out.data() + at, payload.size());
}

std::string header(const EventFileOptions& options, bool purge) {
  constexpr std::string_view kVersion = "brain.Event:2";
  const double now = options.whole_second_header ? std::floor(wall_time_now()) : wall_time_now();
  std::string out, payload;
  wire::Encoder event(payload);
  event.real(fields::Event::kWallTime, now);
  event.bytes(fields::Event::kFileVersion, kVersion);
  if (!options.source.empty())
    event.message(fields::Event::kSourceMetadata, [&](wire::Encoder& source) {
      source.bytes(fields::SourceMetadata::kWriter, options.source);
    });
  add_frame(out, payload);
  if (!purge) return out;
  const auto step = static_cast<uint64_t>(options.purge_step);
  payload.clear();
  event.real(fields::Event::kWallTime, wall_time_now());
  if (step != 0) event.varint(fields::Event::kStep, step);
  event.bytes(fields::Event::kFileVersion, kVersion);
  add_frame(out, payload);
  payload.clear();
  event.real(fields::Event::kWallTime, wall_time_now());
  if (step != 0) event.varint(fields::Event::kStep, step);
  event.message(fields::Event::kSessionLog,
                [](wire::Encoder& log) { log.varint(fields::SessionLog::kStatus, 1); });
  add_frame(out, payload);
  return out;
}

// Writes all of it or says where it stopped; EINTR and short writes are not failures.
size_t write_fully(int fd, std::string_view bytes, int& error) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n > 0) {
      done += static_cast<size_t>(n);
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else {
      error = n < 0 ? errno : ENOSPC;
      return done;
    }
  }
  error = 0;
  return done;
}

}  // namespace

Result<void> EventFile::open() {
  if (fd_ >= 0) return {};
  if (!options_.refused.empty()) {
    note({Code::kUnsupported, options_.refused});
    return fail(problem_);
  }
  std::error_code made;
  std::filesystem::create_directories(options_.folder, made);
  if (made && !std::filesystem::is_directory(options_.folder, made)) {
    note({Code::kIo, fmt::format("cannot make the log directory {}", options_.folder)});
    return fail(problem_);
  }
  static const std::string host = host_name();
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::string path = fmt::format("{}/events.out.tfevents.{:010}.{}.{}.{}{}",
                                         options_.folder, static_cast<int64_t>(wall_time_now()),
                                         host, getpid(), g_files++, options_.suffix);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) continue;  // another container with our host name and pid
    if (fd < 0) {
      note(system_error("cannot make " + path, errno));
      return fail(problem_);
    }
    int error = 0;
    const std::string head = header(options_, options_.has_purge && !purged_);
    if (write_fully(fd, head, error) < head.size()) {
      ::close(fd);
      ::unlink(path.c_str());
      note(system_error("cannot write to " + path, error));
      return fail(problem_);
    }
    fd_ = fd;
    path_ = path;
    purged_ = true;
    failed_ = false;
    if (options_.on_open) options_.on_open();
    return {};
  }
  note({Code::kIo, "no free event file name in " + options_.folder});
  return fail(problem_);
}

bool EventFile::vanished() const {
  struct stat now;
  return fstat(fd_, &now) == 0 && now.st_nlink == 0;
}

// The file has to be left at byte `at` of `frames`: cuts the begun frame off its end and returns
// where that frame starts, for the next file.
size_t EventFile::restart_at_frame(std::string_view frames, size_t at) {
  size_t start = 0;
  while (start < frames.size()) {
    const uint64_t length = load<uint64_t>(sonde::as_bytes(frames), start);
    const size_t end = start + kFrameHead + length + kFrameTail;
    if (end > at) break;
    start = end;
  }
  struct stat now;
  if (at > start && fstat(fd_, &now) == 0) {
    const auto begun = static_cast<off_t>(at - start);
    if (now.st_size >= begun && ftruncate(fd_, now.st_size - begun) != 0) errno = 0;
  }
  return start;
}

size_t EventFile::append(std::string_view frames, size_t from) {
  if (fd_ >= 0 && vanished()) {
    from = restart_at_frame(frames, from);
    close();
  }
  for (int fruitless = 0; fruitless < 2;) {
    if (!open()) return from;
    const size_t before = from;
    int error = 0;
    from += write_fully(fd_, frames.substr(from), error);
    if (error == 0) {
      failed_ = false;
      return from;
    }
    note(system_error("cannot write to " + path_, error));
    if (error == ENOSPC || error == EDQUOT || error == EAGAIN) return from;  // may pass: stay here
    // The file is at its size limit or its device is gone: go on in a new one, as long as it helps.
    from = restart_at_frame(frames, from);
    close();
    fruitless = from > before ? 0 : fruitless + 1;
  }
  return from;
}

Result<void> EventFile::sync() {
  if (fd_ < 0 || fdatasync(fd_) == 0 || errno == EINVAL) return {};
  return fail(system_error("cannot sync " + path_, errno));
}

void EventFile::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace sonde::writer
