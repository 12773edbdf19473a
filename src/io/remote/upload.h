// A folder of this machine into a store. Each pass() uploads what is new or has changed since the
// last; of a file that has grown a store that can join is sent only the rest. Not thread-safe.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "io/file.h"
#include "io/remote/object_store.h"

namespace sonde::io {

// kInvalid or kUnsupported, with what to do, for a place nothing can be written to. Asks nobody.
Result<void> check_upload(const std::string& address);

struct Moved {
  uint64_t files = 0, bytes = 0;
};

class FolderUpload {
 public:
  using Wants = bool (*)(const std::string& below);
  // Files that `wants` says no to are somebody else's.
  FolderUpload(std::string folder, std::string address, Wants wants = nullptr)
      : folder_(std::move(folder)), address_(std::move(address)), wants_(wants) {}

  // Asks what is there: files of the same size that are not older are not sent again.
  Result<void> look();
  // Goes on behind a file that fails; the first failure is returned. Names that begin with a dot and
  // files that are still being made (".new.") are left out. `moved` counts what was sent.
  Result<void> pass(Moved& moved);
  // How many files a pass would send now.
  size_t waiting() const;
  // Removes the files that are in the store as they are here, and the folders that become empty.
  void remove_sent() const;

  const std::string& folder() const { return folder_; }
  const std::string& address() const { return address_; }

 private:
  struct Sent {
    FileStat stat;
    RemoteObject object;
  };
  std::map<std::string, FileStat> files() const;  // by path below the folder
  bool is_sent(const std::string& below, const FileStat& stat) const;

  std::string folder_, address_;
  Wants wants_;
  std::map<std::string, Sent> sent_;          // by this object
  std::map<std::string, RemoteObject> seen_;  // there when look() asked
};

// The other way: what is in the store into a folder.
Result<Moved> download_folder(const std::string& address, const std::string& folder);

}  // namespace sonde::io
