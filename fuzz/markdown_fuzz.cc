// Markdown and HTML of strangers: whatever comes, the HTML that goes out holds only allowed tags.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "text/markdown.h"
#include "text/sanitize.h"

namespace {

// Tags that are not on the list must have become text.
void check(const std::string& html) {
  if (html.find("<script") != std::string::npos || html.find("<iframe") != std::string::npos ||
      html.find("<svg") != std::string::npos || html.find("<style") != std::string::npos) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(sonde::text::markdown_to_safe_html(text));
  check(sonde::text::safe_html(text));
  return 0;
}
