// The columns that a mapped index holds. A start compares none of them with their checksums: whoever
// reads a piece first does, so that opening a hundred million points reads no point. A piece that is
// damaged is made again from the event file, in place.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/mapped_file.h"
#include "log/load/record_decoder.h"

namespace sonde::store {

class IndexColumns final : public UncheckedColumns {
 public:
  // Decodes what the index was made from once more, as far as the index goes.
  using Reread = std::function<Result<std::unique_ptr<RecordDecoder>>()>;

  IndexColumns(std::string path, std::shared_ptr<const io::MappedFile> mapped)
      : path_(std::move(path)), mapped_(std::move(mapped)) {}

  // Points [first, first + chunk.size) of a tag's numbers; all pieces are added before the first
  // check().
  void add(const Chunk& chunk, const std::string& tag, uint64_t first, uint32_t checksum);
  void set_reread(Reread reread) { reread_ = std::move(reread); }

  void check(const std::byte* columns) const override;

 private:
  struct Piece {
    Chunk chunk;
    uint32_t tag = 0;  // index into tags_
    uint64_t first = 0;
    uint32_t checksum = 0;
    Bytes bytes() const;
  };
  void repair() const;
  void restore(const Piece& piece, const Part* from) const;

  const std::string path_;
  const std::shared_ptr<const io::MappedFile> mapped_;
  Reread reread_;
  std::vector<std::string> tags_;
  std::vector<Piece> pieces_;  // by address
  // A deque: its elements never move. True: compared, or made again.
  mutable std::deque<std::atomic<bool>> is_good_;
  mutable std::mutex mutex_;  // held while pieces are made again
};

}  // namespace sonde::store
