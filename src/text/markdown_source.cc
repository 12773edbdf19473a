// Prepares Markdown source: line ends and tabs, fenced code, raw HTML blocks.
#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "text/markdown_parts.h"

namespace sonde::text::markdown {
namespace {

constexpr std::string_view kBlockTags[] = {
    "address", "article", "aside",  "blockquote", "body",     "canvas",   "center",     "colgroup",
    "dd",      "details", "div",    "dl",         "dt",       "fieldset", "figcaption", "figure",
    "footer",  "form",    "group",  "h1",         "h2",       "h3",       "h4",         "h5",
    "h6",      "header",  "hgroup", "hr",         "html",     "iframe",   "legend",     "li",
    "main",    "map",     "math",   "menu",       "nav",      "noscript", "object",     "ol",
    "option",  "output",  "p",      "pre",        "progress", "script",   "section",    "style",
    "summary", "table",   "tbody",  "td",         "textarea", "tfoot",    "th",         "thead",
    "tr",      "ul",      "video"};

std::string normal_lines(std::string_view source) {
  constexpr size_t kTab = 4;
  std::string out;
  out.reserve(source.size() + 2);
  size_t column = 0, line_start = 0;
  const auto end_line = [&] {
    const bool is_blank = out.find_first_not_of(' ', line_start) == std::string::npos;
    if (is_blank && line_start > 0) out.resize(line_start);
    out.push_back('\n');
    column = 0;
    line_start = out.size();
  };
  for (size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (c == kStart || c == kEnd) continue;
    if (c == '\n' || c == '\r') {
      if (c == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
      end_line();
    } else if (c == '\t') {
      const size_t blanks = kTab - column % kTab;
      out.append(blanks, ' ');
      column += blanks;
    } else {
      out.push_back(c);
      if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++column;  // one a character
    }
  }
  end_line();
  out.push_back('\n');
  return out;
}

// The fence (``` or ~~~, three or more) that opens a code block on this line, empty when none does.
std::string_view fence_of(std::string_view line) {
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return {};
  const size_t length = std::min(line.find_first_not_of(line[0]), line.size());
  if (length < 3) return {};
  std::string_view rest = trimmed(line.substr(length));
  if (rest.starts_with('{'))
    return rest.ends_with('}') ? line.substr(0, length) : std::string_view{};
  if (const size_t lines = rest.find("hl_lines="); lines != std::string_view::npos) {
    rest = trimmed(rest.substr(0, lines));
  }
  for (const char c : rest) {
    const bool is_word = static_cast<unsigned char>(c) >= 0x80 ||
                         std::isalnum(static_cast<unsigned char>(c)) ||
                         std::string_view("_#.+-").find(c) != std::string_view::npos;
    if (!is_word) return {};
  }
  return line.substr(0, length);
}

std::string without_fences(const std::string& source, Document& document) {
  const std::vector<std::string_view> lines = split(source, '\n');
  // For each kind of fence, where its last closing line is: keeps a file of unclosed fences linear.
  std::map<std::string, size_t, std::less<>> last_closing;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i].substr(0, lines[i].find_last_not_of(' ') + 1);
    if (!line.empty() && (line[0] == '`' || line[0] == '~') &&
        line.find_first_not_of(line[0]) == std::string_view::npos) {
      last_closing[std::string(line)] = i;
    }
  }
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view fence = fence_of(lines[i]);
    const auto last = fence.empty() ? last_closing.end() : last_closing.find(fence);
    if (last == last_closing.end() || last->second <= i) {
      out.append(lines[i]);
      if (i + 1 < lines.size()) out.push_back('\n');
      continue;
    }
    std::string code;
    size_t close = i + 1;
    for (; close < lines.size(); ++close) {
      const std::string_view line = lines[close];
      if (line.starts_with(fence) &&
          line.find_first_not_of(' ', fence.size()) == std::string_view::npos)
        break;
      code.append(line);
      code.push_back('\n');
    }
    out += "\n" + document.set_aside("<pre><code>" + code_escaped(code, true) + "</code></pre>") +
           "\n\n";
    i = close;
  }
  return out;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// A raw tag at `at`: its lower-case name and its end, 0 when it is never closed.
struct RawTag {
  std::string name;
  size_t end = 0;
  bool closes = false;
  bool is_empty = false;  // <x/>
};

std::optional<RawTag> raw_tag_at(std::string_view text, size_t at, const Document& document) {
  if (document.is_exhausted()) return std::nullopt;
  RawTag tag;
  size_t i = at + 1;
  struct Paid {
    const Document& document;
    const size_t &from, &to;
    ~Paid() { document.spend(to - from); }
  } paid{document, at, i};
  if (i < text.size() && text[i] == '/') {
    tag.closes = true;
    ++i;
  }
  if (i >= text.size() || !is_letter(text[i])) return std::nullopt;
  while (i < text.size() && text[i] != '>' && text[i] != '/' && text[i] != ' ' && text[i] != '\n' &&
         text[i] != '`') {
    const char c = text[i++];
    tag.name.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  }
  char before = '\0';
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '>') {
      tag.is_empty = text[i - 1] == '/';
      tag.end = i + 1;
      return tag;
    }
    if ((c == '"' || c == '\'') && before == '=') {
      const size_t close = text.find(c, i + 1);
      i = std::min(close, text.size());
      if (close == std::string_view::npos) return std::nullopt;
    } else if (c == '<' && before == '\0') {
      return std::nullopt;
    }
    if (c != ' ') before = c;
  }
  return std::nullopt;
}

// Takes raw HTML blocks (from a block tag at the start of a line to its end tag) out of the text.
class HtmlBlocks {
 public:
  HtmlBlocks(std::string_view text, Document& document) : text_(text), document_(document) {}

