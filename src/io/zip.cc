#include "io/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

namespace sonde::io {
namespace {

constexpr uint32_t kEndMark = 0x06054b50, kEntryMark = 0x02014b50, kLocalMark = 0x04034b50;
constexpr size_t kEndSize = 22, kEntrySize = 46, kLocalSize = 30;
constexpr size_t kMaxComment = 65535;
constexpr size_t kMaxMembers = 20'000;

// Where the record at the end of the file begins.
Result<size_t> end_record(Bytes file) {
  if (file.size() < kEndSize) return fail(Code::kInvalid, "the zip file is cut off");
  const size_t last = file.size() - kEndSize;
  const size_t first = last > kMaxComment ? last - kMaxComment : 0;
  for (size_t at = last + 1; at-- > first;)
    if (load<uint32_t>(file, at) == kEndMark) return at;
  return fail(Code::kInvalid, "the zip file has no directory: it is cut off or something else");
}

Result<Bytes> packed_bytes(Bytes file, uint64_t at, uint64_t size) {
  if (at > file.size() || file.size() - at < kLocalSize || load<uint32_t>(file, at) != kLocalMark)
    return fail(Code::kInvalid, fmt::format("the zip file has no member at byte {}", at));
  const uint64_t begin =
      at + kLocalSize + load<uint16_t>(file, at + 26) + load<uint16_t>(file, at + 28);
  if (begin > file.size() || file.size() - begin < size)
    return fail(Code::kInvalid,
                fmt::format("the member at byte {} of the zip file is cut off", at));
  return file.subspan(begin, size);
}

}  // namespace

Result<std::vector<ZipMember>> zip_members(Bytes file) {
  SONDE_TRY(const end, end_record(file));
  const size_t count = load<uint16_t>(file, end + 10);
  uint64_t at = load<uint32_t>(file, end + 16);
  if (at == UINT32_MAX) return fail(Code::kUnsupported, "zip files beyond 4 GB are not read");
  std::vector<ZipMember> members;
  for (size_t i = 0; i < count && i < kMaxMembers; ++i) {
    if (at > end || end - at < kEntrySize || load<uint32_t>(file, at) != kEntryMark)
      return fail(Code::kInvalid, fmt::format("entry {} of the zip directory is damaged", i + 1));
    const uint16_t flags = load<uint16_t>(file, at + 8), method = load<uint16_t>(file, at + 10);
    const uint64_t packed = load<uint32_t>(file, at + 20), size = load<uint32_t>(file, at + 24);
    const size_t name = load<uint16_t>(file, at + 28), extra = load<uint16_t>(file, at + 30),
                 comment = load<uint16_t>(file, at + 32);
    const uint64_t local = load<uint32_t>(file, at + 42);
    if (end - at < kEntrySize + name)
      return fail(Code::kInvalid, fmt::format("entry {} of the zip directory is damaged", i + 1));
    ZipMember member;
    member.name = as_text(file.subspan(at + kEntrySize, name));
    if ((flags & 1) != 0 || (method != 0 && method != 8))
      return fail(Code::kUnsupported,
                  fmt::format("'{}' in the zip file is encrypted or packed in a way that is not "
                              "read",
                              member.name.substr(0, 80)));
    if (packed == UINT32_MAX || size == UINT32_MAX || local == UINT32_MAX)
      return fail(Code::kUnsupported, "zip files beyond 4 GB are not read");
    SONDE_TRY(bytes, packed_bytes(file, local, packed));
    member.packed = bytes;
    member.size_bytes = size;
    member.is_deflated = method == 8;
    members.push_back(member);
    at += kEntrySize + name + extra + comment;
  }
  return members;
}

Result<std::string> unzipped(const ZipMember& member, uint64_t limit_bytes) {
  if (member.size_bytes > limit_bytes)
    return fail(Code::kTooLarge,
                fmt::format("'{}' has {} bytes; at most {} are read", member.name.substr(0, 80),
                            member.size_bytes, limit_bytes));
  if (!member.is_deflated) return std::string(as_text(member.packed));
  std::string out(member.size_bytes, '\0');
  z_stream stream{};
  constexpr int kRaw = -15;
  if (inflateInit2(&stream, kRaw) != Z_OK) return fail(Code::kIo, "no memory for inflating");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(member.packed.data()));
  stream.avail_in = static_cast<uInt>(member.packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int done = inflate(&stream, Z_FINISH);
  const uint64_t made = stream.total_out;
  inflateEnd(&stream);
  if (done != Z_STREAM_END || made != member.size_bytes)
    return fail(Code::kCorrupt,
                fmt::format("'{}' in the zip file is damaged", member.name.substr(0, 80)));
  return out;
}

}  // namespace sonde::io
