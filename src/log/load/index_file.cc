#include "log/load/index_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/crc32c.h"
#include "base/sha256.h"
#include "codec/wire.h"
#include "io/mapped_file.h"
#include "io/remote/remote.h"

namespace sonde::store {
namespace {

// Header: magic, version, checksum of the description, where it begins and how long it is. Then
// columns, each at a multiple of 64 bytes, then the description: fields of protobuf.
constexpr std::array<char, 8> kMagic = {'S', 'O', 'N', 'D', 'E', 'I', 'D', 'X'};
constexpr uint32_t kVersion = 1;
constexpr size_t kAlign = 64;
struct Header {
  std::array<char, 8> magic;
  uint32_t version, checksum;
  uint64_t offset, length;
};
static_assert(sizeof(Header) == 32);

constexpr size_t kSamples = 16, kSampleBytes = 4096;

// Of blocks spread over the first `size` bytes of a file: a rewrite that keeps size and time
// changes some of them.
std::optional<uint32_t> sample(io::Source& source, uint64_t size) {
  std::array<std::byte, kSampleBytes> buffer;
  std::string all;
  for (size_t i = 0; i < kSamples; ++i) {
    const uint64_t room = size > kSampleBytes ? size - kSampleBytes : 0;
    const auto got = source.read_at(room / kSamples * i, buffer);
    if (!got) return std::nullopt;
    const size_t known = std::min<uint64_t>(*got, size - room / kSamples * i);
    all.append(reinterpret_cast<const char*>(buffer.data()), known);
  }
  return masked_crc32c(as_bytes(all));
}

// --- description

enum : uint32_t {  // of the whole
  kDevice = 1,
  kInode,
  kSize,
  kTime,
  kPosition,
  kSearchedTo,
  kEnd,
  kSample,
  kDamage,
  kDamaged,
  kSeed,
  kFacts,
  kStart,
  kPart,
  kPoints,
  kSkippedValues,
};

void put_metadata(wire::Encoder& encoder, uint32_t number, const Metadata& metadata) {
  encoder.message(number, [&](wire::Encoder& out) {
    out.bytes(1, metadata.plugin);
    out.bytes(2, metadata.content);
    out.bytes(3, metadata.display_name);
    out.bytes(4, metadata.description);
    out.varint(5, static_cast<uint64_t>(metadata.data_class));
    out.varint(6, metadata.from_v1 ? 1 : 0);
  });
}

std::shared_ptr<const Metadata> read_metadata(Bytes message) {
  auto metadata = std::make_shared<Metadata>();
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == 1) metadata->plugin = field.text();
    if (field.number == 2) metadata->content = field.text();
    if (field.number == 3) metadata->display_name = field.text();
    if (field.number == 4) metadata->description = field.text();
    if (field.number == 5) metadata->data_class = static_cast<event::DataClass>(field.bits);
    if (field.number == 6) metadata->from_v1 = field.as_bool();
  }
  return metadata;
}

std::string_view raw(const BlobPoint* points, uint64_t count) {
  return {reinterpret_cast<const char*>(points), count * sizeof(BlobPoint)};
}

// Points are kept as they stand in memory; the file they are in has another number now.
std::vector<BlobPoint> read_points(Bytes bytes, FileId file) {
  std::vector<BlobPoint> points(bytes.size() / sizeof(BlobPoint));
  if (!points.empty()) std::memcpy(points.data(), bytes.data(), points.size() * sizeof(BlobPoint));
  for (BlobPoint& point : points) point.where.file = file;
  return points;
}

void put_facts(wire::Encoder& encoder, const FileFacts& facts) {
  encoder.message(kFacts, [&](wire::Encoder& out) {
    out.varint(1, facts.records);
    out.varint(2, facts.events);
    out.real(3, facts.first_wall_time);
    out.real(4, facts.min_wall_time);
    out.real(5, facts.max_wall_time);
    out.varint(6, facts.has_summary ? 1 : 0);
    out.real(7, facts.first_summary_time);
    out.fixed64(8, std::bit_cast<uint64_t>(facts.first_summary_step));
    out.fixed64(9, std::bit_cast<uint64_t>(facts.last_summary_step));
    out.varint(10, facts.has_version ? 1 : 0);
    out.real(11, facts.version);
    out.bytes(12, raw(facts.meta_graphs.data(), facts.meta_graphs.size()));
  });
}

