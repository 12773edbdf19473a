// What commands over a log directory share: opening it, reading to its end, with progress on
// stderr.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/flags.h"
#include "log/store/store.h"

namespace sonde::cli {

struct LogdirFlags {
  std::string positional, logdir, logdir_spec;
  uint64_t max_memory = 0;
  bool keeps_index = false;
  std::string index_dir;
  int64_t threads = 0;
  std::optional<bool> purge_orphaned_data;
  bool follow = false;  // goes on reading what is written later

  void declare(Flags& flags);
};

inline constexpr std::string_view kLogdirHelp =
    "  --logdir_spec NAME:DIR,...    several log directories with names\n"
    "  --purge_orphaned_data false   show what a restart has superseded, too\n"
    "  --max_memory SIZE             columns above it go to a file on disk (512M, 8G)\n"
    "  --index, --index_dir DIR      keep what large files hold for the next start: beside\n"
    "                                the logs (.sonde/index) or in a folder of your own\n"
    "  --threads N                   one a core unless given\n";

bool asks_for_help(const std::vector<std::string>& args);

// Where what was read is kept for the next start: beside the logs, or in a folder when one is
// given.
void set_index(bool beside_logs, const std::string& folder);

// Loads everything and returns the store. It is never destroyed: giving back the memory of ten
// million points takes as long as reading them, and the process ends anyway.
Result<store::Store*> open_logdir(const LogdirFlags& flags);

}  // namespace sonde::cli
