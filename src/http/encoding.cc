#include "http/encoding.h"

#include <libdeflate.h>
#include <zstd.h>

#include <charconv>
#include <cstring>
#include <memory>

#include "base/strings.h"

namespace sonde::http {
namespace {

// Compressors are large and are made once a thread.
libdeflate_compressor* deflater() {
  struct Free {
    void operator()(libdeflate_compressor* c) const { libdeflate_free_compressor(c); }
  };
  thread_local std::unique_ptr<libdeflate_compressor, Free> compressor(
      libdeflate_alloc_compressor(1));
  return compressor.get();
}

ZSTD_CCtx* zstd_context() {
  struct Free {
    void operator()(ZSTD_CCtx* c) const { ZSTD_freeCCtx(c); }
  };
  thread_local std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  return context.get();
}

double quality_of(std::string_view parameters) {
  for (const std::string_view part : split(parameters, ';')) {
    const std::string_view item = trimmed(part);
    if (!item.starts_with("q=") && !item.starts_with("Q=")) continue;
    double q = 1;
    std::from_chars(item.data() + 2, item.data() + item.size(), q);
    return q;
  }
  return 1;
}

uint64_t mixed(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

Accepted accepted_codings(std::string_view header) {
  Accepted accepted;
  bool gzip_named = false, any = false;
  for (const std::string_view part : split(header, ',')) {
    const std::string_view item = trimmed(part);
    const size_t semicolon = item.find(';');
    const std::string_view name = trimmed(item.substr(0, semicolon));
    const bool wanted =
        semicolon == std::string_view::npos || quality_of(item.substr(semicolon + 1)) > 0;
    if (name == "gzip" || name == "x-gzip") {
      accepted.gzip = wanted;
      gzip_named = true;
    } else if (name == "br") {
      accepted.brotli = wanted;
    } else if (name == "zstd") {
      accepted.zstd = wanted;
    } else if (name == "*") {
      any = wanted;
    }
  }
  if (any && !gzip_named) accepted.gzip = true;
  return accepted;
}

std::string_view name_of(Coding coding) {
  constexpr std::string_view kNames[] = {"identity", "gzip", "br", "zstd"};
  return kNames[static_cast<size_t>(coding)];
}

bool is_compressible(std::string_view type) {
  type = type.substr(0, type.find(';'));
  return type.starts_with("text/") || type.ends_with("json") || type.ends_with("javascript") ||
         type.ends_with("xml") || type == "application/x-protobuf" ||
         type == "application/json+protobuf" || type == "application/vnd.sonde.columns" ||
         type == "application/x-latex" || type == "application/wasm";
}

std::string gzipped(std::string_view body) {
  libdeflate_compressor* compressor = deflater();
  if (!compressor || body.size() < 64) return {};
  std::string out(body.size() - 1, '\0');  // a result that does not fit would not be smaller
  out.resize(
      libdeflate_gzip_compress(compressor, body.data(), body.size(), out.data(), out.size()));
  return out;
}

std::string zstd_packed(std::string_view body) {
  ZSTD_CCtx* context = zstd_context();
  if (!context || body.size() < 64) return {};
  std::string out(body.size() - 1, '\0');
  const size_t size =
      ZSTD_compressCCtx(context, out.data(), out.size(), body.data(), body.size(), 1);
  out.resize(ZSTD_isError(size) ? 0 : size);
  return out;
}

uint64_t content_hash(std::string_view body) {
  uint64_t state = 0x9E3779B97F4A7C15u ^ body.size();
  const char* p = body.data();
  size_t left = body.size();
  if (left >= 64) {  // four chains side by side: a multiplication need not wait for the last one
    uint64_t lanes[4] = {state, state + 1, state + 2, state + 3};
    for (; left >= 64; p += 64, left -= 64) {
      for (int lane = 0; lane < 4; ++lane) {
        uint64_t a, b;
        std::memcpy(&a, p + 16 * lane, 8);
        std::memcpy(&b, p + 16 * lane + 8, 8);
        lanes[lane] = mixed(a ^ lanes[lane], b ^ 0xA0761D6478BD642Fu);
      }
    }
    state = mixed(lanes[0] ^ lanes[2], lanes[1] ^ lanes[3] ^ 0x8EBC6AF09C88C6E3u);
  }
  for (; left >= 16; p += 16, left -= 16) {
    uint64_t a, b;
    std::memcpy(&a, p, 8);
    std::memcpy(&b, p + 8, 8);
    state = mixed(a ^ state, b ^ 0xA0761D6478BD642Fu);
  }
  uint64_t a = 0, b = 0;
  if (left > 0) std::memcpy(&a, p, left < 8 ? left : 8);
  if (left > 8) std::memcpy(&b, p + 8, left - 8);
  return mixed(mixed(a ^ state, b ^ 0xE7037ED1A0B428DBu), 0x8EBC6AF09C88C6E3u);
}

}  // namespace sonde::http