void read_facts(Bytes message, FileId file, FileFacts& facts) {
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    switch (field.number) {
      case 1:
        facts.records = field.bits;
        break;
      case 2:
        facts.events = field.bits;
        break;
      case 3:
        facts.first_wall_time = field.as_double();
        break;
      case 4:
        facts.min_wall_time = field.as_double();
        break;
      case 5:
        facts.max_wall_time = field.as_double();
        break;
      case 6:
        facts.has_summary = field.as_bool();
        break;
      case 7:
        facts.first_summary_time = field.as_double();
        break;
      case 8:
        facts.first_summary_step = std::bit_cast<Step>(field.bits);
        break;
      case 9:
        facts.last_summary_step = std::bit_cast<Step>(field.bits);
        break;
      case 10:
        facts.has_version = field.as_bool();
        break;
      case 11:
        facts.version = field.as_double();
        break;
      case 12:
        facts.meta_graphs = read_points(field.bytes, file);
        break;
      default:
        break;
    }
  }
}

void put_damage(wire::Encoder& encoder, const Damage& damage) {
  encoder.message(kDamage, [&](wire::Encoder& out) {
    out.varint(1, damage.offset);
    out.varint(2, damage.length);
    out.bytes(3, damage.kind);
    out.varint(4, static_cast<uint64_t>(damage.severity));
    out.bytes(5, damage.text);
    out.bytes(6, damage.advice);
  });
}

Damage read_damage(Bytes message, FileId file) {
  Damage damage;
  damage.file = file;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == 1) damage.offset = field.bits;
    if (field.number == 2) damage.length = field.bits;
    if (field.number == 3) damage.kind = field.text();
    if (field.number == 4) damage.severity = static_cast<Severity>(field.bits);
    if (field.number == 5) damage.text = field.text();
    if (field.number == 6) damage.advice = field.text();
  }
  return damage;
}

// A chunk: type, size, where its columns are and their checksum.
struct ChunkPlace {
  uint64_t type = 0, size = 0, offset = 0, checksum = 0;
};

size_t chunk_bytes(const ChunkPlace& place) {
  return place.size * (16 + width_of(static_cast<ValueType>(place.type)));
}

// --- writing

class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}
  void put(const void* data, size_t size) {
    const char* at = static_cast<const char*>(data);
    offset_ += size;
    while (ok_ && size > 0) {
      const ssize_t written = ::write(fd_, at, size);
      if (written < 0 && errno == EINTR) continue;
      ok_ = written > 0;
      if (!ok_) break;
      at += written;
      size -= static_cast<size_t>(written);
    }
  }
  void align() {
    static constexpr std::array<char, kAlign> kNothing{};
    if (offset_ % kAlign != 0) put(kNothing.data(), kAlign - offset_ % kAlign);
  }
  uint64_t offset() const { return offset_; }
  bool ok() const { return ok_; }

 private:
  const int fd_;
  uint64_t offset_ = 0;
  bool ok_ = true;
};

// Small enough that the ends of a series, which lists look at, cost little to compare.
constexpr uint32_t kMostInPiece = 16384;

// Some points of a chunk, the three columns close together, without the room to grow.
ChunkPlace put_piece(Output& out, const Chunk& chunk, uint32_t from, std::string& scratch) {
  out.align();
  const uint32_t size = std::min(kMostInPiece, chunk.size - from);
  ChunkPlace place{static_cast<uint64_t>(chunk.type), size, out.offset(), 0};
  scratch.clear();
  const auto add = [&](const void* column, size_t width) {
    scratch.append(static_cast<const char*>(column) + width * from, width * size);
  };
  add(chunk.steps(), sizeof(Step));
  add(chunk.wall_times(), sizeof(double));
  add(chunk.values(), width_of(chunk.type));
  place.checksum = masked_crc32c(as_bytes(scratch));
  out.put(scratch.data(), scratch.size());
  return place;
}

