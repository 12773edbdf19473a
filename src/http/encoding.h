// Content codings: which one a client wants, and the bodies in it. Level 1 everywhere: an answer is
// made once and sent once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::http {

enum class Coding : uint8_t { kIdentity, kGzip, kBrotli, kZstd };

// What Accept-Encoding offers, by its q values; `zstd;q=0` refuses, `*` stands for gzip.
struct Accepted {
  bool gzip = false, brotli = false, zstd = false;
};
Accepted accepted_codings(std::string_view header);

std::string_view name_of(Coding coding);

// True for types that shrink: text, JSON, JavaScript, SVG, columns of numbers.
bool is_compressible(std::string_view content_type);

// The compressed body; empty when it would not be smaller.
std::string gzipped(std::string_view body);
std::string zstd_packed(std::string_view body);

// 64 bits of a body's content, for entity tags of answers that have no revision of their own.
uint64_t content_hash(std::string_view body);

}  // namespace sonde::http
