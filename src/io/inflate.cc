#include "io/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace sonde::io {
namespace {

constexpr size_t kWindow = 256 * 1024;
constexpr int kAnyWrapper = 15 + 32;  // zlib finds out by itself whether it is gzip or zlib

class Inflating final : public Source {
 public:
  explicit Inflating(std::unique_ptr<Source> compressed) : compressed_(std::move(compressed)) {}
  ~Inflating() override {
    if (open_) inflateEnd(&stream_);
  }

  Result<size_t> read_at(uint64_t offset, std::span<std::byte> into) override {
    if (!open_ || offset < position_) {
      if (!restart()) return fail(Code::kIo, "no memory for inflating");
    }
    std::vector<std::byte> skipped(offset > position_ ? kWindow : 0);
    while (position_ < offset) {
      const size_t n = std::min<uint64_t>(skipped.size(), offset - position_);
      SONDE_TRY(got, inflate_some({skipped.data(), n}));
      if (got == 0) return size_t{0};
    }
    size_t done = 0;
    while (done < into.size()) {
      SONDE_TRY(got, inflate_some(into.subspan(done)));
      if (got == 0) break;
      done += got;
    }
    return done;
  }

  bool random_access() const override { return false; }
  const FileStat& stat() const override { return compressed_->stat(); }

 private:
  bool restart() {
    if (open_) inflateEnd(&stream_);
    stream_ = {};
    open_ = inflateInit2(&stream_, kAnyWrapper) == Z_OK;
    read_ = position_ = 0;
    ended_ = false;
    return open_;
  }

  // 0 at the end.
  Result<size_t> inflate_some(std::span<std::byte> into) {
    while (!ended_) {
      if (stream_.avail_in == 0) {
        buffer_.resize(kWindow);
        SONDE_TRY(n, compressed_->read_at(read_, buffer_));
        read_ += n;
        stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
        stream_.avail_in = static_cast<uInt>(n);
        if (n == 0) break;
      }
      stream_.next_out = reinterpret_cast<Bytef*>(into.data());
      stream_.avail_out = static_cast<uInt>(std::min<size_t>(into.size(), 1u << 30));
      const uInt before = stream_.avail_out;
      const int status = ::inflate(&stream_, Z_NO_FLUSH);
      const size_t got = before - stream_.avail_out;
      position_ += got;
      if (position_ > most_unpacked_bytes(read_))
        return fail(Code::kTooLarge, "unpacks to more than 250 times its size; not read further");
      if (status == Z_STREAM_END) {
        // A gzip file may have several members, one after the other.
        if (inflateReset(&stream_) != Z_OK) ended_ = true;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        ended_ = true;  // not a stream any more: what came before is kept
      }
      if (got > 0) return got;
    }
    return size_t{0};
  }

  std::unique_ptr<Source> compressed_;
  z_stream stream_{};
  bool open_ = false, ended_ = false;
  uint64_t read_ = 0, position_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace

Compression sniff_compression(Bytes head) {
  if (head.size() < 2) return Compression::kNone;
  const auto a = static_cast<uint8_t>(head[0]), b = static_cast<uint8_t>(head[1]);
  if (a == 0x1f && b == 0x8b) return Compression::kGzip;
  // zlib: deflate with a 32 KB window, and the two bytes are a multiple of 31.
  if (a == 0x78 && (a * 256 + b) % 31 == 0) return Compression::kZlib;
  return Compression::kNone;
}

Result<std::unique_ptr<Source>> open_inflating(std::unique_ptr<Source> compressed, Compression) {
  return std::unique_ptr<Source>(std::make_unique<Inflating>(std::move(compressed)));
}

}  // namespace sonde::io
