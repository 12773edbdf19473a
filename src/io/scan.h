// Which runs a log directory holds: every folder that directly holds a file whose name contains
// "tfevents". Symbolic links are followed, a link to one of its own ancestors is not.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "io/file.h"

namespace sonde::io {

struct ScanRoot {
  std::string name;  // prefix of run names (--logdir_spec name:path); usually empty
  std::string path;
};

struct FoundFile {
  std::string name;  // inside the run's folder
  std::string path;
  FileStat stat;
  bool is_link = false;  // a change of its target makes no noise in this folder
};

struct FoundRun {
  std::string name;  // path below the root with '/', "." for the root itself
  std::string folder;
  std::vector<FoundFile> files;  // sorted by name
};

struct SkippedPath {
  std::string path;
  std::string reason;
};

struct Scan {
  std::vector<FoundRun> runs;        // sorted by name
  std::vector<std::string> folders;  // every folder visited, to watch
  std::vector<SkippedPath> skipped;
  bool has_links = false;  // some event file is a link
  uint64_t bytes = 0;      // of all event files
  uint64_t files = 0;
};

// A root that does not exist (yet) gives nothing; one that is a file is taken as a run of that
// file. Of two runs with one name the later root's wins, and the other is in `skipped`.
Scan scan(const std::vector<ScanRoot>& roots);

// A folder by the name a run in it has.
struct NamedFolder {
  std::string name;  // path below the root with '/', "." for the root itself
  std::string path;
  std::string root;
};

// The folders of a scan of these roots; of an object store those with other files than logs, as
// folders of this machine (io/remote/beside.h).
std::vector<NamedFolder> named_folders(const Scan& scan, const std::vector<ScanRoot>& roots);

// The absolute path with a leading ~ replaced by the home directory.
std::string absolute_path(const std::string& path);

// The roots of TensorBoard's --logdir_spec: [name:]path,[name:]path...
std::vector<ScanRoot> parse_logdir_spec(const std::string& spec);

}  // namespace sonde::io
