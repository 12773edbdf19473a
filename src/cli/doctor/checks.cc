// The checks that need nothing but files: logs, limits, memory, drivers.
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <optional>

#include "base/strings.h"
#include "cli/doctor/machine.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostEntries = 200'000;  // of a log directory that are looked at
constexpr uint64_t kLittleMemory = 256ull << 20;
constexpr uint64_t kFewFiles = 1024;

struct Walk {
  size_t folders = 0, event_files = 0, unreadable = 0, entries = 0;
  uint64_t bytes = 0;
  std::string first_unreadable;
};

Walk walk(const std::string& logdir) {
  Walk found;
  std::error_code error;
  fs::recursive_directory_iterator at(logdir, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator() && found.entries < kMostEntries;
       at.increment(error)) {
    ++found.entries;
    std::error_code ignored;
    const std::string path = at->path().string();
    const bool folder = at->is_directory(ignored);
    const bool events =
        !folder && at->path().filename().string().find("tfevents") != std::string::npos;
    if (folder) ++found.folders;
    if (events) {
      ++found.event_files;
      if (const auto size = at->file_size(ignored); !ignored) found.bytes += size;
    }
    if ((folder || events) && ::access(path.c_str(), folder ? R_OK | X_OK : R_OK) != 0) {
      if (++found.unreadable == 1) found.first_unreadable = path;
    }
  }
  return found;
}

std::optional<uint64_t> number_in(std::string_view text) {
  text = trimmed(text);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// The number of kB after "Name:" in /proc/meminfo, in bytes.
std::optional<uint64_t> meminfo(std::string_view text, std::string_view name) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(name)) continue;
    const auto kilobytes = number_in(line.substr(name.size()));
    if (kilobytes) return *kilobytes * 1024;
  }
  return std::nullopt;
}

std::string_view plural(size_t count) { return count == 1 ? "" : "s"; }

}  // namespace

Finding check_logs(const Machine& machine) {
  Finding finding{.subject = "log directory", .says = "none was named", .mend = ""};
  if (machine.logdir.empty()) {
    finding.state = State::kNote;
    finding.mend = "sonde doctor LOGDIR looks at yours";
    return finding;
  }
  std::error_code error;
  const auto status = fs::status(machine.logdir, error);
  if (!fs::exists(status)) {
    finding.state = State::kWrong;
    finding.says = fmt::format("{} does not exist", machine.logdir);
    finding.mend = "check the path; a server waits for it, but shows nothing until then";
    return finding;
  }
  if (!fs::is_directory(status)) {
    finding.state = State::kWrong;
    finding.says = fmt::format("{} is a file", machine.logdir);
    finding.mend = "name the folder that holds it";
    return finding;
  }
  if (::access(machine.logdir.c_str(), R_OK | X_OK) != 0) {
    finding.state = State::kWrong;
    finding.says = fmt::format("{} cannot be read by this user", machine.logdir);
    finding.mend = fmt::format("chmod -R a+rX {}", machine.logdir);
    return finding;
  }
  const Walk found = walk(machine.logdir);
  finding.says = fmt::format("{} event file{}, {} in {} folder{}", human_count(found.event_files),
                             plural(found.event_files), human_bytes(found.bytes),
                             human_count(found.folders + 1), plural(found.folders + 1));
  if (found.unreadable > 0) {
    finding.state = State::kWrong;
    finding.says += fmt::format("; {} cannot be read, the first is {}", found.unreadable,
                                found.first_unreadable);
    finding.mend = fmt::format("chmod -R a+rX {}", machine.logdir);
  } else if (found.event_files == 0) {
    finding.state = State::kWrong;
    finding.says = fmt::format("no event file below {}", machine.logdir);
    finding.mend =
        "event files have 'tfevents' in their name; name the folder your writer "
        "writes to, or one above it";
  }
  return finding;
}

Finding check_notes(const Machine& machine) {
  Finding finding{.subject = "names and notes", .says = "can be kept beside the logs", .mend = ""};
  if (machine.logdir.empty() || ::access(machine.logdir.c_str(), F_OK) != 0) {
    finding.says = "kept in the log directory";
  } else if (::access(machine.logdir.c_str(), W_OK) != 0) {
    finding.state = State::kNote;
    finding.says =
        "the log directory cannot be written: names and notes given in the page are not kept";
    finding.mend = "--sidecar DIR keeps them elsewhere";
  }
  return finding;
}

Finding check_file_system(const Machine& machine) {
  Finding finding{.subject = "file system", .says = "local: changes are seen at once", .mend = ""};
  if (!machine.logdir.empty() && machine.is_remote(machine.logdir)) {
    finding.state = State::kNote;
    finding.says = "a network file system: writes of other machines are not announced";
    finding.mend = "--reload_interval SECONDS says how often to look (5)";
  }
  return finding;
}