void put_part(wire::Encoder& encoder, Output& out, const Part& part, const FileColumns& columns,
              std::string& scratch) {
  std::vector<ChunkPlace> chunks;
  for (const Chunk& chunk : part.chunks) {
    columns.check(chunk);
    for (uint32_t from = 0; from < chunk.size; from += kMostInPiece)
      chunks.push_back(put_piece(out, chunk, from, scratch));
  }
  encoder.message(kPart, [&](wire::Encoder& into) {
    into.bytes(1, part.tag);
    if (part.metadata) put_metadata(into, 2, *part.metadata);
    into.varint(3, part.is_scalar ? 1 : 0);
    into.varint(4, part.mixed ? 1 : 0);
    into.varint(5, static_cast<uint64_t>(part.type));
    for (const ChunkPlace& chunk : chunks) {
      into.message(6, [&](wire::Encoder& place) {
        place.varint(1, chunk.type);
        place.varint(2, chunk.size);
        place.varint(3, chunk.offset);
        place.varint(4, chunk.checksum);
      });
    }
    into.bytes(7, raw(part.references.data(), part.references.size()));
    for (const MistypedValue& stray : part.strays) {
      into.message(8, [&](wire::Encoder& one) {
        one.bytes(1, raw(&stray.point, 1));
        one.varint(2, stray.position);
      });
    }
    for (const Cut& cut : part.cuts) {
      into.message(9, [&](wire::Encoder& one) {
        one.varint(1, cut.position);
        one.fixed64(2, std::bit_cast<uint64_t>(cut.step));
      });
    }
    into.varint(10, part.unreadable);
  });
}

// --- reading

struct Reading {
  Bytes all;
  IndexColumns& columns;
  FileId file;
  bool ok = true;
};

// Where a piece of a part's columns is; its bytes are not looked at.
std::optional<Chunk> read_chunk(Bytes message, const std::string& tag, uint64_t first,
                                Reading& reading) {
  ChunkPlace place;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == 1) place.type = field.bits;
    if (field.number == 2) place.size = field.bits;
    if (field.number == 3) place.offset = field.bits;
    if (field.number == 4) place.checksum = field.bits;
  }
  const Bytes& all = reading.all;
  if (place.type > static_cast<uint64_t>(ValueType::kBool) || place.size == 0 ||
      place.size > UINT32_MAX || place.offset % kAlign != 0 || place.offset > all.size() ||
      chunk_bytes(place) > all.size() - place.offset)
    return std::nullopt;
  // Full chunks are never written to: points that follow go to a new one.
  const Chunk chunk{const_cast<std::byte*>(all.data() + place.offset),
                    static_cast<uint32_t>(place.size), static_cast<uint32_t>(place.size),
                    static_cast<ValueType>(place.type)};
  reading.columns.add(chunk, tag, first, static_cast<uint32_t>(place.checksum));
  return chunk;
}

