#include "io/remote/remote.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "base/thread_pool.h"
#include "io/remote/beside.h"
#include "io/remote/object_store.h"

namespace sonde::io {
namespace {

constexpr uint64_t kDiskBudget = uint64_t{2} << 30;
constexpr uint64_t kMemoryBudget = uint64_t{64} << 20;
constexpr uint64_t kMostAhead = 8;          // blocks in one request
constexpr size_t kPrefetchThreads = 16;     // they wait for answers, not for cores
constexpr size_t kMostPrefetched = 64;      // blocks: what fits into memory
constexpr size_t kMostObjects = 2'000'000;  // of one root

uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>{}(text); }

// An object has no inode: its address stands for it. The version is in the nanoseconds, so that two
// versions of one second differ.
FileStat stat_of_object(const RemoteObject& object) {
  constexpr int64_t kSecond = 1'000'000'000;
  return {
      .size = object.size,
      .device = hash_of(scheme_of(object.path)),
      .inode = hash_of(object.path),
      .mtime_ns = object.modified_s * kSecond +
                  static_cast<int64_t>(hash_of(object.version) % static_cast<uint64_t>(kSecond)),
      .regular = true};
}

// Everything that is remembered between requests.
struct Remote {
  // In the order in which they are asked whether an address is theirs.
  std::array<std::unique_ptr<ObjectStore>, 5> stores = {
      make_s3_store(), make_google_store(), make_azure_store(), make_http_folder_store(),
      make_hdfs_store()};
  BlockCache cache{remote_cache_folder(), remote_cache_budget(), kMemoryBudget};
  std::mutex mutex;                                                  // guards: roots
  std::map<std::string, std::map<std::string, RemoteObject>> roots;  // root -> path -> object

  // Made with the first listing: a program that only uploads needs none.
  ThreadPool& prefetchers() {
    const std::lock_guard lock(mutex);
    if (!prefetchers_) prefetchers_ = std::make_unique<ThreadPool>("prefetch", kPrefetchThreads);
    return *prefetchers_;
  }

  // Null for a path of this machine and for schemes that nobody reads.
  ObjectStore* store_of(std::string_view path) const {
    const auto* found =
        std::ranges::find_if(stores, [&](const auto& store) { return store->reads(path); });
    return found == stores.end() ? nullptr : found->get();
  }

  // Nothing when no listing has seen it.
  std::optional<RemoteObject> known(const std::string& path) {
    const std::lock_guard lock(mutex);
    for (const auto& [root, objects] : roots) {
      if (const auto found = objects.find(path); found != objects.end()) return found->second;
    }
    return std::nullopt;
  }

 private:
  std::unique_ptr<ThreadPool> prefetchers_;  // guarded by mutex
};

Remote& remote() {
  static auto* const kept = new Remote;  // threads may still use it while the process ends
  return *kept;
}

class ObjectSource final : public Source {
 public:
  ObjectSource(ObjectStore& store, RemoteObject object)
      : store_(store), object_(std::move(object)), stat_(stat_of_object(object_)) {}

  Result<size_t> read_at(uint64_t offset, std::span<std::byte> into) override {
    size_t done = 0;
    while (done < into.size() && offset + done < object_.size) {
      const uint64_t at = offset + done;
      SONDE_TRY(const block, block_of(at / kRemoteBlock));
      const uint64_t inside = at % kRemoteBlock;
      if (inside >= block->size()) break;
      const size_t size = std::min<uint64_t>(into.size() - done, block->size() - inside);
      std::memcpy(into.data() + done, block->data() + inside, size);
      done += size;
    }
    return done;
  }
  bool random_access() const override { return true; }
  const FileStat& stat() const override { return stat_; }

  std::string key_of(uint64_t block) const {
    return object_.path + '\n' + object_.version + '\n' + std::to_string(object_.size) + '\n' +
           std::to_string(block);
  }

  // Fetches blocks that the caller has begun; the first one is returned.
  Result<BlockCache::Block> fetch(uint64_t first, uint64_t count) {
    BlockCache& cache = remote().cache;
    const uint64_t offset = first * kRemoteBlock;
    const uint64_t length = std::min(count * kRemoteBlock, object_.size - offset);
    auto bytes = store_.read(object_, offset, length);
    if (bytes && bytes->size() != length) {
      bytes = fail(Code::kIo, object_.path + ": the store gave " + std::to_string(bytes->size()) +
                                  " of " + std::to_string(length) + " bytes");
    }
    BlockCache::Block result;
    for (uint64_t i = 0; i < count; ++i) {
      if (!bytes) {
        cache.give_up(key_of(first + i));
        continue;
      }
      std::string piece = bytes->substr(i * kRemoteBlock, kRemoteBlock);
      if (i == 0) result = std::make_shared<const std::string>(piece);
      cache.put(key_of(first + i), std::move(piece));
    }
    if (!bytes) return fail(bytes.error());
    return result;
  }

