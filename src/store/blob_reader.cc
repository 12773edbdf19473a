#include "store/blob_reader.h"

#include <algorithm>
#include <utility>

#include "base/crc32c.h"
#include "io/file.h"
#include "record/frames.h"

namespace sonde::store {
namespace {

std::span<std::byte> writable(std::string& text) {
  return {reinterpret_cast<std::byte*>(text.data()), text.size()};
}

}  // namespace

FileId FileBlobReader::add_file(std::string path) {
  const std::lock_guard lock(mutex_);
  paths_.push_back(std::move(path));
  return static_cast<FileId>(paths_.size() - 1);
}

Result<std::string> FileBlobReader::path_of(FileId file) const {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<size_t>(file);
  if (index >= paths_.size()) return fail(Code::kNotFound, "no such file");
  return paths_[index];
}

Result<std::string> FileBlobReader::event(const Reference& where) const {
  SONDE_TRY(path, path_of(where.file));
  SONDE_TRY(source, io::open_records(path));
  if (where.length > record::kMaxPayload)
    return fail(Code::kTooLarge, path + ": the record is larger than two gigabytes");
  if (source->random_access() &&
      where.offset + where.length + record::kFooter > source->stat().size)
    return fail(Code::kNotFound, path + ": the file has become shorter since it was read");
  std::string bytes(static_cast<size_t>(where.length + record::kFooter), '\0');
  SONDE_TRY(got, source->read_at(where.offset, writable(bytes)));
  if (got < bytes.size())
    return fail(Code::kNotFound, path + ": the file has become shorter since it was read");
  const Bytes payload = as_bytes(bytes).first(static_cast<size_t>(where.length));
  if (masked_crc32c(payload) != load<uint32_t>(as_bytes(bytes), payload.size()))
    return fail(Code::kCorrupt,
                path + ": the record at byte " + std::to_string(where.offset) +
                    " does not match its checksum; the file is damaged or was replaced");
  bytes.resize(payload.size());
  return bytes;
}

Result<std::string> FileBlobReader::head(const Reference& where, uint64_t limit) const {
  SONDE_TRY(path, path_of(where.file));
  SONDE_TRY(source, io::open_records(path));
  std::string bytes(static_cast<size_t>(std::min({where.length, limit, record::kMaxPayload})),
                    '\0');
  SONDE_TRY(got, source->read_at(where.offset, writable(bytes)));
  bytes.resize(got);
  return bytes;
}

}  // namespace sonde::store
