// Bytes as text that stands anywhere: RFC 4648, padded.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sonde {

std::string base64(std::string_view bytes);
// Either alphabet, with or without padding; nothing when the text is none.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace sonde
