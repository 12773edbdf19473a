// Tells when something in a set of folders changes. inotify does the waiting, so an idle directory
// costs nothing; folders that inotify cannot see into (network file systems, too many watches) are
// reported as deaf and the caller polls them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace sonde::io {

class Watcher {
 public:
  Watcher();
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Watches exactly these folders from now on. Returns false when some cannot be watched.
  bool watch(const std::vector<std::string>& folders);

  struct Change {
    std::string folder;
    std::string name;   // of the file in it
    bool content_only;  // a file grew or was cut; false: something came, went or was renamed
  };
  struct Changes {
    std::vector<Change> list;
    bool woken = false;       // wake() was called
    bool overflowed = false;  // events were lost: look at everything
  };
  // Waits until something changes, wake() is called or the time is over (< 0 = no limit).
  Changes wait(int timeout_ms);

  // Ends a wait() from another thread. Thread-safe.
  void wake();

  bool works() const { return fd_ >= 0; }

 private:
  void drain(Changes& changes);

  int fd_ = -1;    // inotify; -1 when there is none
  int wake_ = -1;  // eventfd
  std::unordered_map<std::string, int> watches_;
  std::unordered_map<int, std::string> folders_;
};

// True for file systems where another machine's writes make no inotify event.
bool is_remote_file_system(const std::string& path);

}  // namespace sonde::io
