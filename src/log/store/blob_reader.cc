#include "log/store/blob_reader.h"

#include <algorithm>
#include <utility>

#include "base/crc32c.h"
#include "io/file.h"
#include "log/record/frames.h"

namespace sonde::store {
namespace {

std::span<std::byte> writable(std::string& text) {
  return {reinterpret_cast<std::byte*>(text.data()), text.size()};
}

Result<std::string> payload_of(io::Source& source, const std::string& path,
                               const Reference& where) {
  if (where.length > record::kMaxPayload)
    return fail(Code::kTooLarge, path + ": the record is larger than two gigabytes");
  if (source.random_access() && where.offset + where.length + record::kFooter > source.stat().size)
    return fail(Code::kNotFound, path + ": the file has become shorter since it was read");
  std::string bytes(static_cast<size_t>(where.length + record::kFooter), '\0');
  SONDE_TRY(got, source.read_at(where.offset, writable(bytes)));
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

}  // namespace

FileId FileBlobReader::add_file(std::string path) {
  const std::lock_guard lock(mutex_);
  if (free_.size() > kQuarantine) {
    const FileId file = free_.front();
    free_.pop_front();
    paths_[static_cast<size_t>(file)] = std::move(path);
    return file;
  }
  paths_.push_back(std::move(path));
  return static_cast<FileId>(paths_.size() - 1);
}

void FileBlobReader::remove_file(FileId file) {
  const std::lock_guard lock(mutex_);
  std::string().swap(paths_[static_cast<size_t>(file)]);
  free_.push_back(file);
}

Result<std::string> FileBlobReader::path_of(FileId file) const {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<size_t>(file);
  if (index >= paths_.size() || paths_[index].empty())
    return fail(Code::kNotFound, "the file was removed");
  return paths_[index];
}

Result<std::string> FileBlobReader::event(const Reference& where) const {
  SONDE_TRY(path, path_of(where.file));
  SONDE_TRY(source, open_(path));
  return payload_of(*source, path, where);
}

std::unique_ptr<BlobReader::Sequence> FileBlobReader::sequence() const {
  class KeptOpen final : public Sequence {
   public:
    explicit KeptOpen(const FileBlobReader& reader) : reader_(reader) {}

    Result<std::string> event(const Reference& where) override {
      if (!source_ || file_ != where.file) {
        SONDE_TRY(path, reader_.path_of(where.file));
        SONDE_TRY(source, reader_.open_(path));
        path_ = std::move(path);
        source_ = std::move(source);
        file_ = where.file;
      }
      return payload_of(*source_, path_, where);
    }

   private:
    const FileBlobReader& reader_;
    FileId file_{};
    std::string path_;
    std::unique_ptr<io::Source> source_;
  };
  return std::make_unique<KeptOpen>(*this);
}

Result<std::string> FileBlobReader::head(const Reference& where, uint64_t limit) const {
  SONDE_TRY(path, path_of(where.file));
  SONDE_TRY(source, open_(path));
  std::string bytes(static_cast<size_t>(std::min({where.length, limit, record::kMaxPayload})),
                    '\0');
  SONDE_TRY(got, source->read_at(where.offset, writable(bytes)));
  bytes.resize(got);
  return bytes;
}

}  // namespace sonde::store
