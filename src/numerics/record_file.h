// One growing record file of a dump: reads on from where it stopped, skips what is damaged, and
// reads single records again when somebody asks for them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "io/file.h"
#include "log/record/frames.h"

namespace sonde::numerics {

struct RecordDamage {
  std::string path;
  uint64_t offset = 0;
  std::string text;
};

class RecordFile {
 public:
  explicit RecordFile(std::string path) : path_(std::move(path)) {}

  // The records between the last position and the end of the file, a window at a time: fn gets the
  // window's bytes and its intact frames; `offset` is where the window begins in the file. Returns
  // false when the file was replaced or shortened: forget everything and read anew.
  using Take =
      std::function<void(Bytes window, uint64_t offset, const std::vector<record::Frame>& frames)>;
  bool read_on(const Take& take);

  const std::string& path() const { return path_; }
  uint64_t position() const { return position_; }
  uint64_t size() const { return stat_.size; }
  // The file ends inside a record, which may still be written.
  bool has_torn_tail() const { return position_ < stat_.size; }
  const std::vector<RecordDamage>& damages() const { return damages_; }
  uint64_t damage_count() const { return damage_count_; }
  void add_damage(uint64_t offset, std::string text);

 private:
  bool advance(io::Source& source, const Take& take);

  std::string path_;
  io::FileStat stat_;
  uint64_t position_ = 0;
  std::vector<RecordDamage> damages_;
  uint64_t damage_count_ = 0;
};

// Reads records by their place; keeps the file open between two reads.
class RecordReads {
 public:
  explicit RecordReads(std::string path) : path_(std::move(path)) {}
  // The payload of the record whose payload begins at `offset`; valid until the next call.
  Result<Bytes> at(uint64_t offset);

 private:
  std::string path_;
  std::unique_ptr<io::Source> source_;
  std::vector<std::byte> buffer_;
};

}  // namespace sonde::numerics
