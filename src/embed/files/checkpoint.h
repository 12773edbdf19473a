// TensorFlow checkpoints of the second format: an index (a LevelDB table from tensor names to where
// they are) and shards of raw values. Only what the projector shows is read: numbers of rank 2.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "log/event/tensor.h"

namespace sonde::embed {

class Checkpoint {
 public:
  struct Entry {
    event::DataType type = event::DataType::kInvalid;
    std::vector<int64_t> shape;
    uint32_t shard = 0;
    uint64_t offset = 0, size = 0;
    uint32_t crc = 0;
    bool is_sliced = false;  // a partitioned variable
  };

  // Reads `prefix`.index. kNotFound, kCorrupt, kUnsupported (big-endian, the first format).
  static Result<Checkpoint> open(const std::string& prefix);

  const std::map<std::string, Entry>& tensors() const { return entries_; }

  // The first `rows` rows of a matrix as floats (0 = all). The checksum is verified when the whole
  // tensor is read.
  Result<std::vector<float>> matrix(const std::string& name, uint64_t rows) const;

 private:
  std::string prefix_;
  uint32_t shards_ = 1;
  std::map<std::string, Entry> entries_;
};

// The newest checkpoint that the file `checkpoint` in `folder` names, as a prefix below `root`;
// empty when there is none.
std::string latest_checkpoint(const std::string& folder, const std::string& root);

}  // namespace sonde::embed
