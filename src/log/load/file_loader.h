// One event file from its bytes to its parts, again and again while it grows. Finds out when the
// file was replaced, cut or removed; goes on after damage; keeps no descriptor open in between.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/file.h"
#include "log/load/record_decoder.h"
#include "log/model/parallel_for.h"
#include "log/record/frames.h"

namespace sonde::store {

// What the rest of the store sees of a file. Immutable.
struct FileSnapshot {
  FileId id{};
  uint64_t generation = 0;  // a new one when the file was read from its beginning again
  std::vector<std::shared_ptr<const PartView>> parts;  // in order of first appearance
  FileFacts facts;
  std::vector<SessionStart> starts;
  std::vector<Damage> damage;
  uint64_t damaged = 0;  // all damaged places, also those not listed
  uint64_t size_bytes = 0, read_bytes = 0, points = 0;
  std::string state;
  bool gone = false;
};

inline constexpr const char* kUnreadable = "unreadable";  // FileSnapshot::state, Damage::kind

class FileLoader {
 public:
  struct Place {
    FileId id{};
    std::string path;
    std::string name;
    std::string index = {};  // where what was found is kept for the next start; empty: nowhere
    // Reading goes on where it stopped although the source has no random access: while it is the
    // same file, the bytes before do not change.
    bool continues = false;
    bool writes_index = true;  // false: one that is there is used, none is made
  };
  using Open = std::function<Result<std::unique_ptr<io::Source>>(const std::string& path)>;
  FileLoader(Place place, std::shared_ptr<Memory> memory, Open open = io::open_records);

  // Reads what is new. One thread at a time; `help` takes part in a huge file. `published` is
  // called on the way through a long load, each time committed() shows more. False when the file
  // still cannot be opened and nothing has changed.
  bool update(ParallelFor help, const std::function<void()>& published);
  // The file is not there any more; what was read stays.
  void mark_gone();
  // Reads the file again from its beginning with what is known about tags by now.
  void reread_with(const MetadataHints& seeds);

  // Thread-safe.
  std::shared_ptr<const FileSnapshot> committed() const;
  const Place& place() const { return place_; }
  // Bytes looked at so far, for progress. Thread-safe.
  uint64_t bytes_done() const { return bytes_done_.load(std::memory_order_relaxed); }
  // What the last update() saw.
  const io::FileStat& stat() const { return stat_; }

 private:
  void reset();
  void read(io::Source& source, ParallelFor help, const std::function<void()>& published);
  void read_pieces(io::Source& source, ParallelFor help, const std::function<void()>& published);
  enum class Before : uint8_t { kSame, kOther, kUnreadable };
  Before look_before(io::Source& source);
  void restore(io::Source& source);
  void keep_index(io::Source& source);
  void set_unreadable(std::string text, std::string advice);
  void remember_end(io::Source& source);
  void commit(const ParallelFor* help = nullptr);

  const Place place_;
  const std::shared_ptr<Memory> memory_;
  const Open open_;
  MetadataHints seeds_;
  std::unique_ptr<RecordDecoder> sink_;
  io::FileStat stat_;
  bool was_read_ = false;
  bool looked_for_index_ = false;
  uint64_t indexed_to_ = 0;     // position of what the index holds
  uint64_t position_ = 0;       // of the next frame
  uint64_t searched_to_ = 0;    // no good frame begins between position_ and here
  std::vector<std::byte> end_;  // the last bytes before position_: do they still stand there?
  std::vector<Damage> damage_;
  uint64_t damaged_ = 0;
  std::optional<Damage> tail_;  // what is wrong at the end; may still become right
  std::string state_ = "loading";
  bool gone_ = false;
  uint64_t generation_ = 1;
  std::vector<std::shared_ptr<const PartView>> views_;
  std::atomic<uint64_t> bytes_done_ = 0;

  mutable std::mutex mutex_;  // guards: committed_
  std::shared_ptr<const FileSnapshot> committed_;
};

}  // namespace sonde::store