Finding check_watches(const Machine& machine) {
  Finding finding{.subject = "change watching", .says = "", .mend = ""};
  const auto most = number_in(read_small(machine.proc + "/sys/fs/inotify/max_user_watches"));
  const auto instances = number_in(read_small(machine.proc + "/sys/fs/inotify/max_user_instances"));
  if (!most || !instances) {
    finding.state = State::kNote;
    finding.says = "this kernel has no inotify: folders are looked at every --reload_interval";
    return finding;
  }
  const size_t folders = machine.logdir.empty() ? 0 : walk(machine.logdir).folders + 1;
  finding.says =
      fmt::format("{} folders, {} may be watched", human_count(folders), human_count(*most));
  if (*instances < 2) {
    finding.state = State::kWrong;
    finding.says = "this user may open no further watcher (fs.inotify.max_user_instances)";
    finding.mend = "sudo sysctl fs.inotify.max_user_instances=512";
  } else if (folders > *most) {
    finding.state = State::kWrong;
    finding.says += ": changes in the others are seen late";
    finding.mend = fmt::format("sudo sysctl fs.inotify.max_user_watches={}", folders * 2);
  }
  return finding;
}

Finding check_memory(const Machine& machine) {
  Finding finding{.subject = "memory", .says = "", .mend = ""};
  const std::string text = read_small(machine.proc + "/meminfo");
  auto available = meminfo(text, "MemAvailable:");
  const auto total = meminfo(text, "MemTotal:");
  if (!available || !total) {
    finding.state = State::kNote;
    finding.says = "how much there is cannot be read";
    return finding;
  }
  std::string_view of = "free";
  const auto limit = number_in(read_small(machine.sys + "/fs/cgroup/memory.max"));
  const auto used = number_in(read_small(machine.sys + "/fs/cgroup/memory.current"));
  if (limit && used && *limit - std::min(*limit, *used) < *available) {
    available = *limit - std::min(*limit, *used);
    of = "left of this container's limit";
  }
  finding.says = fmt::format("{} {}", human_bytes(*available), of);
  if (*available < kLittleMemory) {
    finding.state = State::kWrong;
    finding.mend =
        "close something, or keep Sonde small with --max_memory 100M (further points go "
        "to a file)";
  }
  return finding;
}

Finding check_open_files(const Machine& machine) {
  Finding finding{
      .subject = "open files", .says = fmt::format("{} at a time", machine.open_files), .mend = ""};
  if (machine.open_files < kFewFiles) {
    finding.state = State::kNote;
    finding.says += ": many clients at once will be refused";
    finding.mend = "ulimit -n 4096 before the start";
  }
  return finding;
}

Finding check_temporary(const Machine& machine) {
  Finding finding{.subject = "temporary files", .says = machine.temporary, .mend = ""};
  std::error_code error;
  const auto space = fs::space(machine.temporary, error);
  if (error || ::access(machine.temporary.c_str(), W_OK | X_OK) != 0) {
    finding.state = State::kWrong;
    finding.says = fmt::format("{} cannot be written", machine.temporary);
    finding.mend = "TMPDIR=DIR names another folder";
  } else {
    finding.says = fmt::format("{}, {} free", machine.temporary, human_bytes(space.available));
    if (space.available < machine.little_space) {
      finding.state = State::kWrong;
      finding.mend = "make room, or name another folder with TMPDIR=DIR";
    }
  }
  return finding;
}

Finding check_gpu(const Machine& machine) {
  Finding finding{.subject = "GPU captures", .says = "no GPU driver here", .mend = ""};
  const std::string parameters = read_small(machine.proc + "/driver/nvidia/params");
  const std::string rocm = machine.devices + "/kfd";
  if (!parameters.empty()) {
    finding.says = "the NVIDIA driver lets every user profile";
    if (parameters.find("RmProfilingAdminOnly: 1") != std::string::npos) {
      finding.says = "the NVIDIA driver lets only root profile";
      if (!machine.is_root) {
        finding.state = State::kWrong;
        finding.mend =
            "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' in "
            "/etc/modprobe.d/profile.conf and a restart, or train as root";
      }
    }
  } else if (::access(rocm.c_str(), F_OK) == 0) {
    finding.says = "the ROCm driver can be used by this user";
    if (::access(rocm.c_str(), R_OK | W_OK) != 0) {
      finding.state = State::kWrong;
      finding.says = "the ROCm driver cannot be used by this user";
      finding.mend = "sudo usermod -aG render,video $USER, then log in again";
    }
  }
  return finding;
}

}  // namespace sonde::cli
