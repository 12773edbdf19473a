// The page's files, built by Vite and embedded in the program by web/tools/pack.mjs, already
// compressed. A program built without the page serves a sentence instead.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sonde::http {

struct AssetBytes {
  const char* data;
  uint64_t size;
  std::string_view view() const { return data ? std::string_view(data, size) : std::string_view(); }
};

// One row of the embedded table; the layout is pack.mjs's.
struct Asset {
  const char* path;  // "index.html", "assets/index-3f2a.js"
  const char* type;
  const char* hash;
  AssetBytes plain, gzip, brotli;

  // Vite puts a content hash into the names below assets/: such a file never changes.
  bool is_immutable() const { return std::string_view(path).starts_with("assets/"); }
};

std::span<const Asset> assets();

// The file at a path ("/" is index.html), or nullptr.
const Asset* find_asset(std::string_view path);

}  // namespace sonde::http
