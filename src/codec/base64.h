// Bytes as text that stands anywhere: RFC 4648, padded.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

std::string base64(std::string_view bytes);

}  // namespace sonde
