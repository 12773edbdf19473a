// S3-compatible stores, and Google's through the same questions.
#include <algorithm>
#include <atomic>

#include "io/remote/object_store.h"
#include "io/remote/s3.h"

namespace sonde::io {
namespace {

struct Place {
  std::string bucket, key;
};

class S3Store final : public ObjectStore {
 public:
  S3Store(std::string scheme, S3Config config)
      : scheme_(std::move(scheme)), client_(std::move(config)) {}

  bool reads(std::string_view path) const override { return path.starts_with(scheme_); }

  Result<void> check(std::string_view root) const override {
    if (!place_of(root).bucket.empty()) return {};
    return fail(Code::kInvalid,
                "write " + scheme_ + "BUCKET/PREFIX, not '" + std::string(root) + "'");
  }

  Result<void> list(const std::string& root, Wanted wanted, const Take& fn) override {
    const bool is_probe = wanted == Wanted::kProbe;
    const Place place = place_of(root);
    const std::string prefix = place.key.empty() ? "" : as_folder(place.key);
    uint64_t seen = 0;
    auto listed = client_.list(place.bucket, prefix, [&](const S3Object& object) {
      ++seen;
      return !is_probe && (object.key.ends_with('/') || fn(converted(place.bucket, object)));
    });
    const bool may_be_file = wanted == Wanted::kAll || is_event_file(place.key);
    if (!listed || seen > 0 || place.key.empty() || !may_be_file) return listed;
    if (auto object = head(root)) fn(std::move(*object));
    return {};
  }

  Result<RemoteObject> head(const std::string& path) override {
    const Place place = place_of(path);
    SONDE_TRY(const object, client_.head(place.bucket, place.key));
    return converted(place.bucket, object);
  }

  Result<std::string> read(const RemoteObject& object, uint64_t offset, uint64_t length) override {
    const Place place = place_of(object.path);
    return client_.read(place.bucket, place.key, object.version, offset, length);
  }

  Result<RemoteObject> write(const std::string& path, UploadBytes& content,
                             const RemoteObject* before) override {
    const Place place = place_of(path);
    const uint64_t size = content.size();
    if (size <= kUploadPart) {
      SONDE_TRY(const body, content.read(0, size));
      SONDE_TRY(const etag, client_.put(place.bucket, place.key, body));
      return RemoteObject{path, etag, size, 0};
    }
    const bool joins = can_join_ && before && before->size >= kLeastJoined && before->size <= size;
    auto etag = write_parts(place, content, joins ? before : nullptr);
    // A store that cannot copy a part is sent everything from now on.
    if (!etag && joins && etag.error().code != Code::kIo) {
      can_join_ = etag.error().code == Code::kConflict && can_join_;
      etag = write_parts(place, content, nullptr);
    }
    if (!etag) return fail(etag.error());
    return RemoteObject{path, *etag, size, 0};
  }

 private:
  static constexpr uint64_t kLeastJoined = uint64_t{5} << 20;  // S3: all parts but the last
  static constexpr uint64_t kMostCopied = uint64_t{4} << 30;   // of one part
  static constexpr uint64_t kMostParts = 9000;

  // What was there is copied inside the store, the rest is sent.
  Result<std::string> write_parts(const Place& place, UploadBytes& content,
                                  const RemoteObject* before) {
    SONDE_TRY(upload, client_.begin_parts(place.bucket, place.key));
    const auto made = [&]() -> Result<std::string> {
      std::vector<std::string> etags;
      const uint64_t size = content.size(), kept = before ? before->size : 0;
      for (uint64_t at = 0; at < kept; at += kMostCopied) {
        const uint64_t length = std::min(kMostCopied, kept - at);
        // A short last piece of a copy may only be last of all.
        if (length < kLeastJoined && kept < size) return fail(Code::kConflict, "not joined");
        SONDE_TRY(etag, client_.copy_part(place.bucket, place.key, upload, etags.size() + 1,
                                          {before->version, at, length}));
        etags.push_back(std::move(etag));
      }
      const uint64_t part = std::max(kUploadPart, (size - kept) / kMostParts + 1);
      for (uint64_t at = kept; at < size; at += part) {
        SONDE_TRY(const body, content.read(at, std::min(part, size - at)));
        SONDE_TRY(etag, client_.put_part(place.bucket, place.key, upload, etags.size() + 1, body));
        etags.push_back(std::move(etag));
      }
      return client_.finish_parts(place.bucket, place.key, upload, etags);
    }();
    if (!made) client_.forget_parts(place.bucket, place.key, upload);
    return made;
  }

  Place place_of(std::string_view path) const {
    path.remove_prefix(scheme_.size());
    const size_t slash = path.find('/');
    if (slash == std::string_view::npos) return {std::string(path), ""};
    return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
  }
  RemoteObject converted(const std::string& bucket, const S3Object& object) const {
    return {scheme_ + bucket + "/" + object.key, object.etag, object.size, object.modified_s};
  }

  const std::string scheme_;
  S3Client client_;
  std::atomic<bool> can_join_ = true;
};

}  // namespace

std::unique_ptr<ObjectStore> make_s3_store() {
  return std::make_unique<S3Store>("s3://", read_s3_config());
}

std::unique_ptr<ObjectStore> make_google_store() {
  S3Config config = read_s3_config();
  const std::string given = variable("SONDE_GCS_ENDPOINT");
  config.endpoint = given.empty() ? "https://storage.googleapis.com" : given;
  return std::make_unique<S3Store>("gs://", std::move(config));
}

}  // namespace sonde::io
