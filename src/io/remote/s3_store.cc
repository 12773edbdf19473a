// S3-compatible stores, and Google's through the same questions.
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

  Result<void> list(const std::string& root, bool is_probe, const Take& fn) override {
    const Place place = place_of(root);
    const std::string prefix = place.key.empty() ? "" : as_folder(place.key);
    uint64_t seen = 0;
    auto listed = client_.list(place.bucket, prefix, [&](S3Object object) {
      ++seen;
      return !is_probe && (!is_event_file(object.key) || fn(converted(place.bucket, object)));
    });
    if (!listed || seen > 0 || !is_event_file(place.key)) return listed;
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

 private:
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
