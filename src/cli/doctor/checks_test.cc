// One fault a check, made in a folder or with a socket of the test's own, and the sentence seen.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "cli/doctor/machine.h"
#include "sonde/version.h"

using namespace sonde;
using namespace sonde::cli;

namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "sonde_doctor_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string put(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(path_ + "/" + name).parent_path());
    std::ofstream(path_ + "/" + name) << text;
    return path_ + "/" + name;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A machine with nothing wrong, whose kernel is the folder.
Machine healthy(const Folder& folder) {
  folder.put("logs/run/events.out.tfevents.1.host", "x");
  folder.put("proc/sys/fs/inotify/max_user_watches", "65536\n");
  folder.put("proc/sys/fs/inotify/max_user_instances", "128\n");
  folder.put("proc/meminfo", "MemTotal:  8000000 kB\nMemAvailable:  4000000 kB\n");
  folder.put("tmp/x", "");
  Machine machine;
  machine.logdir = folder.path() + "/logs";
  machine.proc = folder.path() + "/proc";
  machine.sys = folder.path() + "/sys";
  machine.devices = folder.path() + "/dev";
  machine.temporary = folder.path() + "/tmp";
  machine.port = 0;
  machine.open_files = 65536;
  return machine;
}

void register_server(const Folder& folder, int64_t pid, const std::string& name, uint16_t port,
                     const std::string& version) {
  folder.put(
      fmt::format("tmp/.tensorboard-info/pid-{}.info", pid),
      fmt::format(R"({{"pid":{},"port":{},"logdir":"{}/logs","path_prefix":"","version":"{}"}})",
                  pid, port, folder.path(), version));
  if (!name.empty()) folder.put(fmt::format("proc/{}/comm", pid), name + "\n");
}

// A socket on a free port of this machine; it takes connections and never answers.
struct Listener {
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  uint16_t port = 0;
  Listener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(fd, 4);
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
  }
  ~Listener() { ::close(fd); }
};

// Takes connections and gives the answers of a table, by the path asked for, until it is destroyed.
class Answering {
 public:
  explicit Answering(std::map<std::string, std::string> answers)
      : answers_(std::move(answers)), thread_([this] { serve(); }) {}
  ~Answering() {
    ::shutdown(listener_.fd, SHUT_RDWR);
    thread_.join();
  }
  uint16_t port() const { return listener_.port; }

 private:
  void serve() const {
    for (int fd = 0; (fd = ::accept(listener_.fd, nullptr, nullptr)) >= 0; ::close(fd)) {
      std::string request(4096, '\0');
      const ssize_t got = ::recv(fd, request.data(), request.size(), 0);
      request.resize(got > 0 ? static_cast<size_t>(got) : 0);
      const auto found = answers_.find(request.substr(4, request.find(' ', 4) - 4));
      const std::string answer =
          found == answers_.end() ? "HTTP/1.1 404 Not Found\r\n\r\n" : found->second;
      ::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }

  Listener listener_;
  std::map<std::string, std::string> answers_;
  std::thread thread_;  // last: it uses the others
};

// What a user without rights is told. Root may do everything, so it is somebody else in a child
// process.
template <class Look>
std::string as_other_user(const Folder& folder, Look look) {
  if (::geteuid() != 0) return look();
  fs::permissions(folder.path(), fs::perms::all);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(1);
    const std::string text = look();
    ::_exit(::write(ends[1], text.data(), text.size()) > 0 ? 0 : 1);
  }
  ::close(ends[1]);
  std::string seen(4096, '\0');
  const ssize_t got = ::read(ends[0], seen.data(), seen.size());
  seen.resize(got > 0 ? static_cast<size_t>(got) : 0);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return seen;
}

}  // namespace

TEST_CASE("Doctor: a healthy machine has nothing to mend") {
  const Folder folder;
  const Machine machine = healthy(folder);
  for (const Check& check : checks()) {
    const Finding finding = check.look(machine);
    CAPTURE(finding.says);
    CHECK(finding.subject == check.subject);
    CHECK(finding.state == State::kFine);
    CHECK(finding.mend.empty());
    CHECK(!finding.says.empty());
  }
}

TEST_CASE("Doctor: logs that are not there, a file, empty, not named") {
  const Folder folder;
  Machine machine = healthy(folder);
  machine.logdir = folder.path() + "/nowhere";
  CHECK(check_logs(machine).says == machine.logdir + " does not exist");
  machine.logdir = folder.put("a_file", "x");
  CHECK(check_logs(machine).says == machine.logdir + " is a file");
  machine.logdir = folder.path() + "/tmp";
  CHECK(check_logs(machine).says == "no event file below " + machine.logdir);
  CHECK(check_logs(machine).state == State::kWrong);
  machine.logdir.clear();
  CHECK(check_logs(machine).state == State::kNote);
}

