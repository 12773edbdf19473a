// A table opened for reading: the rows of all its files as JSON lines with their steps, numbered
// through. JSON lines are read in place with an index; Parquet is held as text while it is used.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/v1/beside/sample_files.h"
#include "codec/json_read.h"
#include "log/query/lines/line_file.h"

namespace sonde::api::v1 {

class TableSource {
 public:
  static Result<TableSource> open(const Context& context, const TableFile& table);

  uint64_t lines() const { return lines_; }
  int64_t step(uint64_t line) const;
  std::vector<int64_t> different_steps() const;  // ascending
  // Calls fn(row number, line) from `first` on until it returns false.
  Result<void> read(uint64_t first,
                    const std::function<bool(uint64_t, std::string_view)>& fn) const;

 private:
  struct Part {
    std::string path;
    uint64_t first = 0;  // number of its first row
    std::shared_ptr<const query::LineIndex> index;
    std::shared_ptr<const std::string> text;  // of Parquet; else the file is read
  };
  const Part& part_of(uint64_t line) const;

  std::vector<Part> parts_;
  uint64_t lines_ = 0;
};

// A row as a tree. What trainers write in their own ways becomes what Sonde's tables hold: lists of
// one (NeMo-RL's batches) their only item, lists of tokens or token ids with equally long lists of
// numbers beside them tokens with values.
Result<JsonValue> read_row(std::string_view line);

}  // namespace sonde::api::v1
