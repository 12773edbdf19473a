// Files of lines that only grow (tables of rows, console output) and may be huge: an index of where
// lines begin, and reading any page of them without reading the rest. A last line without its end
// is one that is being written: it does not count yet.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/file.h"

namespace sonde::query {

inline constexpr size_t kMaxLineBytes = 8 << 20;  // of a longer line the beginning is kept

struct LineIndex {
  static constexpr uint64_t kEvery = 64;

  io::FileStat file;             // as it was when the index was made
  uint64_t bytes = 0;            // read so far: up to the end of the last whole line
  uint64_t lines = 0;            // whole lines
  std::vector<uint64_t> starts;  // of line 0, 64, 128 …
  std::vector<int64_t> steps;    // of every line, when asked for

  // Whether `now` is this file, grown or the same.
  bool is_beginning_of(const io::FileStat& now) const {
    return file.same_file(now) && now.size >= bytes;
  }
};

// Goes on from `earlier` (may be nullptr) when the file has only grown. `step_of` is asked for each
// line's step when given.
Result<LineIndex> index_lines(const std::string& path, const LineIndex* earlier,
                              const std::function<int64_t(std::string_view)>& step_of);

// Calls fn(line number, text) for whole lines from `first` on until it returns false.
Result<void> read_lines(const std::string& path, const LineIndex& index, uint64_t first,
                        const std::function<bool(uint64_t, std::string_view)>& fn);

}  // namespace sonde::query