  std::string run() {
    for (size_t i = 0; i < text_.size();) i = text_[i] == '<' ? markup(i) : data(i);
    if (!raw_.empty()) out_ += document_.set_aside(std::move(raw_));
    return std::move(out_);
  }

 private:
  size_t data(size_t i) {
    const size_t end = std::min(text_.find('<', i + 1), text_.size());
    put(text_.substr(i, end - i));
    return end;
  }

  void put(std::string_view piece) {
    if (in_tail_ && piece.find('\n') != std::string_view::npos) in_tail_ = false;
    (in_raw_ ? raw_ : out_).append(piece);
  }

  bool at_line_start(size_t i) const {
    for (size_t blanks = 0; blanks <= 3; ++blanks) {
      if (i == blanks || text_[i - blanks - 1] == '\n') return true;
      if (text_[i - blanks - 1] != ' ') return false;
    }
    return false;
  }

  bool blank_line_follows(size_t i) const {
    for (int lines = 0; lines < 2; ++lines) {
      i = text_.find_first_not_of(' ', i);
      if (i == std::string_view::npos || text_[i] != '\n') return false;
      ++i;
    }
    return true;
  }

  // A piece that stands alone: a comment, a declaration, <hr>.
  void standalone(size_t at, size_t end, bool is_block) {
    const std::string piece(text_.substr(at, end - at));
    if (in_raw_) {
      raw_ += piece;
    } else if (is_block && (in_tail_ || at_line_start(at))) {
      std::string kept = piece;
      if (blank_line_follows(end)) {
        kept += "\n";
      } else {
        in_tail_ = true;
      }
      if (out_.ends_with('\n') && !out_.ends_with("\n\n")) out_ += "\n";
      out_ += document_.set_aside(kept) + "\n\n";
    } else {
      out_ += piece;
    }
  }

  size_t markup(size_t at) {
    const std::string_view rest = text_.substr(at);
    if (rest.starts_with("<!--")) {
      if (at >= no_comment_end_) return literal(at);
      const size_t end = text_.find("-->", at + 4);
      if (end == std::string_view::npos) {
        no_comment_end_ = at;
        return literal(at);
      }
      standalone(at, end + 3, true);
      return end + 3;
    }
    if (rest.starts_with("<!") || rest.starts_with("<?")) {
      const bool is_place = at_line_start(at) || in_tail_;
      const std::string_view closing = rest[1] == '?'                  ? "?>"
                                       : rest.starts_with("<![CDATA[") ? "]]>"
                                                                       : ">";
      const size_t end = is_place ? text_.find(closing, at) : std::string_view::npos;
      if (is_place) document_.spend(std::min(end, text_.size()) - at);
      if (end == std::string_view::npos) return literal(at);
      standalone(at, end + closing.size(), true);
      return end + closing.size();
    }
    const std::optional<RawTag> tag = raw_tag_at(text_, at, document_);
    if (!tag) return literal(at);
    const std::string_view source = text_.substr(at, tag->end - at);
    if (tag->closes) {
      end_tag(*tag, source);
    } else if (tag->is_empty || tag->name == "hr") {
      standalone(at, tag->end, is_block_tag(tag->name));
    } else {
      start_tag(*tag, source, at);
      if (in_raw_ && (tag->name == "script" || tag->name == "style")) return raw_text(*tag);
    }
    return tag->end;
  }

  size_t literal(size_t at) {
    put("<");
    return at + 1;
  }

  // Inside script and style nothing but their own end tag counts.
  size_t raw_text(const RawTag& tag) {
    size_t end = tag.end;
    while ((end = text_.find("</", end)) != std::string_view::npos) {
      const std::optional<RawTag> closing = raw_tag_at(text_, end, document_);
      if (closing && closing->name == tag.name) break;
      end += 2;
    }
    end = std::min(end, text_.size());
    raw_.append(text_.substr(tag.end, end - tag.end));
    return end;
  }

  void start_tag(const RawTag& tag, std::string_view source, size_t at) {
    if (is_block_tag(tag.name) && (in_tail_ || (at_line_start(at) && !in_raw_))) {
      in_raw_ = true;
      out_ += "\n";
    }
    if (!in_raw_) {
      out_.append(source);
      return;
    }
    stack_.push_back(tag.name);
    raw_.append(source);
  }

  void end_tag(const RawTag& tag, std::string_view source) {
    if (!in_raw_) {
      out_.append(source);
      return;
    }
    raw_.append(source);
    if (!document_.spend(stack_.size() + 1)) return;
    if (std::find(stack_.begin(), stack_.end(), tag.name) != stack_.end()) {
      while (stack_.back() != tag.name) stack_.pop_back();
      stack_.pop_back();
    }
    if (!stack_.empty()) return;
    if (blank_line_follows(tag.end)) {
      raw_ += "\n";
    } else {
      in_tail_ = true;
    }
    in_raw_ = false;
    out_ += document_.set_aside(std::move(raw_)) + "\n\n";
    raw_.clear();
  }

  std::string_view text_;
  Document& document_;
  std::string out_;
  std::string raw_;                 // the raw block being collected
  std::vector<std::string> stack_;  // its open tags
  bool in_raw_ = false;
  bool in_tail_ = false;  // on the same line behind a raw block
  size_t no_comment_end_ = std::string_view::npos;
};

}  // namespace

bool is_block_tag(std::string_view name) {
  return std::binary_search(std::begin(kBlockTags), std::end(kBlockTags), name);
}

std::string prepared(std::string_view source, Document& document) {
  const std::string text = without_fences(normal_lines(source), document);
  return HtmlBlocks(text, document).run();
}

}  // namespace sonde::text::markdown
