#include "http/assets.h"

#include <algorithm>

extern "C" {
// Weak: absent in programs built without the page (tests, SONDE_WEB=OFF).
[[gnu::weak]] extern const sonde::http::Asset sonde_assets[];
[[gnu::weak]] extern const uint64_t sonde_asset_count;
}

namespace sonde::http {
namespace {

constexpr std::string_view kNoPage =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sonde</title>"
    "<p>This program was built without the page (SONDE_WEB=OFF). "
    "Its answers are under <code>data/</code> and <code>api/v1/</code>.</p></html>\n";
constexpr Asset kPlaceholder{"index.html", "text/html; charset=utf-8",
                             "none",       {kNoPage.data(), kNoPage.size()},
                             {nullptr, 0}, {nullptr, 0}};

}  // namespace

std::span<const Asset> assets() {
  if (!&sonde_asset_count || !sonde_assets) return {&kPlaceholder, 1};
  return {sonde_assets, sonde_asset_count};
}

const Asset* find_asset(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  if (path.empty()) path = "index.html";
  const auto all = assets();
  const auto found =
      std::ranges::find(all, path, [](const Asset& a) { return std::string_view(a.path); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace sonde::http
