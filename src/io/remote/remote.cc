#include "io/remote/remote.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "base/strings.h"
#include "base/thread_pool.h"
#include "io/remote/s3.h"

namespace sonde::io {
namespace {

constexpr uint64_t kDiskBudget = uint64_t{2} << 30;
constexpr uint64_t kMemoryBudget = uint64_t{64} << 20;
constexpr uint64_t kMostAhead = 8;          // blocks in one request
constexpr size_t kPrefetchThreads = 16;     // they wait for answers, not for cores
constexpr size_t kMostPrefetched = 64;      // blocks: what fits into memory
constexpr size_t kMostObjects = 2'000'000;  // of one root

struct Place {
  std::string bucket, key;
};

Place place_of(std::string_view path) {
  path.remove_prefix(std::strlen("s3://"));
  const size_t slash = path.find('/');
  if (slash == std::string_view::npos) return {std::string(path), ""};
  return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

std::string folder_prefix(std::string key) {
  while (key.ends_with('/')) key.pop_back();
  return key.empty() ? key : key + "/";
}

uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>{}(text); }

// An object has no inode: its address stands for it. The version is in the nanoseconds, so that two
// versions of one second differ.
FileStat stat_of_object(std::string_view bucket, const S3Object& object) {
  constexpr int64_t kSecond = 1'000'000'000;
  return {.size = object.size,
          .device = hash_of(bucket),
          .inode = hash_of(object.key),
          .mtime_ns = object.modified_s * kSecond +
                      static_cast<int64_t>(hash_of(object.etag) % static_cast<uint64_t>(kSecond)),
          .regular = true};
}

std::string cache_folder() {
  if (const char* given = std::getenv("SONDE_CACHE_DIR"); given && *given) return given;
  if (const char* given = std::getenv("XDG_CACHE_HOME"); given && *given)
    return std::string(given) + "/sonde/blocks";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/sonde/blocks" : "";
}

uint64_t cache_budget() {
  const char* given = std::getenv("SONDE_CACHE_BYTES");
  return given && *given ? std::strtoull(given, nullptr, 10) : kDiskBudget;
}

// Everything that is remembered between requests.
struct Remote {
  S3Client s3{read_s3_config()};
  BlockCache cache{cache_folder(), cache_budget(), kMemoryBudget};
  std::mutex mutex;                                              // guards: roots
  std::map<std::string, std::map<std::string, S3Object>> roots;  // root -> path -> object
  ThreadPool prefetchers{"prefetch", kPrefetchThreads};

  // Nothing when no listing has seen it.
  std::optional<S3Object> known(const std::string& path) {
    const std::lock_guard lock(mutex);
    for (const auto& [root, objects] : roots) {
      if (const auto found = objects.find(path); found != objects.end()) return found->second;
    }
    return std::nullopt;
  }
};

Remote& remote() {
  static auto* const kept = new Remote;  // threads may still use it while the process ends
  return *kept;
}

class ObjectSource final : public Source {
 public:
  ObjectSource(std::string path, S3Object object)
      : place_(place_of(path)),
        path_(std::move(path)),
        object_(std::move(object)),
        stat_(stat_of_object(place_.bucket, object_)) {}

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
    return path_ + '\n' + object_.etag + '\n' + std::to_string(object_.size) + '\n' +
           std::to_string(block);
  }

