#include "io/remote/beside.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <set>

#include "base/sha256.h"
#include "base/strings.h"
#include "io/remote/remote.h"

namespace sonde::io {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMostStandIns = 20'000;  // of one root
constexpr mode_t kStandIn = 0200;         // readable by nobody: its bytes are not there
constexpr mode_t kFetched = 0600;

// A name below the root that is safe as a path here.
bool is_plain(std::string_view below) {
  if (below.empty() || below.size() > 1000 || below.find('\0') != below.npos) return false;
  const auto is_good = [](std::string_view part) {
    return !part.empty() && part != "." && part != ".." && part.size() <= 200;
  };
  return std::ranges::all_of(split(below, '/'), is_good);
}

void set_time(const std::string& path, int64_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  ::utimensat(AT_FDCWD, path.c_str(), times, 0);
}

std::string temporary_name(const std::string& path) {
  static std::atomic<uint64_t> count{0};
  return path + ".new." + std::to_string(::getpid()) + "." + std::to_string(count++);
}

// Under another name first: whoever has the old file open keeps it.
bool make_stand_in(const std::string& path, const RemoteObject& object) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  const std::string temporary = temporary_name(path);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kStandIn);
  if (fd < 0) return false;
  const bool is_sized = ::ftruncate(fd, static_cast<off_t>(object.size)) == 0;
  ::close(fd);
  set_time(temporary, object.modified_s);
  if (is_sized && ::rename(temporary.c_str(), path.c_str()) == 0) return true;
  ::unlink(temporary.c_str());
  return false;
}

struct Shown {
  ObjectStore* store = nullptr;
  std::string folder;                           // of this machine, without a slash at its end
  std::map<std::string, RemoteObject> objects;  // by path of this machine
};

struct Beside {
  std::mutex mutex;                                     // guards: roots, fetched, fetched_bytes
  std::map<std::string, Shown> roots;                   // by address
  std::list<std::pair<std::string, uint64_t>> fetched;  // path and size, oldest first
  uint64_t fetched_bytes = 0;
  std::mutex fetching;  // one download at a time: a trace fills the line by itself
  std::atomic<bool> is_used = false;

  // Gives back the bytes of files that were fetched long ago. The lock is held.
  void trim(uint64_t budget) {
    while (fetched_bytes > budget && fetched.size() > 1) {
      const auto [path, size] = fetched.front();
      fetched.pop_front();
      fetched_bytes -= size;
      for (const auto& [root, shown] : roots) {
        if (const auto found = shown.objects.find(path); found != shown.objects.end())
          make_stand_in(path, found->second);
      }
    }
  }
};

Beside& beside() {
  static auto* const kept = new Beside;  // threads may still use it while the process ends
  return *kept;
}

std::string folder_of(const std::string& root) {
  const std::string cache = remote_cache_folder();
  return cache.empty() ? "" : cache + "/beside/" + sha256_hex(root).substr(0, 16);
}

}  // namespace

Result<void> download(ObjectStore& store, const RemoteObject& object, const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  const std::string temporary = temporary_name(path);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFetched);
  if (fd < 0) return fail(Code::kIo, "cannot write " + temporary);
  Result<void> done;
  for (uint64_t at = 0; done && at < object.size;) {
    const uint64_t length = std::min(kUploadPart, object.size - at);
    const auto bytes = store.read(object, at, length);
    if (!bytes) {
      done = fail(bytes.error());
    } else if (bytes->size() != length) {
      done = fail(Code::kIo, object.path + ": the store gave " + std::to_string(bytes->size()) +
                                 " of " + std::to_string(length) + " bytes");
    } else if (::write(fd, bytes->data(), length) != static_cast<ssize_t>(length)) {
      done = fail(Code::kIo, "cannot write " + temporary + ": is the disk full?");
    }
    at += length;
  }
  ::close(fd);
  if (done) {
    set_time(temporary, object.modified_s);
    if (::rename(temporary.c_str(), path.c_str()) == 0) return {};
    done = fail(Code::kIo, "cannot write " + path);
  }
  ::unlink(temporary.c_str());
  return done;
}