TEST_CASE("Doctor: logs that this user cannot read or write") {
  const Folder folder;
  const Machine machine = healthy(folder);
  fs::permissions(folder.path() + "/logs/run/events.out.tfevents.1.host", fs::perms::none);
  fs::permissions(folder.path() + "/logs", fs::perms(0555));
  const std::string seen = as_other_user(
      folder, [&] { return check_logs(machine).says + "\n" + check_notes(machine).mend; });
  CAPTURE(seen);
  CHECK(seen.find("1 cannot be read, the first is ") != std::string::npos);
  CHECK(seen.ends_with("--sidecar DIR keeps them elsewhere"));
  fs::permissions(folder.path() + "/logs", fs::perms::none);
  const auto whole = [&] { return check_logs(machine).says; };
  CHECK(as_other_user(folder, whole) == machine.logdir + " cannot be read by this user");
  fs::permissions(folder.path() + "/logs", fs::perms(0755));
}

TEST_CASE("Doctor: more folders than may be watched, no watcher left, no inotify") {
  const Folder folder;
  Machine machine = healthy(folder);
  folder.put("proc/sys/fs/inotify/max_user_watches", "1\n");
  CHECK(check_watches(machine).says ==
        "2 folders, 1 may be watched: changes in the others are seen late");
  CHECK(check_watches(machine).mend == "sudo sysctl fs.inotify.max_user_watches=4");
  folder.put("proc/sys/fs/inotify/max_user_instances", "0\n");
  CHECK(check_watches(machine).mend == "sudo sysctl fs.inotify.max_user_instances=512");
  machine.proc = folder.path() + "/none";
  CHECK(check_watches(machine).state == State::kNote);
}

TEST_CASE("Doctor: a network file system is told from a local one") {
  const Folder folder;
  Machine machine = healthy(folder);
  CHECK(check_file_system(machine).state == State::kFine);
  machine.is_remote = [](const std::string&) { return true; };
  CHECK(check_file_system(machine).state == State::kNote);
  CHECK(check_file_system(machine).mend == "--reload_interval SECONDS says how often to look (5)");
}

TEST_CASE("Doctor: little memory, in the machine and in a container") {
  const Folder folder;
  Machine machine = healthy(folder);
  folder.put("sys/fs/cgroup/memory.max", "1000000000\n");
  folder.put("sys/fs/cgroup/memory.current", "900000000\n");
  CHECK(check_memory(machine).says == "100 MB left of this container's limit");
  CHECK(check_memory(machine).state == State::kWrong);
  folder.put("sys/fs/cgroup/memory.max", "max\n");
  CHECK(check_memory(machine).state == State::kFine);
  folder.put("proc/meminfo", "MemTotal:  8000000 kB\nMemAvailable:  100000 kB\n");
  CHECK(check_memory(machine).state == State::kWrong);
  folder.put("proc/meminfo", "garbage");
  CHECK(check_memory(machine).state == State::kNote);
}

TEST_CASE("Doctor: few open files, no place for temporary ones") {
  const Folder folder;
  Machine machine = healthy(folder);
  machine.open_files = 256;
  CHECK(check_open_files(machine).mend == "ulimit -n 4096 before the start");
  machine.little_space = UINT64_MAX;  // no disk is larger
  CHECK(check_temporary(machine).mend == "make room, or name another folder with TMPDIR=DIR");
  machine.temporary = folder.path() + "/none";
  CHECK(check_temporary(machine).says == machine.temporary + " cannot be written");
}

