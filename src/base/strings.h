// Small things done to text: UTF-8 repair, percent coding, splitting, the natural order of names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sonde {

bool is_utf8(std::string_view text);
// The text with each maximal invalid part replaced by U+FFFD.
std::string to_utf8(std::string_view text);

// %41 -> A; a malformed escape stays as it is. `plus_is_space` is the rule inside a query string.
enum class Plus : uint8_t { kLiteral, kSpace };
std::string percent_decoded(std::string_view text, Plus plus = Plus::kLiteral);
// Everything but letters, digits and -._~ (and what `keep` lists) becomes %XX.
std::string percent_encoded(std::string_view text, std::string_view keep = "");

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trimmed(std::string_view text);

// Order of names in which run2 comes before run10. Returns <0, 0, >0; equal only for equal bytes.
int natural_compare(std::string_view a, std::string_view b);

// "1.2 GB", "812 kB", "17 B": decimal units, for people.
std::string human_bytes(uint64_t bytes);
// 1234567 -> "1 234 567" with thin separation, for people.
std::string human_count(uint64_t count);

}  // namespace sonde
