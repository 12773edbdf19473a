#include "io/text_out.h"

#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

namespace sonde::io {

struct TextOut::State {
  std::string path;
  std::FILE* file = nullptr;
  bool ok = true;
  bool packs = false;
  z_stream stream{};
  std::vector<unsigned char> packed;

  ~State() {
    if (packs) deflateEnd(&stream);
    if (file && file != stdout) std::fclose(file);
  }
  void put(const void* data, size_t size) { ok = ok && std::fwrite(data, 1, size, file) == size; }

  void write(std::string_view text, int how) {
    if (!packs) return put(text.data(), text.size());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    do {
      stream.next_out = packed.data();
      stream.avail_out = static_cast<uInt>(packed.size());
      deflate(&stream, how);
      put(packed.data(), packed.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
};

TextOut::TextOut(std::unique_ptr<State> state) : state_(std::move(state)) {}
TextOut::TextOut(TextOut&&) noexcept = default;
TextOut::~TextOut() = default;

Result<TextOut> TextOut::open(const std::string& path, Packing packing) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->file = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  if (!state->file) return fail(Code::kIo, path + ": cannot be written: " + std::strerror(errno));
  if (packing == Packing::kGzip) {
    constexpr int kGzipWrapper = 15 + 16;
    if (deflateInit2(&state->stream, 4, Z_DEFLATED, kGzipWrapper, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      return fail(Code::kIo, path + ": no memory for packing");
    state->packs = true;
    state->packed.resize(256 << 10);
  }
  return TextOut(std::move(state));
}

void TextOut::flush() {
  bytes_ += text_.size();
  state_->write(text_, Z_NO_FLUSH);
  text_.clear();
}

Result<void> TextOut::finish() {
  bytes_ += text_.size();
  state_->write(text_, Z_FINISH);
  text_.clear();
  errno = 0;
  bool ok = std::fflush(state_->file) == 0 && state_->ok;
  if (state_->file != stdout) {
    ok = std::fclose(state_->file) == 0 && ok;
    state_->file = nullptr;
  }
  if (ok) return {};
  return fail(Code::kIo, state_->path + ": could not be written whole: " +
                             (errno != 0 ? std::strerror(errno) : "the place is full"));
}

}  // namespace sonde::io
