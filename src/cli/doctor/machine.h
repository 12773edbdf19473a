// What `sonde doctor` looks at, with every place it reads as a member: a test makes the fault in a
// folder of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/watch.h"

namespace sonde::cli {

struct Machine {
  std::string logdir;           // empty: none was named
  uint16_t port = 6006;         // the one a server would take first
  bool port_is_default = true;  // then the next free one is taken
  std::string proc = "/proc";   // the kernel's own answers
  std::string sys = "/sys";
  std::string devices = "/dev";
  std::string temporary = "/tmp";  // spilled columns, the registry of servers
  bool is_root = false;            // may do what others may not
  bool (*is_remote)(const std::string& path) = io::is_remote_file_system;
  uint64_t open_files = 1024;         // RLIMIT_NOFILE
  uint64_t little_space = 256 << 20;  // less than this is too little for temporary files
};

Machine this_machine();

enum class State : uint8_t { kFine, kNote, kWrong };

struct Finding {
  std::string_view subject;
  State state = State::kFine;
  std::string says;  // one sentence
  std::string mend;  // what to do; empty when there is nothing to do
};

// One row a check, in the order they are shown.
struct Check {
  std::string_view subject;
  Finding (*look)(const Machine& machine);
};
const std::vector<Check>& checks();

Finding check_logs(const Machine& machine);
Finding check_notes(const Machine& machine);
Finding check_file_system(const Machine& machine);
Finding check_watches(const Machine& machine);
Finding check_memory(const Machine& machine);
Finding check_open_files(const Machine& machine);
Finding check_temporary(const Machine& machine);
Finding check_gpu(const Machine& machine);
Finding check_port(const Machine& machine);
Finding check_others(const Machine& machine);
Finding check_server(const Machine& machine);

// A file of the kernel: at most 64 kB of it, "" when there is none.
std::string read_small(const std::string& path);

}  // namespace sonde::cli
