#include "cli/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace sonde::cli {
namespace {

tl::unexpected<Error> wrong(std::string text) { return fail(Code::kInvalid, std::move(text)); }

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

}  // namespace

void Flags::add(std::string_view name, bool takes_value,
                std::function<Result<void>(std::string_view)> read) {
  flags_.push_back({std::string(name), takes_value, std::move(read)});
}

void Flags::text(std::string_view name, std::string& value) {
  add(name, true, [&value](std::string_view text) -> Result<void> {
    value = text;
    return {};
  });
}

void Flags::integer(std::string_view name, int64_t& value, int64_t min, int64_t max) {
  add(name, true, [&value, min, max](std::string_view text) -> Result<void> {
    const auto read = number<int64_t>(text);
    if (!read) return wrong(fmt::format("invalid int value: '{}'", text));
    if (*read < min || *read > max) {
      return wrong(fmt::format("must be between {} and {}: {}", min, max, *read));
    }
    value = *read;
    return {};
  });
}

void Flags::real(std::string_view name, double& value, double min) {
  add(name, true, [&value, min](std::string_view text) -> Result<void> {
    const auto read = number<double>(text);
    if (!read || !std::isfinite(*read)) {
      return wrong(fmt::format("invalid float value: '{}'", text));
    }
    if (*read < min) {
      return wrong(min == 0 ? fmt::format("must be non-negative: {}", *read)
                            : fmt::format("must be at least {}: {}", min, *read));
    }
    value = *read;
    return {};
  });
}

void Flags::bytes(std::string_view name, uint64_t& value) {
  add(name, true, [&value](std::string_view text) -> Result<void> {
    std::string_view digits = text;
    if (digits.ends_with('B') || digits.ends_with('b')) digits.remove_suffix(1);
    uint64_t unit = 1;
    if (!digits.empty()) {
      constexpr std::string_view kUnits = "kMGT";
      const char last = digits.back() == 'K' ? 'k' : digits.back();
      if (const size_t at = kUnits.find(last); at != std::string_view::npos) {
        for (size_t i = 0; i <= at; ++i) unit *= 1000;
        digits.remove_suffix(1);
      }
    }
    const auto read = number<double>(digits);
    if (!read || !(*read >= 0) || *read * static_cast<double>(unit) > 1e18) {
      return wrong(fmt::format("not a size: '{}' (write 500M or 8G)", text));
    }
    value = static_cast<uint64_t>(*read * static_cast<double>(unit));
    return {};
  });
}

void Flags::boolean(std::string_view name, std::optional<bool>& value) {
  add(name, true, [&value](std::string_view text) -> Result<void> {
    const std::string word = lower(text);
    if (word != "true" && word != "false") {
      return wrong(fmt::format("invalid choice: '{}' (choose from True, False)", text));
    }
    value = word == "true";
    return {};
  });
}

void Flags::on(std::string_view name, bool& value) {
  add(name, false, [&value](std::string_view) -> Result<void> {
    value = true;
    return {};
  });
}

void Flags::choice(std::string_view name, std::string& value,
                   std::initializer_list<std::string_view> words) {
  const std::vector<std::string> known(words.begin(), words.end());
  add(name, true, [&value, known](std::string_view text) -> Result<void> {
    if (std::ranges::find(known, text) == known.end()) {
      return wrong(
          fmt::format("invalid choice: '{}' (choose from '{}')", text, fmt::join(known, "', '")));
    }
    value = text;
    return {};
  });
}

void Flags::list(std::string_view name, std::vector<std::string>& values) {
  add(name, true, [&values](std::string_view text) -> Result<void> {
    values.emplace_back(text);
    return {};
  });
}

void Flags::parsed(std::string_view name, std::function<Result<void>(std::string_view)> read) {
  add(name, true, std::move(read));
}

void Flags::obsolete(std::string_view name, Takes takes, std::string_view why) {
  add(name, takes == Takes::kValue,
      [this,
       note = fmt::format("--{} is accepted but {}", name, why)](std::string_view) -> Result<void> {
        if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(note);
        return {};
      });
}

void Flags::positional(std::string_view name, std::string& value) {
  positionals_.emplace_back(name, &value);
}

void Flags::rest(std::string_view, std::vector<std::string>& values) { rest_ = &values; }

Result<Flags::Flag*> Flags::find(std::string_view typed) {
  std::string name(typed);
  std::ranges::replace(name, '-', '_');
  std::vector<Flag*> candidates;
  for (Flag& flag : flags_) {
    if (flag.name == name) return &flag;
    if (flag.name.size() > 1 && flag.name.starts_with(name)) candidates.push_back(&flag);
  }
  if (candidates.size() == 1) return candidates[0];
  if (candidates.empty()) {
    return wrong(fmt::format("unknown flag --{}; see {} --help", typed, command_));
  }
  std::string names;
  for (const Flag* flag : candidates) names += (names.empty() ? "--" : ", --") + flag->name;
  return wrong(fmt::format("--{} could mean {}", typed, names));
}

Result<void> Flags::take_positional(const std::string& argument) {
  if (taken_ < positionals_.size()) {
    *positionals_[taken_++].second = argument;
    return {};
  }
  if (rest_) {
    rest_->push_back(argument);
    return {};
  }
  return wrong(fmt::format("unexpected argument '{}'; see {} --help", argument, command_));
}

Result<void> Flags::parse(std::span<const std::string> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& argument = args[i];
    if (argument == "--") {
      for (++i; i < args.size(); ++i) {
        if (auto taken = take_positional(args[i]); !taken) return taken;
      }
      return {};
    }
    if (argument.size() < 2 || argument[0] != '-') {
      if (auto taken = take_positional(argument); !taken) return taken;
      continue;
    }
    const bool is_long = argument[1] == '-';
    std::string_view name = std::string_view(argument).substr(is_long ? 2 : 1);
    std::optional<std::string_view> value;
    if (const size_t equals = name.find('='); equals != std::string_view::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    }
    SONDE_TRY(flag, find(name));
    if (!is_long && flag->name.size() > 1) {
      return wrong(fmt::format("unknown flag {}; write --{}", argument, flag->name));
    }
    if (flag->takes_value && !value) {
      if (i + 1 == args.size()) {
        return wrong(fmt::format("argument --{}: expected one argument", flag->name));
      }
      value = args[++i];
    } else if (!flag->takes_value && value) {
      return wrong(fmt::format("argument --{}: takes no value, got '{}'", flag->name, *value));
    }
    if (auto read = flag->read(value.value_or("")); !read) {
      return fail(std::move(read).error().in("argument --" + flag->name));
    }
    flag->given = true;
  }
  return {};
}

bool Flags::given(std::string_view name) const {
  const auto flag = std::ranges::find(flags_, name, &Flag::name);
  return flag != flags_.end() && flag->given;
}

}  // namespace sonde::cli
