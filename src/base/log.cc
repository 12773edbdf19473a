#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

namespace sonde::log {
namespace {
std::atomic<Level> current{Level::kInfo};
constexpr std::string_view kNames[] = {"error", "warning", "info", "debug"};
}  // namespace

void set_level(Level level) { current = level; }
bool enabled(Level level) { return level <= current; }

void write(Level level, std::string_view text) {
  std::string line = fmt::format("sonde: {}: {}\n", kNames[static_cast<size_t>(level)], text);
  if (level == Level::kInfo) line = fmt::format("sonde: {}\n", text);
  // One write call a line: lines of several threads never mix.
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;  // nowhere left to say it
}

}  // namespace sonde::log
