// As much XML as listings of object stores need: the text of an element by its name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sonde::io {

// The text between <name> and </name>, from `from` on; `from` moves behind it.
std::optional<std::string_view> xml_element(std::string_view xml, std::string_view name,
                                            size_t& from);
// The first one; empty when there is none.
std::string_view xml_element(std::string_view xml, std::string_view name);
std::string xml_unescaped(std::string_view text);

}  // namespace sonde::io
