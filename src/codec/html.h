// Text as it may stand in HTML.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// Between tags and in attributes with quotes of either kind.
std::string html_escaped(std::string_view text);

}  // namespace sonde
