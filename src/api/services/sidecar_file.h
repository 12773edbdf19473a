// The one file of a log directory that Sonde may write: names, notes, colours, views, layouts that
// a person saved (docs/api.md §7). Created at the first save, replaced whole at each. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "api/routes.h"
#include "base/result.h"
#include "codec/json_read.h"

namespace sonde::api::v1 {

class SidecarFile {
 public:
  SidecarFile(const store::Options& options, const Settings& settings);

  struct Document {
    JsonValue value;
    std::string text, etag;
  };

  const std::string& path() const { return path_; }
  bool is_writable() const { return writable_; }

  // What is saved now; {"sonde":1} when nothing is. kCorrupt when the file is not JSON.
  Result<Document> read();
  // Applies a merge patch. kConflict when `if_match` is given and is not the present ETag.
  Result<Document> patch(const JsonValue& patch, std::optional<std::string_view> if_match);

 private:
  Result<Document> read_locked();

  std::mutex mutex_;  // guards: the file
  std::string path_;
  bool writable_ = false;
  std::string why_not_;
};

// RFC 7396: members of `patch` replace or, when null, remove those of `target`.
void merge_patch(JsonValue& target, const JsonValue& patch);

// Where things about a log directory are kept outside it: <state folder>/<16 digits>; empty when
// there is no such place.
std::string state_folder_of(const store::Options& options);

}  // namespace sonde::api::v1