DecodedFile::TaggedPart read_part(Bytes message, Reading& reading) {
  DecodedFile::TaggedPart result;
  Part& part = result.part;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    switch (field.number) {
      case 1:
        result.tag = field.text();
        break;
      case 2:
        part.metadata = read_metadata(field.bytes);
        break;
      case 3:
        part.is_scalar = field.as_bool();
        break;
      case 4:
        part.mixed = field.as_bool();
        break;
      case 5:
        part.type = static_cast<ValueType>(std::min<uint64_t>(field.bits, 4));
        break;
      case 6:
        if (const auto chunk = read_chunk(field.bytes, result.tag, part.numbers(), reading)) {
          if (!part.chunks.empty()) part.closed_size += part.chunks.back().size;
          part.chunks.push_back(*chunk);
        } else {
          reading.ok = false;
        }
        break;
      case 7:
        for (const BlobPoint& point : read_points(field.bytes, reading.file))
          part.references.push(point);
        break;
      case 8: {
        MistypedValue stray;
        wire::Cursor inner(field.bytes);
        for (wire::Field one; inner.next(one);) {
          if (one.number == 2) stray.position = one.bits;
          if (one.number != 1) continue;
          const auto points = read_points(one.bytes, reading.file);
          if (!points.empty()) stray.point = points[0];
        }
        part.strays.push_back(stray);
        break;
      }
      case 9: {
        Cut cut;
        wire::Cursor inner(field.bytes);
        for (wire::Field one; inner.next(one);) {
          if (one.number == 1) cut.position = one.bits;
          if (one.number == 2) cut.step = std::bit_cast<Step>(one.bits);
        }
        part.cuts.push_back(cut);
        break;
      }
      case 10:
        part.unreadable = field.bits;
        break;
      default:
        break;
    }
  }
  return result;
}

SessionStart read_start(Bytes message) {
  SessionStart start;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == 1) start.step = std::bit_cast<Step>(field.bits);
    if (field.number == 2) start.sizes.push_back(field.bits);
  }
  return start;
}

IndexPlace& index_place() {
  static IndexPlace place;
  return place;
}

}  // namespace

void set_index_place(IndexPlace place) { index_place() = std::move(place); }

bool writes_indexes() { return index_place().where != IndexPlace::Where::kNowhere; }

std::string index_path_of(const std::string& event_file) {
  const IndexPlace& place = index_place();
  const std::string name = sha256_hex(event_file).substr(0, 32) + ".index";
  if (place.where == IndexPlace::Where::kFolder) return place.folder + "/" + name;
  if (io::is_remote(event_file)) return "";
  return event_file.substr(0, event_file.rfind('/')) + "/.sonde/index/" + name;
}

Result<Indexed> read_index(const std::string& path, io::Source& source, FileId file) {
  const auto corrupt = [&] { return fail(Code::kCorrupt, path + ": the index is damaged"); };
  const auto stale = [&] { return fail(Code::kNotFound, path + ": the file is another one now"); };
  if (::access(path.c_str(), R_OK) != 0) return fail(Code::kNotFound, path + ": no index");
  auto opened = io::MappedFile::open(path);
  if (!opened) return fail(opened.error());
  const auto mapped = std::make_shared<const io::MappedFile>(std::move(*opened));
  const Bytes all = mapped->bytes();
  if (all.size() < sizeof(Header)) return corrupt();
  const auto header = load<Header>(all, 0);
  if (header.magic != kMagic) return corrupt();
  if (header.version != kVersion) return fail(Code::kNotFound, path + ": of another version");
  if (header.offset > all.size() || header.length > all.size() - header.offset) return corrupt();
  const Bytes description = all.subspan(header.offset, header.length);
  if (masked_crc32c(description) != header.checksum) return corrupt();

  Indexed result;
  uint32_t sampled = 0;
  std::vector<Bytes> parts;
  wire::Cursor cursor(description);
  for (wire::Field field; cursor.next(field);) {
    switch (field.number) {
      case kDevice:
        result.stat.device = field.bits;
        break;
      case kInode:
        result.stat.inode = field.bits;
        break;
      case kSize:
        result.stat.size = field.bits;
        break;
      case kTime:
        result.stat.mtime_ns = std::bit_cast<int64_t>(field.bits);
        break;
      case kPosition:
        result.position = field.bits;
        break;
      case kSearchedTo:
        result.searched_to = field.bits;
        break;
      case kEnd:
        result.end.assign(field.bytes.begin(), field.bytes.end());
        break;
      case kSample:
        sampled = static_cast<uint32_t>(field.bits);
        break;
      case kDamage:
        result.damage.push_back(read_damage(field.bytes, file));
        break;
      case kDamaged:
        result.damaged = field.bits;
        break;
      case kSeed: {
        std::string tag;
        wire::Cursor inner(field.bytes);
        for (wire::Field one; inner.next(one);) {
          if (one.number == 1) tag = one.text();
          if (one.number == 2) result.seeds[tag] = read_metadata(one.bytes);
        }
        break;
      }
      case kFacts:
        read_facts(field.bytes, file, result.decoded.facts);
        break;
      case kStart:
        result.decoded.starts.push_back(read_start(field.bytes));
        break;
      case kPart:
        parts.push_back(field.bytes);
        break;
      case kPoints:
        result.decoded.points = field.bits;
        break;
      case kSkippedValues:
        result.decoded.skipped_values = field.bits;
        break;
      default:
        break;
    }
  }
  if (!cursor.ok()) return corrupt();
  // The file it was made from, or the same file with more behind it.
  const io::FileStat& now = source.stat();
  result.stat.regular = true;
  if (!source.random_access() || !now.same_file(result.stat) || now.size < result.position ||
      (now.size == result.stat.size && now.mtime_ns != result.stat.mtime_ns) ||
      result.end.size() > result.position)
    return stale();
  if (sample(source, result.position) != sampled) return stale();

  result.columns = std::make_shared<IndexColumns>(path, mapped);
  Reading reading{all, *result.columns, file};
  for (const Bytes part : parts) {
    result.decoded.parts.push_back(read_part(part, reading));
    if (!reading.ok) return corrupt();
  }
  for (const SessionStart& start : result.decoded.starts) {
    if (start.sizes.size() > result.decoded.parts.size()) return corrupt();
  }
  result.decoded.keep = result.columns;
  return result;
}