  // Fetches blocks that the caller has begun; the first one is returned.
  Result<BlockCache::Block> fetch(uint64_t first, uint64_t count) {
    BlockCache& cache = remote().cache;
    const uint64_t offset = first * kRemoteBlock;
    const uint64_t length = std::min(count * kRemoteBlock, object_.size - offset);
    auto bytes = remote().s3.read(place_.bucket, place_.key, object_.etag, offset, length);
    if (bytes && bytes->size() != length) {
      bytes = fail(Code::kIo, path_ + ": the store gave " + std::to_string(bytes->size()) + " of " +
                                  std::to_string(length) + " bytes");
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

  const Place place_;
  const std::string path_;
  const S3Object object_;
  const FileStat stat_;
  std::atomic<uint64_t> next_ = 0, ahead_ = 1;
};

// The beginnings of many objects at once: the loader's threads are as many as cores, and each would
// wait a round trip a file.
void prefetch(const std::vector<std::pair<std::string, S3Object>>& objects) {
  for (size_t i = 0; i < std::min(objects.size(), kMostPrefetched); ++i) {
    if (objects[i].second.size == 0) continue;
    remote().prefetchers.run([path = objects[i].first, object = objects[i].second] {
      ObjectSource source(path, object);
      if (remote().cache.begin(source.key_of(0))) {
        [[maybe_unused]] const auto fetched = source.fetch(0, 1);  // who needs it asks again
      }
    });
  }
}

bool is_event_file(std::string_view key) {
  const size_t slash = key.rfind('/');
  return key.substr(slash == key.npos ? 0 : slash + 1).find("tfevents") != key.npos;
}

// The event files below a root, by path.
Result<std::map<std::string, S3Object>> list_events(const std::string& root) {
  const Place place = place_of(root);
  std::map<std::string, S3Object> objects;
  bool is_cut = false;
  const auto take = [&](S3Object object) {
    if (is_event_file(object.key)) {
      std::string path = "s3://" + place.bucket + "/" + object.key;
      objects.emplace(std::move(path), std::move(object));
    }
    is_cut = objects.size() >= kMostObjects;
    return !is_cut;
  };
  if (const auto listed = remote().s3.list(place.bucket, folder_prefix(place.key), take); !listed)
    return fail(listed.error());
  if (is_cut) return fail(Code::kTooLarge, root + ": more than two million event files");
  if (objects.empty() && is_event_file(place.key)) {  // the root is one file itself
    if (auto object = remote().s3.head(place.bucket, place.key))
      objects.emplace(root, std::move(*object));
  }
  return objects;
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

bool is_remote(std::string_view path) { return path.starts_with("s3://"); }

Result<void> check_scheme(std::string_view path) {
  const std::string_view scheme = scheme_of(path);
  if (scheme.empty() || scheme == "s3" || scheme == "file") return {};
  std::string advice = "copy the logs to a local folder or an S3-compatible store first";
  if (scheme == "gs")
    advice =
        "Google's store answers as s3:// with AWS_ENDPOINT_URL=https://storage.googleapis.com "
        "and HMAC keys";
  return fail(Code::kUnsupported, "cannot read '" + to_utf8(path) + "': " + to_utf8(scheme) +
                                      ":// is not supported (s3:// and file:// are); " + advice);
}

Result<void> check_remote(std::string_view path) {
  const Place place = place_of(path);
  if (place.bucket.empty())
    return fail(Code::kInvalid, "write s3://BUCKET/PREFIX, not '" + to_utf8(path) + "'");
  return remote().s3.list(place.bucket, folder_prefix(place.key),
                          [](const S3Object&) { return false; });
}

std::vector<FoundRun> scan_remote(const std::string& root, Scan& scan) {
  auto listed = list_events(root);
  const Place place = place_of(root);
  const std::string prefix = "s3://" + place.bucket + "/" + folder_prefix(place.key);
  std::vector<std::pair<std::string, S3Object>> changed;
  std::map<std::string, S3Object> objects;
  {
    const std::lock_guard lock(remote().mutex);
    auto& known = remote().roots[root];
    if (!listed) {
      scan.skipped.push_back({root, listed.error().text});
    } else {
      for (const auto& [path, object] : *listed) {
        const auto before = known.find(path);
        if (before == known.end()) changed.emplace_back(path, object);
      }
      known = std::move(*listed);
    }
    objects = known;
  }
  prefetch(changed);
  scan.folders.push_back(root);
  std::map<std::string, FoundRun> runs;
  for (const auto& [path, object] : objects) {
    const size_t slash = path.rfind('/');
    const std::string folder = path.substr(0, slash);
    const std::string name = folder.size() < prefix.size() ? "." : folder.substr(prefix.size());
    FoundRun& run = runs[name];
    run.name = to_utf8(name);
    run.folder = folder;
    run.files.push_back(
        {path.substr(slash + 1), path, stat_of_object(place.bucket, object), false});
  }
  std::vector<FoundRun> result;
  for (auto& [name, run] : runs) result.push_back(std::move(run));
  return result;
}

Result<FileStat> stat_remote(const std::string& path) {
  {
    const std::lock_guard lock(remote().mutex);
    if (remote().roots.contains(path)) return FileStat{};
  }
  const Place place = place_of(path);
  if (const auto object = remote().known(path)) return stat_of_object(place.bucket, *object);
  SONDE_TRY(const object, remote().s3.head(place.bucket, place.key));
  return stat_of_object(place.bucket, object);
}

Result<std::unique_ptr<Source>> open_remote(const std::string& path) {
  auto object = remote().known(path);
  if (!object) {
    const Place place = place_of(path);
    SONDE_TRY(asked, remote().s3.head(place.bucket, place.key));
    object = std::move(asked);
  }
  return std::unique_ptr<Source>(std::make_unique<ObjectSource>(path, std::move(*object)));
}

CacheCounts remote_cache_counts() { return remote().cache.counts(); }

}  // namespace sonde::io
