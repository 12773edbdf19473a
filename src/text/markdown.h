// Markdown as TensorBoard's text and descriptions use it (the classic dialect with tables and
// fenced code: nested lists need four spaces, no autolinks, no strike-through) to HTML that is safe
// to show. The dialect is not CommonMark, so no CommonMark library can give the same answers.
#pragma once

#include <string>
#include <string_view>

namespace sonde::text {

// HTML as the writer meant it, raw HTML included: never show it without safe_html().
std::string markdown_to_html(std::string_view markdown);

// What a browser may show. NUL characters are dropped and counted in a leading comment; invalid
// UTF-8 is repaired.
std::string markdown_to_safe_html(std::string_view markdown);

}  // namespace sonde::text
