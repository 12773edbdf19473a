// The flags of one command: declared by name and variable, then parsed. The rules are those of
// TensorBoard's command line, which scripts rely on and flag libraries do not follow together:
// `--flag value` and `--flag=value`, any unambiguous beginning of a name, boolean flags that take
// the word true or false, `-` and `_` alike inside a name.
//
//   Flags flags("sonde export");
//   flags.text("out", options.out);
//   flags.positional("logdir", options.logdir);
//   if (auto parsed = flags.parse(args); !parsed) return failed(parsed.error().text, 2);
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sonde::cli {

class Flags {
 public:
  explicit Flags(std::string_view command) : command_(command) {}

  // The variables outlive parse() and keep their value when the flag is not given. Names are
  // without dashes; a name of one letter is written with one dash.
  void text(std::string_view name, std::string& value);
  void integer(std::string_view name, int64_t& value, int64_t min, int64_t max);
  void real(std::string_view name, double& value, double min);
  void bytes(std::string_view name, uint64_t& value);  // 512M, 8G, 1000000
  void boolean(std::string_view name, std::optional<bool>& value);
  void on(std::string_view name, bool& value);  // a switch without a value
  void choice(std::string_view name, std::string& value,
              std::initializer_list<std::string_view> words);
  void list(std::string_view name, std::vector<std::string>& values);  // may be repeated
  void parsed(std::string_view name, std::function<Result<void>(std::string_view)> read);
  // Accepted, does nothing; `why` is said once when it is given.
  enum class Takes : uint8_t { kNothing, kValue };
  void obsolete(std::string_view name, Takes takes, std::string_view why);

  // The next argument without dashes; optional unless the command checks for emptiness.
  void positional(std::string_view name, std::string& value);
  void rest(std::string_view name, std::vector<std::string>& values);

  // kInvalid with a sentence that names the flag. After it, given() and notes() are filled.
  Result<void> parse(std::span<const std::string> args);

  bool given(std::string_view name) const;
  const std::vector<std::string>& notes() const { return notes_; }  // about obsolete flags

 private:
  struct Flag {
    std::string name;
    bool takes_value;
    std::function<Result<void>(std::string_view)> read;
    bool given = false;
  };
  void add(std::string_view name, bool takes_value,
           std::function<Result<void>(std::string_view)> read);
  Result<Flag*> find(std::string_view typed);
  Result<void> take_positional(const std::string& argument);

  std::string command_;
  std::vector<Flag> flags_;
  std::vector<std::pair<std::string, std::string*>> positionals_;
  std::vector<std::string>* rest_ = nullptr;
  size_t taken_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace sonde::cli
