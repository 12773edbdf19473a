// Markdown as TensorBoard's text and descriptions use it (the classic dialect with tables and
// fenced code: nested lists need four spaces, no autolinks, no strike-through) to HTML that is safe
// to show. The dialect is not CommonMark, so no CommonMark library can give the same answers.
#pragma once

#include <string>
#include <string_view>

namespace sonde::text {

// Longer texts are shown as they were written, with a sentence that says so; likewise a text whose
// marks take more steps to pair than texts of its size may (markdown_parts.h).
inline constexpr size_t kMaxMarkdownBytes = 1 << 20;

// HTML as the writer meant it, raw HTML included: never show it without safe_html().
std::string markdown_to_html(std::string_view markdown);

// What a browser may show. NUL characters are dropped and counted in a leading comment; invalid
// UTF-8 is repaired.
std::string markdown_to_safe_html(std::string_view markdown);

// The comment that counts dropped NUL characters, empty for none; a table has one for all its cells.
std::string null_warning(size_t dropped);

}  // namespace sonde::text
