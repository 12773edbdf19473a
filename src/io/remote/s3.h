// The four questions that reading from an S3-compatible store needs: what is there, how large is
// it, some bytes of it; and where it is. Signed when there are keys. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/remote/http.h"
#include "io/remote/s3_config.h"

namespace sonde::io {

struct S3Object {
  std::string key;
  uint64_t size = 0;
  std::string etag;
  int64_t modified_s = 0;  // since 1970
};

class S3Client {
 public:
  explicit S3Client(S3Config config) : config_(std::move(config)) {}

  // Every object whose key begins with `prefix`, in the order of keys; fn returns false to stop.
  Result<void> list(std::string_view bucket, std::string_view prefix,
                    const std::function<bool(S3Object)>& fn);
  // kNotFound when there is no such object.
  Result<S3Object> head(std::string_view bucket, std::string_view key);
  // At most `length` bytes from `offset`; fewer only at the end. kConflict when the object is no
  // longer the one that `etag` names.
  Result<std::string> read(std::string_view bucket, std::string_view key, std::string_view etag,
                           uint64_t offset, uint64_t length);

  // Writing: the object whole, or in parts that become one object when they are finished. Each
  // gives the ETag.
  Result<std::string> put(std::string_view bucket, std::string_view key, std::string_view body);
  Result<std::string> begin_parts(std::string_view bucket,
                                  std::string_view key);  // the upload's id
  Result<std::string> put_part(std::string_view bucket, std::string_view key,
                               std::string_view upload, size_t number, std::string_view body);
  // Bytes of the object as it is now, copied by the store. kConflict when it is no longer the one
  // that `etag` names, kUnsupported when the store does not copy parts.
  struct Copied {
    std::string_view etag;
    uint64_t offset = 0, length = 0;
  };
  Result<std::string> copy_part(std::string_view bucket, std::string_view key,
                                std::string_view upload, size_t number, const Copied& from);
  Result<std::string> finish_parts(std::string_view bucket, std::string_view key,
                                   std::string_view upload, const std::vector<std::string>& etags);
  void forget_parts(std::string_view bucket, std::string_view key, std::string_view upload);

 private:
  struct Question {
    std::string_view method = "GET";
    std::string_view bucket, key;
    std::vector<std::pair<std::string, std::string>> query, headers;
    std::string_view body = {};
    uint64_t max_answer_bytes = 64 << 20;
  };
  Result<HttpAnswer> ask(const Question& question);
  S3Config config() const;

  mutable std::mutex mutex_;  // guards: config_
  S3Config config_;           // its region may be corrected by the server
};

// One page of a listing: the objects in it and where the next page begins (empty: nowhere).
struct S3Page {
  std::vector<S3Object> objects;
  std::string next;
};
Result<S3Page> parse_s3_page(std::string_view xml);

// Seconds since 1970 of "2009-10-12T17:50:30.000Z" or "Mon, 12 Oct 2009 17:50:30 GMT"; 0 when it is
// neither.
int64_t parse_s3_time(std::string_view text);

}  // namespace sonde::io
