// What one reading of an event file found, kept on disk for the next start: columns that are mapped
// and used as they are, references, damage, and what tells the file from any other. Written whole
// under another name and renamed; a version, a checksum of the description and samples of the event
// file decide whether it is used, checksums of the columns are compared when they are first read
// (index_columns.h). A lost, stale or damaged index costs the time of reading the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/file.h"
#include "log/load/index_columns.h"

namespace sonde::store {

// Where indexes are kept. Set once, before a store is opened. Unless it is set none is written;
// those that stand beside the logs are used all the same.
struct IndexPlace {
  enum class Where : uint8_t { kNowhere, kBesideLogs, kFolder } where = Where::kNowhere;
  std::string folder;  // of kFolder
};
void set_index_place(IndexPlace place);
bool writes_indexes();
// The path of an event file's index; empty when there is none to be.
std::string index_path_of(const std::string& event_file);

// Everything that FileLoader needs to go on behind `position`.
struct Indexed {
  io::FileStat stat;
  uint64_t position = 0, searched_to = 0;
  std::vector<std::byte> end;  // the last bytes before position
  std::vector<Damage> damage;
  uint64_t damaged = 0;
  MetadataHints seeds;
  DecodedFile decoded;
  std::shared_ptr<IndexColumns> columns;  // decoded.keep
};

// kNotFound when there is none or it does not fit the source as it is now; kCorrupt when it is
// damaged. References carry `file`.
Result<Indexed> read_index(const std::string& path, io::Source& source, FileId file);

struct IndexContent {
  const io::FileStat& stat;
  uint64_t position, searched_to;
  const std::vector<std::byte>& end;
  const std::vector<Damage>& damage;
  uint64_t damaged;
  const MetadataHints& seeds;
  RecordDecoder& decoder;
};
Result<void> write_index(const std::string& path, io::Source& source, const IndexContent& content);

}  // namespace sonde::store