 private:
  Result<BlockCache::Block> block_of(uint64_t index) {
    BlockCache& cache = remote().cache;
    if (BlockCache::Block block = cache.get_or_begin(key_of(index))) return block;
    // Reading on: ask for more at a time, the farther it goes.
    const uint64_t blocks = (object_.size + kRemoteBlock - 1) / kRemoteBlock;
    const uint64_t before = next_.exchange(index + 1);
    uint64_t ahead = before == index && index > 0 ? std::min(ahead_ * 2, kMostAhead) : 1;
    uint64_t count = 1;
    while (count < ahead && index + count < blocks && cache.begin(key_of(index + count))) ++count;
    ahead_ = ahead;
    next_ = index + count;
    return fetch(index, count);
  }

  ObjectStore& store_;
  const RemoteObject object_;
  const FileStat stat_;
  std::atomic<uint64_t> next_ = 0, ahead_ = 1;
};

// The beginnings of many objects at once: the loader's threads are as many as cores, and each would
// wait a round trip a file.
void prefetch(ObjectStore& store, const std::vector<RemoteObject>& objects) {
  for (size_t i = 0; i < std::min(objects.size(), kMostPrefetched); ++i) {
    if (objects[i].size == 0) continue;
    remote().prefetchers().run([&store, object = objects[i]] {
      ObjectSource source(store, object);
      if (remote().cache.begin(source.key_of(0))) {
        [[maybe_unused]] const auto fetched = source.fetch(0, 1);  // who needs it asks again
      }
    });
  }
}

// What a listing found, by path.
struct Listing {
  std::map<std::string, RemoteObject> events, others;
};
Result<Listing> list_logs(ObjectStore& store, const std::string& root) {
  Listing found;
  const auto take = [&](RemoteObject object) {
    auto& objects = is_event_file(object.path) ? found.events : found.others;
    std::string path = object.path;
    objects.emplace(std::move(path), std::move(object));
    return found.events.size() < kMostObjects && found.others.size() < kMostObjects;
  };
  if (const auto listed = store.list(root, Wanted::kLogs, take); !listed)
    return fail(listed.error());
  if (found.events.size() >= kMostObjects || found.others.size() >= kMostObjects)
    return fail(Code::kTooLarge, root + ": more than two million files");
  return found;
}

}  // namespace

std::string_view scheme_of(std::string_view path) {
  const size_t end = path.find("://");
  if (end == 0 || end == std::string_view::npos) return "";
  const std::string_view scheme = path.substr(0, end);
  const bool is_word = std::ranges::all_of(scheme, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  });
  return is_word ? scheme : "";
}

bool is_remote(std::string_view path) {
  return is_address(path) && remote().store_of(path) != nullptr;
}

bool is_event_file(std::string_view path) {
  const size_t slash = path.rfind('/');
  return path.substr(slash == path.npos ? 0 : slash + 1).find("tfevents") != path.npos;
}

std::string as_folder(std::string_view root) {
  while (root.ends_with('/')) root.remove_suffix(1);
  return std::string(root) + "/";
}

std::string variable(const char* name) {
  const char* given = std::getenv(name);
  return given ? given : "";
}

Result<void> check_scheme(std::string_view path) {
  const std::string_view scheme = scheme_of(path);
  if (scheme.empty() || scheme == "file" || is_remote(path)) return {};
  return fail(Code::kUnsupported,
              "cannot read '" + to_utf8(path) + "': " + to_utf8(scheme) +
                  ":// is not supported (s3, gs, az, http, https, hdfs, webhdfs and file are); "
                  "copy the logs to a local folder or one of these first");
}

Result<void> check_remote(std::string_view path) {
  ObjectStore& store = *remote().store_of(path);
  if (auto good = store.check(path); !good) return good;
  return store.list(std::string(path), Wanted::kProbe, [](const RemoteObject&) { return false; });
}

