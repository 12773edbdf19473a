// A file that is written from front to back in pieces, plain or as one gzip stream, or standard
// output. For exports that may be larger than memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sonde::io {

class TextOut {
 public:
  enum class Packing : uint8_t { kPlain, kGzip };
  // "-" is standard output.
  static Result<TextOut> open(const std::string& path, Packing packing);
  TextOut(TextOut&&) noexcept;
  TextOut& operator=(TextOut&&) = delete;
  ~TextOut();

  // Append here, then call piece_done() now and then: it writes when enough has gathered.
  std::string& text() { return text_; }
  void piece_done() {
    if (text_.size() >= kPiece) flush();
  }
  uint64_t bytes() const { return bytes_; }  // written so far, before packing
  // Writes what is left and closes; kIo with the system's words when anything failed.
  Result<void> finish();

 private:
  static constexpr size_t kPiece = 1 << 20;
  struct State;
  explicit TextOut(std::unique_ptr<State> state);
  void flush();

  std::string text_;
  uint64_t bytes_ = 0;
  std::unique_ptr<State> state_;
};

}  // namespace sonde::io
