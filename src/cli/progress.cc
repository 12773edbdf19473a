#include "cli/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "base/strings.h"
#include "base/thread_pool.h"

namespace sonde::cli {
namespace {

constexpr std::chrono::milliseconds kPeriod{100};
constexpr std::string_view kErase = "\r\033[K";

size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void put(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // the terminal has gone
}

}  // namespace

std::string progress_text(const store::LoadProgress& p, std::chrono::duration<double> spent) {
  std::string text = fmt::format(
      "loading {} of {} files, {} of {}, {} points", human_count(p.files_done),
      human_count(p.files), human_bytes(p.bytes_done), human_bytes(p.bytes), human_count(p.points));
  if (spent.count() < 0.5 || p.bytes_done == 0) return text;
  const double rate = static_cast<double>(p.bytes_done) / spent.count();
  text += fmt::format(", {}/s", human_bytes(static_cast<uint64_t>(rate)));
  if (p.bytes > p.bytes_done) {
    text += fmt::format(", {:.0f} s left", static_cast<double>(p.bytes - p.bytes_done) / rate);
  }
  return text;
}

ProgressLine::ProgressLine(const store::Store& store,
                           std::function<void(const store::Snapshot&)> done)
    : thread_([&store, done = std::move(done)](const std::stop_token& stop) {
        name_this_thread("progress");
        const bool is_terminal = isatty(STDERR_FILENO) == 1;
        const auto start = std::chrono::steady_clock::now();
        std::mutex mutex;
        std::condition_variable_any wake;
        bool drawn = false;
        while (!stop.stop_requested()) {
          const auto snapshot = store.snapshot();
          if (!snapshot->progress.loading) {
            if (drawn) put(kErase);
            done(*snapshot);
            return;
          }
          // What is loaded within a blink needs no line.
          const auto spent = std::chrono::steady_clock::now() - start;
          if (is_terminal && spent > std::chrono::milliseconds(300)) {
            const std::string text = progress_text(snapshot->progress, spent);
            put(std::string(kErase) + text.substr(0, terminal_width() - 1));
            drawn = true;
          }
          std::unique_lock lock(mutex);
          wake.wait_for(lock, stop, kPeriod, [] { return false; });
        }
        if (drawn) put(kErase);
      }) {}

}  // namespace sonde::cli
