// One run as another tracker keeps it (a wandb file, rows of a database, a CSV), read again and
// again while it grows. A reader knows its format and nothing of event files; what it finds goes to
// a RunSink.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/units.h"
#include "io/file.h"

namespace sonde::trackers {

// Hyperparameters by name; nested ones are joined by '/'.
using ConfigValue = std::variant<bool, double, std::string>;
using Config = std::map<std::string, ConfigValue, std::less<>>;
inline constexpr size_t kMaxConfig = 10'000;

class RunSink {
 public:
  virtual ~RunSink() = default;
  virtual void number(std::string_view tag, Step step, double wall_time, double value) = 0;
  virtual void text(std::string_view tag, Step step, double wall_time, std::string_view text) = 0;
  // When the run began, for what has no time of its own; Unix seconds.
  virtual void started(double wall_time) = 0;
  enum class End : uint8_t { kFinished, kFailed };
  virtual void ended(End how, double wall_time) = 0;
  // The file was replaced or written anew: everything handed on before is void.
  virtual void restart() = 0;
  // Enough for now; the reader should come back with the rest.
  virtual bool full() const = 0;
};

class RunReader {
 public:
  virtual ~RunReader() = default;
  // Hands on what came since the last call, until the sink is full. True when there is more.
  virtual Result<bool> read(RunSink& sink) = 0;
  // The next read() begins at the beginning. What config() knows stays.
  virtual void rewind() = 0;
  // The hyperparameters as of everything read so far.
  const Config& config() const { return config_; }
  // Of what is on disk; differs when there may be something new.
  virtual Result<io::FileStat> stat() const = 0;

 protected:
  Config config_;
};

}  // namespace sonde::trackers
