// Which dumps of tfdbg V2 a log directory holds: every folder with a file
// tfdbg_events.<time>.<host>.metadata, at any depth. File sets of one run id in one folder (several
// hosts) are one dump.
#pragma once

#include <string>
#include <vector>

#include "io/scan.h"

namespace sonde::numerics {

struct FileSet {
  std::string prefix;  // path without ".metadata"
  std::string host;    // from the file's name
  double wall_time = 0;
  int64_t rank = -1;  // sonde.debug
};

struct DumpFiles {
  std::string name;  // path below the root with '/', "." for the root itself
  std::string folder;
  std::string run_id, tensorflow_version, file_version, framework;
  std::vector<FileSet> sets;  // the one that began first is the primary
  double start_time() const { return sets.empty() ? 0 : sets.front().wall_time; }
};

// Sorted by name, of one folder by start. A metadata file that cannot be read is left out and
// named in `problems`.
std::vector<DumpFiles> dumps_in(const std::vector<io::NamedFolder>& folders,
                                std::vector<std::string>* problems = nullptr);
// The same, walking the roots first.
std::vector<DumpFiles> find_dumps(const std::vector<io::ScanRoot>& roots,
                                  std::vector<std::string>* problems = nullptr);

}  // namespace sonde::numerics
