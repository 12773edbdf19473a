#include "io/watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_set>

#include "io/remote/remote.h"

namespace sonde::io {
namespace {

constexpr uint32_t kInteresting = IN_CREATE | IN_DELETE | IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO |
                                  IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB | IN_EXCL_UNLINK;

}  // namespace

Watcher::Watcher()
    : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Watcher::~Watcher() {
  if (fd_ >= 0) ::close(fd_);
  if (wake_ >= 0) ::close(wake_);
}

bool Watcher::watch(const std::vector<std::string>& folders) {
  if (fd_ < 0) return folders.empty();
  const std::unordered_set<std::string> wanted(folders.begin(), folders.end());
  for (auto at = watches_.begin(); at != watches_.end();) {
    if (wanted.contains(at->first)) {
      ++at;
      continue;
    }
    // Two paths to one folder share a watch: it goes with the last of them.
    const int id = at->second;
    at = watches_.erase(at);
    const auto shared = std::find_if(watches_.begin(), watches_.end(),
                                     [&](const auto& other) { return other.second == id; });
    if (shared == watches_.end()) {
      ::inotify_rm_watch(fd_, id);
      folders_.erase(id);
    } else {
      folders_[id] = shared->first;
    }
  }
  bool all = true;
  for (const std::string& folder : folders) {
    // Always asked again: a folder that was removed and made anew has lost its watch.
    const int id = ::inotify_add_watch(fd_, folder.c_str(), kInteresting);
    if (id < 0) {
      all = false;
      continue;
    }
    watches_[folder] = id;
    folders_.try_emplace(id, folder);
  }
  return all;
}

Watcher::Changes Watcher::wait(int timeout_ms) {
  Changes changes;
  std::array<pollfd, 2> fds = {pollfd{wake_, POLLIN, 0}, pollfd{fd_, POLLIN, 0}};
  if (::poll(fds.data(), fds.size(), timeout_ms) <= 0) return changes;
  if (fds[0].revents & POLLIN) {
    uint64_t count;
    changes.woken = ::read(wake_, &count, sizeof count) == sizeof count;
  }
  if (fds[1].revents & POLLIN) drain(changes);
  return changes;
}

void Watcher::drain(Changes& changes) {
  alignas(inotify_event) std::array<char, 64 * 1024> buffer;
  for (;;) {
    const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
    if (n <= 0) return;
    for (ssize_t at = 0; at < n;) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const char* name = buffer.data() + at + sizeof event;
      at += static_cast<ssize_t>(sizeof event + event.len);
      if (event.mask & IN_Q_OVERFLOW) changes.overflowed = true;
      const auto folder = folders_.find(event.wd);
      if (folder == folders_.end()) continue;
      if (event.mask & IN_IGNORED) {
        std::erase_if(watches_,
                      [gone = event.wd](const auto& watch) { return watch.second == gone; });
        folders_.erase(folder);
        continue;
      }
      const bool content_only = (event.mask & (IN_MODIFY | IN_ATTRIB)) != 0 && event.len > 0;
      std::string file = event.len > 0 ? std::string(name) : std::string();
      // A writer makes many small writes: one change each is enough.
      if (!changes.list.empty() && changes.list.back().folder == folder->second &&
          changes.list.back().name == file && changes.list.back().content_only == content_only)
        continue;
      changes.list.push_back({folder->second, std::move(file), content_only});
    }
  }
}

void Watcher::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
}

bool is_remote_file_system(const std::string& path) {
  if (is_remote(path)) return true;
  struct statfs info;
  if (::statfs(path.c_str(), &info) != 0) return false;
  constexpr std::array<uint32_t, 10> kRemote = {
      0x6969,      // NFS
      0xff534d42,  // CIFS
      0xfe534d42,  // SMB2
      0x517b,      // SMB
      0x65735546,  // FUSE
      0x01021997,  // 9p
      0x00c36400,  // Ceph
      0x0bd00bd0,  // Lustre
      0x47504653,  // GPFS
      0x5346414f,  // AFS
  };
  return std::find(kRemote.begin(), kRemote.end(), static_cast<uint32_t>(info.f_type)) !=
         kRemote.end();
}

}  // namespace sonde::io
