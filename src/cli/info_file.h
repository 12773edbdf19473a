// The registry of running servers that notebooks and editors read: a small JSON file per process in
// <tempdir>/.tensorboard-info, in the form of TensorBoard's manager. Removed when it is dropped.
#pragma once

#include <string>

#include "cli/commands.h"

namespace sonde::cli {

struct Instance {
  std::string logdir;  // or the logdir_spec
  std::string path_prefix;
  uint16_t port = 0;
  Args arguments;  // as typed, without the program's name
};

class InfoFile {
 public:
  // A registry that cannot be written is not worth a failure: the file is then simply absent.
  explicit InfoFile(const Instance& instance);
  ~InfoFile();
  InfoFile(const InfoFile&) = delete;
  InfoFile& operator=(const InfoFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// What equals for two servers started the same way: base64 of JSON of arguments and directory.
std::string cache_key(const Args& arguments, const std::string& working_directory);

}  // namespace sonde::cli