std::string local_view(const std::string& path) {
  if (!beside().is_used || !is_address(path)) return path;
  const std::lock_guard lock(beside().mutex);
  const Shown* deepest = nullptr;
  size_t length = 0;
  for (const auto& [root, shown] : beside().roots) {
    const bool is_below = path == root || path.starts_with(as_folder(root));
    if (is_below && root.size() >= length) {
      deepest = &shown;
      length = root.size();
    }
  }
  if (!deepest) return path;
  const std::string below = path.substr(length);
  if (!below.empty() && below != "/" && !is_plain(below.substr(1))) return path;
  return deepest->folder + (below == "/" ? "" : below);
}

bool show_beside(ObjectStore& store, const std::string& root,
                 const std::map<std::string, RemoteObject>& others) {
  const std::string folder = folder_of(root);
  if (folder.empty()) return others.empty();
  const std::string prefix = as_folder(root);
  const std::lock_guard lock(beside().mutex);
  Shown& shown = beside().roots[root];
  shown.store = &store;
  shown.folder = folder;
  beside().is_used = true;
  std::map<std::string, RemoteObject> now;
  bool is_all = true;
  for (const auto& [path, object] : others) {
    if (!path.starts_with(prefix) || !is_plain(std::string_view(path).substr(prefix.size())))
      continue;
    if (now.size() == kMostStandIns) {
      is_all = false;
      break;
    }
    const std::string here = folder + "/" + path.substr(prefix.size());
    const auto before = shown.objects.find(here);
    const bool is_same = before != shown.objects.end() &&
                         before->second.version == object.version &&
                         before->second.size == object.size;
    struct stat stat;
    // What an earlier start fetched is still good when size and time say so.
    const bool is_there = is_same || (::lstat(here.c_str(), &stat) == 0 &&
                                      static_cast<uint64_t>(stat.st_size) == object.size &&
                                      stat.st_mtim.tv_sec == object.modified_s);
    if (is_there || make_stand_in(here, object)) now.emplace(here, object);
  }
  for (const auto& [here, object] : shown.objects) {
    if (!now.contains(here)) ::unlink(here.c_str());
  }
  shown.objects = std::move(now);
  return is_all;
}

std::vector<std::string> beside_folders(const std::string& root) {
  const std::lock_guard lock(beside().mutex);
  const auto found = beside().roots.find(root);
  if (found == beside().roots.end()) return {};
  std::set<std::string> folders;
  for (const auto& [path, object] : found->second.objects) {
    std::string folder = path;
    while (folder.size() > found->second.folder.size()) {
      folder.resize(folder.rfind('/'));
      if (!folders.insert(folder).second) break;
    }
  }
  return {folders.begin(), folders.end()};
}

Result<std::string> here(const std::string& address) {
  ObjectStore* store = store_of(address);
  if (!store) return address;
  if (auto good = store->check(address); !good) return fail(good.error());
  std::string root = address;
  while (root.ends_with('/')) root.pop_back();
  SONDE_TRY(objects, list_remote(root));
  // One object is shown in the folder it lies in.
  const bool is_file = objects.size() == 1 && objects[0].path == root;
  if (is_file) root.resize(root.rfind('/'));
  std::map<std::string, RemoteObject> others;
  for (RemoteObject& object : objects) {
    std::string path = object.path;
    others.emplace(std::move(path), std::move(object));
  }
  if (others.empty()) return fail(Code::kNotFound, address + ": no such file or folder");
  if (!show_beside(*store, root, others))
    return fail(Code::kTooLarge, address + ": too many files; name a folder inside it");
  return local_view(address.starts_with(root + "/") ? address : root);
}

Result<void> fetch_stand_in(const std::string& path) {
  if (!beside().is_used) return {};
  ObjectStore* store = nullptr;
  RemoteObject object;
  {
    const std::lock_guard lock(beside().mutex);
    for (const auto& [root, shown] : beside().roots) {
      const auto found = shown.objects.find(path);
      if (found == shown.objects.end()) continue;
      store = shown.store;
      object = found->second;
    }
  }
  if (!store) return {};
  const std::lock_guard one(beside().fetching);
  struct stat stat;
  if (::lstat(path.c_str(), &stat) == 0 && (stat.st_mode & 0777) != kStandIn) return {};
  if (auto done = download(*store, object, path); !done) return done;
  const std::lock_guard lock(beside().mutex);
  beside().fetched.emplace_back(path, object.size);
  beside().fetched_bytes += object.size;
  beside().trim(remote_cache_budget());
  return {};
}

}  // namespace sonde::io
