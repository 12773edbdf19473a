#include "log/trackers/values.h"

#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace sonde::trackers {
namespace {

constexpr size_t kMaxDepth = 12;

// The text with bare NaN, Infinity and -Infinity in quotes.
std::string with_quoted_specials(std::string_view text) {
  std::string made;
  made.reserve(text.size() + 64);
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      made += c;
      if (c == '\\' && i + 1 < text.size()) made += text[++i];
      in_string = c != '"';
      continue;
    }
    std::string_view special;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
      if (text.substr(i, word.size()) == word) special = word;
    if (!special.empty()) {
      made.append("\"").append(special).append("\"");
      i += special.size() - 1;
      continue;
    }
    in_string = c == '"';
    made += c;
  }
  return made;
}

template <class Leaf>
void walk(std::string_view name, const JsonValue& value, const Leaf& leaf, size_t depth) {
  if (!value.is_object()) return leaf(name, value);
  if (depth >= kMaxDepth || value.find("_type")) return;
  for (const JsonMember& member : value.members) {
    std::string inner(name);
    if (!inner.empty()) inner += '/';
    walk(inner.append(member.first), member.second, leaf, depth + 1);
  }
}

bool take_int(std::string_view& text, size_t digits, int& value) {
  if (text.size() < digits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (error != std::errc() || end != text.data() + digits) return false;
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == any_of.npos) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

Result<JsonValue> read_python_json(std::string_view text) {
  auto value = read_json(text);
  if (value || (text.find("NaN") == text.npos && text.find("Infinity") == text.npos)) return value;
  return read_json(with_quoted_specials(text));
}

std::optional<double> number_of(const JsonValue& value) {
  if (value.is_bool()) return value.boolean ? 1 : 0;
  if (value.is_number()) return value.number();
  if (value.is_string() &&
      (value.text == "NaN" || value.text == "Infinity" || value.text == "-Infinity"))
    return value.number();
  return std::nullopt;
}

std::optional<double> number_in(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    const bool is_tiny = text.find("e-") != text.npos || text.find("E-") != text.npos;
    const double size = is_tiny ? 0 : std::numeric_limits<double>::infinity();
    return text.starts_with('-') ? -size : size;
  }
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

Step step_of(double value) {
  constexpr double kLimit = 9.2e18;
  if (std::isnan(value)) return 0;
  if (value >= kLimit) return std::numeric_limits<Step>::max();
  if (value <= -kLimit) return std::numeric_limits<Step>::min();
  return static_cast<Step>(std::llround(value));
}

void hand_on(RunSink& sink, std::string_view tag, const JsonValue& value, Step step, double wall) {
  walk(
      tag, value,
      [&](std::string_view name, const JsonValue& leaf) {
        if (const auto number = number_of(leaf)) {
          sink.number(name, step, wall, *number);
        } else if (leaf.is_string()) {
          sink.text(name, step, wall, leaf.text);
        }
      },
      0);
}

void add_config(Config& config, std::string_view name, ConfigValue value) {
  if (name.empty() || (config.size() >= kMaxConfig && !config.contains(name))) return;
  config.insert_or_assign(to_utf8(name), std::move(value));
}

void add_config(Config& config, std::string_view name, const JsonValue& value) {
  walk(
      name, value,
      [&](std::string_view inner, const JsonValue& leaf) {
        if (leaf.is_bool()) {
          add_config(config, inner, ConfigValue(leaf.boolean));
        } else if (const auto number = number_of(leaf)) {
          add_config(config, inner, ConfigValue(*number));
        } else if (!leaf.is_null()) {
          add_config(config, inner, ConfigValue(leaf.is_string() ? leaf.text : to_text(leaf)));
        }
      },
      0);
}

ConfigValue config_value(std::string_view text) {
  if (const auto number = number_in(text)) return *number;
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  return to_utf8(text);
}

double seconds_of(std::string_view text) {
  std::tm tm{};
  int year = 0, month = 0;
  if (!take_int(text, 4, year) || !take(text, "-") || !take_int(text, 2, month) ||
      !take(text, "-") || !take_int(text, 2, tm.tm_mday) || !take(text, "T ") ||
      !take_int(text, 2, tm.tm_hour) || !take(text, ":") || !take_int(text, 2, tm.tm_min))
    return 0;
  if (take(text, ":") && !take_int(text, 2, tm.tm_sec)) return 0;
  tm.tm_year = year - 1900;
  tm.tm_mon = month - 1;
  double fraction = 0, unit = 0.1;
  if (take(text, ".,")) {
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1)) {
      fraction += unit * (text.front() - '0');
      unit /= 10;
    }
  }
  if (text.empty()) {
    tm.tm_isdst = -1;
    return static_cast<double>(std::mktime(&tm)) + fraction;
  }
  const bool is_west = text.front() == '-';
  int hours = 0, minutes = 0;
  if (take(text, "+-") && take_int(text, 2, hours)) {
    take(text, ":");
    take_int(text, 2, minutes);
  }
  const int offset = (hours * 60 + minutes) * 60 * (is_west ? -1 : 1);
  return static_cast<double>(::timegm(&tm) - offset) + fraction;
}

std::string run_name_part(std::string_view name) {
  std::string made;
  for (const std::string_view part : split(name, '/')) {
    std::string clean;
    for (const char c : trimmed(part))
      clean += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '_' : c;
    if (clean.empty() || clean == "." || clean == "..") continue;
    if (!made.empty()) made += '/';
    made += clean;
  }
  made = to_utf8(made.substr(0, 500));
  return made.empty() ? "run" : made;
}

}  // namespace sonde::trackers