TEST_CASE("Doctor: drivers that let only root profile") {
  const Folder folder;
  Machine machine = healthy(folder);
  folder.put("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  CHECK(check_gpu(machine).says == "the NVIDIA driver lets only root profile");
  CHECK(check_gpu(machine).state == State::kWrong);
  machine.is_root = true;
  CHECK(check_gpu(machine).state == State::kFine);
  folder.put("proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  CHECK(check_gpu(machine).says == "the NVIDIA driver lets every user profile");
}

TEST_CASE("Doctor: a ROCm device that this user may not open") {
  const Folder folder;
  const Machine machine = healthy(folder);
  const std::string device = folder.put("dev/kfd", "");
  CHECK(check_gpu(machine).says == "the ROCm driver can be used by this user");
  fs::permissions(device, fs::perms::none);
  const auto look = [&] { return check_gpu(machine).says + "; " + check_gpu(machine).mend; };
  CHECK(as_other_user(folder, look) ==
        "the ROCm driver cannot be used by this user; sudo usermod -aG render,video $USER, then "
        "log in again");
}

TEST_CASE("Doctor: a port that is reserved for root") {
  const Folder folder;
  Machine machine = healthy(folder);
  machine.port = 1;
  // Containers may let everybody use every port; then there is nothing to say.
  const std::string first = read_small("/proc/sys/net/ipv4/ip_unprivileged_port_start");
  const bool reserved = first.empty() || std::stoi(first) > 1;
  const auto look = [&] { return check_port(machine).says; };
  CHECK(as_other_user(folder, look) == (reserved ? "1 may only be used by root" : "1 is free"));
}

TEST_CASE("Doctor: a port in use, and by whom") {
  const Folder folder;
  Machine machine = healthy(folder);
  const Listener listener;
  machine.port = listener.port;
  CHECK(check_port(machine).state == State::kNote);  // the next one is taken
  machine.port_is_default = false;
  CHECK(check_port(machine).state == State::kWrong);
  CHECK(check_port(machine).says == fmt::format("{} is in use", listener.port));
  register_server(folder, 4711, "tensorboard", listener.port, "2.21.0");
  CHECK(check_port(machine).says ==
        fmt::format("{} is in use by TensorBoard 2.21.0 (process 4711) on port {}", listener.port,
                    listener.port));
}

TEST_CASE("Doctor: TensorBoard on the same logs, servers that are gone, a registry of rubbish") {
  const Folder folder;
  const Machine machine = healthy(folder);
  folder.put("tmp/.tensorboard-info/pid-1.info", "{not json");
  folder.put("tmp/.tensorboard-info/pid-2.info", R"({"pid":-5,"port":99999999,"logdir":7})");
  CHECK(check_others(machine).state == State::kFine);
  register_server(folder, 4712, "", 6006, "2.21.0");
  CHECK(check_others(machine).says == "1 ended without leaving the registry");
  register_server(folder, 4711, "tensorboard", 6006, "2.21.0");
  CHECK(check_others(machine).says ==
        "TensorBoard 2.21.0 (process 4711) on port 6006 shows the same logs");
}

TEST_CASE("Doctor: a Sonde that takes no connections or is of another version") {
  const Folder folder;
  const Machine machine = healthy(folder);
  uint16_t closed = 0;
  {
    const Listener listener;
    closed = listener.port;
  }
  register_server(folder, 4711, "sonde", closed, SONDE_VERSION);
  CHECK(check_server(machine).says ==
        fmt::format("Sonde {} (process 4711) on port {}: it does not take connections",
                    SONDE_VERSION, closed));
  CHECK(check_server(machine).mend == "kill 4711 and start it again");
}

TEST_CASE("Doctor: a Sonde that answers wrongly, is of another version or has a hint") {
  const std::string well = "HTTP/1.1 200 OK\r\n\r\nok";
  const std::string hint =
      "HTTP/1.1 200 OK\r\n\r\n"
      R"({"hints":[{"text":"two runs write one file","fix":"give each a folder"}]})";
  struct Row {
    std::map<std::string, std::string> answers;
    std::string version, says, mend;
  };
  const Row rows[] = {
      {{{"/healthz", well}, {"/api/v1/diagnosis", "HTTP/1.1 200 OK\r\n\r\n{\"hints\":[]}"}},
       SONDE_VERSION,
       " is well",
       ""},
      {{{"/healthz", "HTTP/1.1 503 Busy\r\n\r\n"}},
       SONDE_VERSION,
       ": it answers 503",
       "kill 4711 and start it again"},
      {{{"/healthz", "SSH-2.0-x\r\n"}},
       SONDE_VERSION,
       ": its answer is not HTTP",
       "kill 4711 and start it again"},
      {{{"/healthz", well}},
       "0.0.9",
       " is not this version (" SONDE_VERSION ")",
       "start it again to have the new one"},
      {{{"/healthz", well}, {"/api/v1/diagnosis", hint}},
       SONDE_VERSION,
       ": two runs write one file",
       "give each a folder"},
  };
  for (const Row& row : rows) {
    const Folder folder;
    const Machine machine = healthy(folder);
    const Answering server(row.answers);
    register_server(folder, 4711, "sonde", server.port(), row.version);
    CHECK(check_server(machine).says == fmt::format("Sonde {} (process 4711) on port {}{}",
                                                    row.version, server.port(), row.says));
    CHECK(check_server(machine).mend == row.mend);
  }
}
