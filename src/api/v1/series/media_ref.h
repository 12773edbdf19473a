// References to single pictures and clips that travel through a page: numbers and a check, no path.
// Valid within one boot; a made-up one is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/routes.h"
#include "base/result.h"
#include "log/model/snapshot.h"

namespace sonde::api::v1 {

struct MediaRef {
  char kind = 'i';  // i: images, a: audio
  store::Reference where;
  uint32_t sample = 0;

  std::string_view plugin() const { return kind == 'a' ? "audio" : "images"; }
};

std::string text_of(const Context& context, const MediaRef& ref);
std::optional<MediaRef> media_ref(const Context& context, std::string_view text);

struct Blob {
  std::string bytes;
  std::string mime;
  std::string label;
};

// Reads what a reference points to; the record's checksum has been verified.
Result<Blob> read_blob(const Context& context, const MediaRef& ref);

}  // namespace sonde::api::v1
