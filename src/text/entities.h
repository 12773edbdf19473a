// Character references of HTML: `&amp;`, `&#169;`, `&#xA9;`.
#pragma once

#include <string>
#include <string_view>

namespace sonde::text {

// Length of the reference that `text` begins with, `;` included; 0 when it is none that is known.
size_t entity_length(std::string_view text);

// The text with every reference replaced by its character.
std::string decoded_entities(std::string_view text);

}  // namespace sonde::text
