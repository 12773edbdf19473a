// HTML from a stranger's log made safe to put into a page. The output is written from scratch: only
// the listed tags with the listed attributes come out as markup, every other tag comes out as
// visible text, comments are dropped, and what was left open is closed. Nothing else in the program
// may hand log text to a browser as HTML.
#pragma once

#include <string>
#include <string_view>

namespace sonde::text {

// Allowed: ul ol li p pre code blockquote h1-h6 hr br strong em a[href,title] img[src,title,alt]
// table thead tbody tr td th; links to http, https, mailto or relative ones. The same list and the
// same spelling as TensorBoard's.
std::string safe_html(std::string_view html);

}  // namespace sonde::text
