// Files of a log directory that are no event files, noted on the same walk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/scan.h"

namespace sonde::io {

struct OtherFile {
  std::string run;  // the name that a run in its folder has
  std::string folder, name, path;
  FileStat stat;
};

// scan(), and in `others`, sorted by path, the files whose names `is_wanted` says yes to. A root
// that is such a file is no event file.
Scan scan(const std::vector<ScanRoot>& roots, bool (*is_wanted)(std::string_view name),
          std::vector<OtherFile>& others);

}  // namespace sonde::io
