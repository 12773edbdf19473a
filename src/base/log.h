// One line per event on stderr. *warn* means a person should act; nothing is logged per record or
// per request at info; an error that is returned is not also logged. Thread-safe.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace sonde::log {

enum class Level : uint8_t { kError, kWarn, kInfo, kDebug };

void set_level(Level level);
bool enabled(Level level);
void write(Level level, std::string_view text);

template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kError, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::kWarn)) write(Level::kWarn, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::kInfo)) write(Level::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(Level::kDebug))
    write(Level::kDebug, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace sonde::log
