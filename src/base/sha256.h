// SHA-256, for names derived from paths and contents. Not for secrets: it is not constant-time.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace sonde
