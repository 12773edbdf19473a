#include "embed/files/checkpoint.h"

#include <fmt/format.h>
#include <leveldb/env.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/table.h>

#include <algorithm>
#include <memory>
#include <span>

#include "base/crc32c.h"
#include "codec/text_proto.h"
#include "codec/wire.h"
#include "io/confine.h"
#include "io/file.h"

namespace sonde::embed {
namespace {

constexpr uint64_t kMaxTensorBytes = uint64_t{2} << 30;
constexpr size_t kMaxTensors = 1'000'000;

std::vector<int64_t> shape_of(Bytes message) {
  std::vector<int64_t> shape;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number != 2 || !field.is_bytes()) continue;
    int64_t size = 0;
    wire::Cursor dim(field.bytes);
    for (wire::Field part; dim.next(part);) {
      if (part.number == 1) size = part.as_int();
    }
    shape.push_back(size);
  }
  return shape;
}

Checkpoint::Entry entry_of(Bytes message) {
  Checkpoint::Entry entry;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    switch (field.number) {
      case 1:
        entry.type = static_cast<event::DataType>(static_cast<int32_t>(field.bits));
        break;
      case 2:
        entry.shape = shape_of(field.bytes);
        break;
      case 3:
        entry.shard = static_cast<uint32_t>(field.bits);
        break;
      case 4:
        entry.offset = field.bits;
        break;
      case 5:
        entry.size = field.bits;
        break;
      case 6:
        entry.crc = static_cast<uint32_t>(field.bits);
        break;
      case 7:
        entry.is_sliced = true;
        break;
      default:
        break;
    }
  }
  return entry;
}

// Bytes of one element; 0 when it is no number.
uint64_t width_of(event::DataType type) {
  using enum event::DataType;
  switch (type) {
    case kDouble:
    case kInt64:
    case kUint64:
      return 8;
    case kFloat:
    case kInt32:
    case kUint32:
      return 4;
    case kHalf:
    case kBfloat16:
    case kInt16:
    case kUint16:
      return 2;
    case kInt8:
    case kUint8:
    case kBool:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

Result<Checkpoint> Checkpoint::open(const std::string& prefix) {
  const std::string path = prefix + ".index";
  SONDE_TRY(const stat, io::stat_of(path));
  leveldb::RandomAccessFile* opened = nullptr;
  leveldb::Status status = leveldb::Env::Default()->NewRandomAccessFile(path, &opened);
  if (!status.ok()) return fail(Code::kIo, path + ": " + status.ToString());
  const std::unique_ptr<leveldb::RandomAccessFile> file(opened);
  leveldb::Options options;
  options.paranoid_checks = true;
  leveldb::Table* table_pointer = nullptr;
  status = leveldb::Table::Open(options, file.get(), stat.size, &table_pointer);
  const std::unique_ptr<leveldb::Table> table(table_pointer);
  if (!status.ok()) return fail(Code::kCorrupt, path + ": " + status.ToString());

  Checkpoint checkpoint;
  checkpoint.prefix_ = prefix;
  leveldb::ReadOptions read;
  read.verify_checksums = true;
  const std::unique_ptr<leveldb::Iterator> entries(table->NewIterator(read));
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    const std::string_view key(entries->key().data(), entries->key().size());
    const Bytes value =
        as_bytes(std::string_view(entries->value().data(), entries->value().size()));
    if (!key.empty()) {
      checkpoint.entries_.emplace(key, entry_of(value));
      if (checkpoint.entries_.size() > kMaxTensors)
        return fail(Code::kTooLarge, path + ": too many tensors");
      continue;
    }
    wire::Cursor header(value);
    for (wire::Field field; header.next(field);) {
      if (field.number == 1) checkpoint.shards_ = static_cast<uint32_t>(field.bits);
      if (field.number == 2 && field.bits != 0) {
        return fail(Code::kUnsupported, path + ": written on a big-endian machine");
      }
    }
  }
  if (!entries->status().ok())
    return fail(Code::kCorrupt, path + ": " + entries->status().ToString());
  return checkpoint;
}

Result<std::vector<float>> Checkpoint::matrix(const std::string& name, uint64_t rows) const {
  const auto found = entries_.find(name);
  if (found == entries_.end())
    return fail(Code::kNotFound, "tensor \"" + name + "\" is not in the checkpoint");
  const Entry& entry = found->second;
  const std::string what = "tensor \"" + name + "\"";
  const uint64_t width = width_of(entry.type);
  if (entry.is_sliced)
    return fail(Code::kUnsupported, what + " is partitioned into slices, which are not read");
  if (width == 0 || entry.shape.size() != 2)
    return fail(Code::kUnsupported, what + " is no matrix of numbers");
  const auto whole_rows = static_cast<uint64_t>(std::max<int64_t>(entry.shape[0], 0));
  const auto columns = static_cast<uint64_t>(std::max<int64_t>(entry.shape[1], 0));
  const uint64_t kept = rows == 0 ? whole_rows : std::min(rows, whole_rows);
  const __uint128_t whole_bytes = static_cast<__uint128_t>(whole_rows) * columns * width;
  if (whole_bytes != entry.size)
    return fail(Code::kCorrupt, what + " has another size than its shape says");
  const uint64_t bytes = kept * columns * width;
  if (bytes > kMaxTensorBytes) return fail(Code::kTooLarge, what + " is larger than 2 GiB");

  const std::string path = fmt::format("{}.data-{:05}-of-{:05}", prefix_, entry.shard, shards_);
  SONDE_TRY(file, io::File::open(path));
  if (entry.offset > file.stat().size || entry.size > file.stat().size - entry.offset) {
    return fail(Code::kCorrupt, path + " ends before " + what);
  }
  std::vector<std::byte> raw(bytes);
  SONDE_TRY(const read, file.read_at(entry.offset, raw));
  if (read != bytes) return fail(Code::kCorrupt, path + " ends before " + what);
  if (kept == whole_rows && masked_crc32c(raw) != entry.crc) {
    return fail(Code::kCorrupt, what + ": the checksum does not match");
  }
  event::TensorView view;
  view.dtype = entry.type;
  view.dims = {static_cast<int64_t>(kept), static_cast<int64_t>(columns)};
  view.content = raw;
  return event::decode_floats(view, kMaxTensorBytes / 4);
}

std::string latest_checkpoint(const std::string& folder, const std::string& root) {
  constexpr uint64_t kMaxState = 1 << 20;
  const auto text = io::read_file(folder + "/checkpoint", kMaxState);
  if (!text) return {};
  const auto state = parse_text_proto(*text);
  if (!state) return {};
  const std::string named = state->text("model_checkpoint_path");
  if (named.empty()) return {};
  // An absolute path of the machine that wrote it: the same name beside the file is meant then.
  const std::string beside = named.substr(named.rfind('/') + 1);
  for (const std::string& candidate :
       {named.starts_with('/') ? named : folder + "/" + named, folder + "/" + beside}) {
    const auto inside = io::is_inside_root(root, candidate);
    if (inside && io::stat_of(*inside + ".index")) return *inside;
  }
  return {};
}

}  // namespace sonde::embed