Result<void> write_index(const std::string& path, io::Source& source, const IndexContent& content) {
  const auto sampled = sample(source, content.position);
  if (!sampled) return fail(Code::kIo, path + ": the event file cannot be read");
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const std::string temporary = path + ".new." + std::to_string(::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return fail(Code::kIo, temporary + ": " + std::strerror(errno));
  Output out(fd);
  Header header{kMagic, kVersion, 0, 0, 0};
  out.put(&header, sizeof header);
  std::string description, scratch;
  wire::Encoder encoder(description);
  encoder.varint(kDevice, content.stat.device);
  encoder.varint(kInode, content.stat.inode);
  encoder.varint(kSize, content.stat.size);
  encoder.fixed64(kTime, std::bit_cast<uint64_t>(content.stat.mtime_ns));
  encoder.varint(kPosition, content.position);
  encoder.varint(kSearchedTo, content.searched_to);
  encoder.bytes(kEnd, as_text(content.end));
  encoder.varint(kSample, *sampled);
  for (const Damage& damage : content.damage) put_damage(encoder, damage);
  encoder.varint(kDamaged, content.damaged);
  for (const auto& [tag, metadata] : content.seeds) {
    encoder.message(kSeed, [&](wire::Encoder& seed) {
      seed.bytes(1, tag);
      if (metadata) put_metadata(seed, 2, *metadata);
    });
  }
  put_facts(encoder, content.decoder.facts());
  for (const SessionStart& start : content.decoder.starts()) {
    encoder.message(kStart, [&](wire::Encoder& one) {
      one.fixed64(1, std::bit_cast<uint64_t>(start.step));
      for (const uint64_t size : start.sizes) one.varint(2, size);
    });
  }
  for (const Part& part : content.decoder.parts())
    put_part(encoder, out, part, *content.decoder.columns(), scratch);
  encoder.varint(kPoints, content.decoder.points());
  encoder.varint(kSkippedValues, content.decoder.skipped_values());
  out.align();
  header.offset = out.offset();
  header.length = description.size();
  header.checksum = masked_crc32c(as_bytes(description));
  out.put(description.data(), description.size());
  const bool ok = out.ok() && ::pwrite(fd, &header, sizeof header, 0) == sizeof header;
  ::close(fd);
  if (!ok || ::rename(temporary.c_str(), path.c_str()) != 0) {
    ::unlink(temporary.c_str());
    return fail(Code::kIo, path + ": the index cannot be written");
  }
  return {};
}

}  // namespace sonde::store
