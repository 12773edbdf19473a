// Character references of HTML: `&amp;`, `&#169;`, `&#xA9;`.
#pragma once

#include <string>
#include <string_view>

namespace sonde::text {

// Length of the reference that `text` begins with, `;` included; 0 when it is none that is known.
size_t entity_length(std::string_view text);

// Length of what has the form of a reference (`&name;`, `&#12;`, `&#x1f;`), known or not; else 0.
size_t reference_length(std::string_view text);

// Length of a reference that TensorBoard leaves in a text: any number, and a name that is known or
// the beginning of a known one.
size_t kept_length(std::string_view text);

// The text with every reference replaced by its character.
std::string decoded_entities(std::string_view text);

}  // namespace sonde::text
