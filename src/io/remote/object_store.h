// A place of files that is reached over HTTP: what is below a root, how large it is, some bytes of
// it. One class a protocol; remote.cc caches blocks and knows which class an address belongs to.
// All are thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sonde::io {

struct RemoteObject {
  std::string path;     // the whole address
  std::string version;  // changes when the content does; may be empty
  uint64_t size = 0;
  int64_t modified_s = 0;  // since 1970
};

// What a listing is for.
enum class Wanted : uint8_t {
  kProbe,  // to see that the place answers
  kLogs,   // every event file, and other files where the listing tells of them anyway
  kAll,    // every file
};

// The bytes of a file that is put into a store.
class UploadBytes {
 public:
  virtual ~UploadBytes() = default;
  virtual uint64_t size() const = 0;
  // Exactly that many bytes; an error when they are not there any more.
  virtual Result<std::string> read(uint64_t offset, uint64_t length) = 0;
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  // The addresses of one root have a beginning in common that says which store they are in.
  virtual bool reads(std::string_view path) const = 0;
  // kInvalid, with how to write it, when the address names no place.
  virtual Result<void> check(std::string_view root) const = 0;
  // The files below a root, the root itself when it is one; fn returns false to stop.
  using Take = std::function<bool(RemoteObject)>;
  virtual Result<void> list(const std::string& root, Wanted wanted, const Take& fn) = 0;
  // kNotFound when there is no such object.
  virtual Result<RemoteObject> head(const std::string& path) = 0;
  // At most `length` bytes from `offset`; fewer only at the end. kConflict when the object is no
  // longer the one it was.
  virtual Result<std::string> read(const RemoteObject& object, uint64_t offset,
                                   uint64_t length) = 0;
  // Puts an object there, whole at once: readers see the old one or the new one. With `before`, what
  // this program put there last and the content still begins with, stores that can join on their
  // side are sent only what came since. kUnsupported where nothing is written.
  virtual Result<RemoteObject> write(const std::string& path, UploadBytes& content,
                                     const RemoteObject* before);
};

inline constexpr uint64_t kUploadPart = uint64_t{8} << 20;  // bytes of a request that uploads

std::unique_ptr<ObjectStore> make_s3_store();           // s3://
std::unique_ptr<ObjectStore> make_google_store();       // gs://, asked as S3 is
std::unique_ptr<ObjectStore> make_azure_store();        // az://
std::unique_ptr<ObjectStore> make_http_folder_store();  // http:// and https:// with index pages
std::unique_ptr<ObjectStore> make_hdfs_store();         // hdfs:// and webhdfs://

bool is_event_file(std::string_view path);
// The root's last "/" and what follows it do not count: "s3://b/x/" and "s3://b/x" are one folder.
std::string as_folder(std::string_view root);
// An environment variable; empty when it is not set.
std::string variable(const char* name);

}  // namespace sonde::io
