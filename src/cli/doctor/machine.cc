#include "cli/doctor/machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace sonde::cli {
namespace {

constexpr size_t kMostBytes = 64 * 1024;

}  // namespace

std::string read_small(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(file.gcount() > 0 ? static_cast<size_t>(file.gcount()) : 0);
  return text;
}

Machine this_machine() {
  Machine machine;
  machine.is_root = ::geteuid() == 0;
  for (const char* name : {"TMPDIR", "TEMP", "TMP"}) {
    if (const char* value = std::getenv(name); value && *value) {
      machine.temporary = value;
      break;
    }
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) machine.open_files = limit.rlim_cur;
  return machine;
}

const std::vector<Check>& checks() {
  static const std::vector<Check> kChecks = {
      {"log directory", check_logs},
      {"names and notes", check_notes},
      {"file system", check_file_system},
      {"change watching", check_watches},
      {"memory", check_memory},
      {"open files", check_open_files},
      {"temporary files", check_temporary},
      {"port", check_port},
      {"other servers", check_others},
      {"running server", check_server},
      {"GPU captures", check_gpu},
  };
  return kChecks;
}

}  // namespace sonde::cli