std::vector<FoundRun> scan_remote(const std::string& root, Scan& scan) {
  ObjectStore& store = *remote().store_of(root);
  auto listed = list_logs(store, root);
  std::vector<RemoteObject> changed;
  std::map<std::string, RemoteObject> objects;
  {
    const std::lock_guard lock(remote().mutex);
    auto& known = remote().roots[root];
    if (!listed) {
      scan.skipped.push_back({root, listed.error().text});
    } else {
      for (const auto& [path, object] : listed->events) {
        if (!known.contains(path)) changed.push_back(object);
      }
      known = std::move(listed->events);
    }
    objects = known;
  }
  prefetch(store, changed);
  // A web server's listing tells of event files alone.
  if (listed && !root.starts_with("http") && !show_beside(store, root, listed->others)) {
    scan.skipped.push_back(
        {root, "too many files beside the logs: captures and checkpoints may be missing"});
  }
  scan.folders.push_back(root);
  const std::string prefix = as_folder(root);
  const bool is_encoded = root.starts_with("http");
  const auto shown = [&](std::string_view name) {
    return to_utf8(is_encoded ? percent_decoded(name) : std::string(name));
  };
  std::map<std::string, FoundRun> runs;
  for (const auto& [path, object] : objects) {
    const size_t slash = path.rfind('/');
    const std::string folder = path.substr(0, slash);
    const std::string name = folder.size() < prefix.size() ? "." : folder.substr(prefix.size());
    FoundRun& run = runs[name];
    run.name = shown(name);
    run.folder = folder;
    run.files.push_back({shown(path.substr(slash + 1)), path, stat_of_object(object), false});
  }
  std::vector<FoundRun> result;
  for (auto& [name, run] : runs) result.push_back(std::move(run));
  return result;
}

// A file beside the logs, where a listing has told what there is.
std::optional<std::string> stand_in_of(const std::string& path) {
  std::string here = local_view(path);
  if (here == path) return std::nullopt;
  return here;
}

Result<FileStat> stat_remote(const std::string& path) {
  {
    const std::lock_guard lock(remote().mutex);
    if (remote().roots.contains(path)) return FileStat{};
  }
  if (const auto object = remote().known(path)) return stat_of_object(*object);
  if (const auto here = stand_in_of(path)) return stat_of(*here);
  SONDE_TRY(const object, remote().store_of(path)->head(path));
  return stat_of_object(object);
}

Result<std::unique_ptr<Source>> open_remote(const std::string& path) {
  ObjectStore& store = *remote().store_of(path);
  auto object = remote().known(path);
  if (!object) {
    if (const auto here = stand_in_of(path)) return open_source(*here);
    SONDE_TRY(asked, store.head(path));
    object = std::move(asked);
  }
  return std::unique_ptr<Source>(std::make_unique<ObjectSource>(store, std::move(*object)));
}

Result<std::vector<RemoteObject>> list_remote(const std::string& root) {
  std::vector<RemoteObject> objects;
  ObjectStore& store = *remote().store_of(root);
  if (auto good = store.check(root); !good) return fail(good.error());
  const auto listed = store.list(root, Wanted::kAll, [&](RemoteObject object) {
    objects.push_back(std::move(object));
    return objects.size() < kMostObjects;
  });
  if (!listed) return fail(listed.error());
  if (objects.size() >= kMostObjects)
    return fail(Code::kTooLarge, root + ": more than two million files");
  return objects;
}

ObjectStore* store_of(std::string_view path) {
  return is_address(path) ? remote().store_of(path) : nullptr;
}

Result<RemoteObject> ObjectStore::write(const std::string& path, UploadBytes&,
                                        const RemoteObject*) {
  return fail(Code::kUnsupported, "cannot write to " + path +
                                      ": files are written to s3://, gs:// and az://, and to "
                                      "folders of this machine");
}

CacheCounts remote_cache_counts() { return remote().cache.counts(); }

std::string remote_cache_folder() {
  if (const char* given = std::getenv("SONDE_CACHE_DIR"); given && *given) return given;
  if (const char* given = std::getenv("XDG_CACHE_HOME"); given && *given)
    return std::string(given) + "/sonde/blocks";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/sonde/blocks" : "";
}

uint64_t remote_cache_budget() {
  const char* given = std::getenv("SONDE_CACHE_BYTES");
  return given && *given ? std::strtoull(given, nullptr, 10) : kDiskBudget;
}

}  // namespace sonde::io
