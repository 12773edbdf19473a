#include "text/markdown.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "text/markdown_parts.h"
#include "text/sanitize.h"

namespace sonde::text {
namespace {

using markdown::Document;
using markdown::Node;

std::string as_source(std::string_view why, std::string_view source) {
  return "<p><em>" + std::string(why) + "</em></p>\n<pre>" + markdown::escaped(source) + "</pre>";
}

bool is_blank(std::string_view text) { return trimmed(text).empty(); }

class Renderer {
 public:
  explicit Renderer(const Document& document) : document_(document) {}

  void children(const Node& node) {
    for (const auto& child : node.children) element(*child);
  }

  std::string take() { return restored(std::move(out_)); }

 private:
  void element(const Node& node) {
    const bool is_container = node.tag != "pre" && node.tag != "code";
    const bool has_blocks = !node.children.empty() && markdown::is_block_tag(node.children[0]->tag);
    if (node.tag == "p" && raw_block(node)) return;
    out_ += "<" + node.tag + (node.tag == "hr" ? " />" : ">");
    if (is_container && has_blocks && is_blank(node.text)) {
      out_ += "\n";
    } else if (node.is_literal) {
      out_ += node.tag == "code" ? std::string(right_trimmed(node.text)) + "\n" : node.text;
    } else {
      out_ += markdown::inline_html(node.text, document_);
    }
    children(node);
    if (node.tag != "hr") out_ += "</" + node.tag + ">";
    if (!is_blank(node.tail)) {
      out_ += markdown::inline_html(node.tail, document_);
    } else if (markdown::is_block_tag(node.tag)) {
      out_ += "\n";
    }
  }

  static std::string_view right_trimmed(std::string_view text) {
    return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  }

  // A paragraph that is nothing but one piece of block HTML is that piece.
  bool raw_block(const Node& node) {
    const std::string html = markdown::inline_html(node.text, document_);
    std::string_view whole = html;
    if (html.starts_with(markdown::kStart) && html.find(markdown::kEnd) == html.size() - 1) {
      const std::string* kept = stashed(whole.substr(1, whole.size() - 2));
      if (kept) whole = *kept;
    } else if (!html.starts_with('<') || html.find('>') != html.size() - 1) {
      return false;
    }
    if (!is_block_html(whole)) return false;
    out_ += html + "\n";
    return true;
  }

  static bool is_block_html(std::string_view html) {
    if (!html.starts_with('<') || html.size() < 2) return false;
    if (html[1] == '!' || html[1] == '?') return true;
    size_t start = html[1] == '/' ? 2 : 1;
    std::string name;
    for (; start < html.size() && html[start] != ' ' && html[start] != '>'; ++start) {
      const char c = html[start];
      name.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
    }
    return markdown::is_block_tag(name);
  }

  const std::string* stashed(std::string_view number) const {
    size_t index = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    const bool is_number = error == std::errc() && end == number.data() + number.size();
    return is_number && index < document_.stash.size() ? &document_.stash[index] : nullptr;
  }

  // Puts what was set aside back in its place. Raw blocks may hold fenced code: two levels.
  std::string restored(std::string html) const {
    for (int level = 0; level < 2 && html.find(markdown::kStart) != std::string::npos; ++level) {
      std::string out;
      for (size_t i = 0; i < html.size();) {
        const size_t close =
            html[i] == markdown::kStart ? html.find(markdown::kEnd, i) : std::string::npos;
        const std::string* kept =
            close == std::string::npos
                ? nullptr
                : stashed(std::string_view(html).substr(i + 1, close - i - 1));
        if (kept) {
          out += *kept;
          i = close + 1;
        } else {
          out.push_back(html[i++]);
        }
      }
      html = std::move(out);
    }
    return html;
  }

  const Document& document_;
  std::string out_;
};

}  // namespace

std::string markdown_to_html(std::string_view source) {
  if (is_blank(source)) return {};
  if (source.size() > kMaxMarkdownBytes)
    return as_source("This text is longer than 1 MiB and shown as it was written.", source);
  Document document(source.size());
  const std::string prepared = markdown::prepared(source, document);
  Node root;
  markdown::parse_blocks(prepared, document, root);
  Renderer renderer(document);
  renderer.children(root);
  if (document.is_exhausted())
    return as_source(
        "This text is shown as it was written: reading it as Markdown takes too many steps.",
        source);
  const std::string html = renderer.take();
  return std::string(trimmed(html));
}

std::string markdown_to_safe_html(std::string_view source) {
  std::string repaired;
  if (!is_utf8(source)) source = repaired = to_utf8(source);
  const auto nulls = static_cast<size_t>(std::count(source.begin(), source.end(), '\0'));
  std::string without;
  if (nulls > 0) {
    std::copy_if(source.begin(), source.end(), std::back_inserter(without),
                 [](char c) { return c != '\0'; });
    source = without;
  }
  return null_warning(nulls) + safe_html(markdown_to_html(source));
}

std::string null_warning(size_t dropped) {
  if (dropped == 0) return {};
  return "<!-- WARNING: discarded " + std::to_string(dropped) +
         " null bytes in markdown string after UTF-8 decoding -->\n";
}

}  // namespace sonde::text
