// Inline marks of Markdown. One walk cuts a text into pieces of finished HTML and runs of `*` and
// `_`; a second walk over those runs pairs them.
#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/strings.h"
#include "text/entities.h"
#include "text/markdown_parts.h"

namespace sonde::text::markdown {
namespace {

constexpr std::string_view kEscapable = "\\`*_{}[]()>#+-.!|";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

struct Piece {
  std::string html;  // what it is when no emphasis uses it
  char mark = 0;     // '*' or '_' for a run of marks
  size_t count = 0;  // marks not used yet
  size_t original = 0;
  bool opens = false, closes = false;
  std::string before = {},
              after = {};  // tags that emphasis puts around: closing ones, opening ones
};

std::string attribute(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '"') {
      out += "&quot;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

// Backslash escapes taken out, as in link targets and titles.
std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() &&
        kEscapable.find(text[i + 1]) != std::string_view::npos)
      ++i;
    out.push_back(text[i]);
  }
  return out;
}

std::string lower_spaced(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_space(c)) {
      if (out.empty() || out.back() != ' ') out.push_back(' ');
    } else {
      out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
    }
  }
  return out;
}

class Inline {
 public:
  Inline(std::string_view text, const Document& document, size_t depth)
      : text_(text), document_(document), depth_(depth) {}

  std::string run() {
    for (size_t i = 0; i < text_.size();) i = step(i);
    flush(text_.size());
    pair_marks();
    std::string out;
    for (const Piece& piece : pieces_) {
      out += piece.before;
      if (piece.mark) {
        out.append(piece.count, piece.mark);
      } else {
        out += piece.html;
      }
      out += piece.after;
    }
    return out;
  }

 private:
  // Handles what begins at i; returns where to go on.
  size_t step(size_t i) {
    size_t end = 0;
    switch (text_[i]) {
      case '`':
        end = code_span(i);
        return end > 0 ? end : std::min(text_.find_first_not_of('`', i), text_.size());
      case '\\':
        if (i + 1 < text_.size() && kEscapable.find(text_[i + 1]) != std::string_view::npos) {
          flush(i);
          push(escaped(text_.substr(i + 1, 1)), i + 2);
          return i + 2;
        }
        return i + 1;
      case '!':
        if (i + 1 < text_.size() && text_[i + 1] == '[') end = link(i, i + 2, true);
        return end > 0 ? end : i + 1;
      case '[':
        end = i > plain_ && text_[i - 1] == '!' ? 0 : link(i, i + 1, false);
        return end > 0 ? end : i + 1;
      case '<':
        end = tag(i);
        return end > 0 ? end : i + 1;
      case ' ':
        if (text_.substr(i).starts_with("  \n")) {
          flush(i);
          push("<br />\n", i + 3);
          return i + 3;
        }
        return i + 1;
      case '*':
      case '_':
        return marks(i);
      default:
        return i + 1;
    }
  }

  void flush(size_t end) {
    if (end > plain_) pieces_.push_back({escaped(text_.substr(plain_, end - plain_))});
    plain_ = end;
  }
  void push(std::string html, size_t next) {
    pieces_.push_back({std::move(html)});
    plain_ = next;
  }

  struct Ticks {
    size_t used = 0;  // of the opening run, from its start; the rest of it belongs to the code
    size_t end = 0;   // behind the closing run; 0 when nothing closes
  };

  // What closes the run of backticks [i, open): the next run as long, else the first of the longest
  // shorter ones.
  Ticks closing_ticks(size_t i, size_t open) {
    const size_t count = open - i;
    if (const auto known = no_ticks_.find(count); known != no_ticks_.end() && i >= known->second)
      return {};
    Ticks shorter;
    for (size_t at = text_.find('`', open); at != std::string_view::npos;) {
      const size_t end = std::min(text_.find_first_not_of('`', at), text_.size());
      if (end - at == count) return document_.spend(end - open) ? Ticks{count, end} : Ticks{};
      if (end - at > shorter.used) shorter = {end - at, end};
      at = text_.find('`', end);
    }
    if (!document_.spend(text_.size() - open)) return {};
    if (shorter.used > 0 && shorter.used < count) return shorter;
    if (shorter.used == 0) no_ticks_[count] = i;
    return {};
  }

  size_t code_span(size_t i) {
    const size_t open = std::min(text_.find_first_not_of('`', i), text_.size());
    const auto [used, end] = closing_ticks(i, open);
    if (end == 0) return 0;
    flush(i);
    const std::string_view code = trimmed(text_.substr(i + used, end - used - (i + used)));
    push("<code>" + code_escaped(code) + "</code>", end);
    return end;
  }

  // The position behind the ']' that closes the bracket opened just before `from`, 0 when there is
  // none. All brackets of the text are paired at the first question.
  size_t closing_bracket(size_t from) {
    if (!has_brackets_) pair_brackets();
    const auto found = brackets_.find(from);
    return found == brackets_.end() || document_.is_exhausted() ? 0 : found->second;
  }

  void pair_brackets() {
    has_brackets_ = true;
    std::vector<size_t> open;
    for (size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\\' && i + 1 < text_.size() &&
          kEscapable.find(text_[i + 1]) != std::string_view::npos) {
        ++i;
      } else if (c == '`') {
        const size_t ticks = std::min(text_.find_first_not_of('`', i), text_.size());
        const size_t end = closing_ticks(i, ticks).end;
        i = (end > 0 ? end : ticks) - 1;
      } else if (c == '[') {
        open.push_back(i + 1);
      } else if (c == ']' && !open.empty()) {
        brackets_[open.back()] = i + 1;
        open.pop_back();
      }
    }
    document_.spend(text_.size());
  }

  struct Target {
    Link link;
    size_t end = 0;
    bool has_title = false;
  };

  // (target "title") at `at`. Brackets inside the target must balance.
  std::optional<Target> target_at(size_t at) {
    if (at >= text_.size() || text_[at] != '(') return std::nullopt;
    size_t i = at + 1;
    while (i < text_.size() && is_space(text_[i])) ++i;
    if (i < text_.size() && text_[i] == '<') {
      const size_t close = text_.find_first_of("<>", i + 1);
      document_.spend(std::min(close, text_.size()) - i);
      if (close != std::string_view::npos && text_[close] == '>') {
        if (auto found = title_and_end(close + 1)) {
          found->link.target = trimmed(text_.substr(i + 1, close - i - 1));
          return found;
        }
      }
    }
    size_t open = 1;
    for (size_t k = i; k < text_.size(); ++k) {
      if (!document_.spend(1)) break;
      const char c = text_[k];
      if (c == '(') ++open;
      if (c == ')' && --open == 0) {
        Target target;
        target.link.target = unescaped(trimmed(text_.substr(i, k - i)));
        target.end = k + 1;
        return target;
      }
      if ((c == '"' || c == '\'') && k > i && is_space(text_[k - 1])) {
        if (auto found = title_and_end(k)) {
          found->link.target = unescaped(trimmed(text_.substr(i, k - i)));
          return found;
        }
      }
    }
    return std::nullopt;
  }

  // An optional quoted title, then ')'. The title ends at the last such quote before a ')'.
  std::optional<Target> title_and_end(size_t i) {
    while (i < text_.size() && is_space(text_[i])) ++i;
    if (i >= text_.size()) return std::nullopt;
    Target target;
    if (text_[i] == ')') {
      target.end = i + 1;
      return target;
    }
    const char quote = text_[i];
    if (quote != '"' && quote != '\'') return std::nullopt;
    size_t from = i;
    for (size_t close = text_.find(quote, i + 1); close != std::string_view::npos;
         close = text_.find(quote, close + 1)) {
      const size_t next = text_.find_first_not_of(' ', close + 1);
      if (!document_.spend(std::min(next, text_.size()) - from)) return std::nullopt;
      from = close;
      if (next == std::string_view::npos) return std::nullopt;
      if (text_[next] != ')') continue;
      target.has_title = true;
      for (const char c : trimmed(text_.substr(i + 1, close - i - 1))) {
        target.link.title.push_back(is_space(c) ? ' ' : c);
      }
      target.link.title = unescaped(target.link.title);
      target.end = next + 1;
      return target;
    }
    document_.spend(text_.size() - from);
    return std::nullopt;
  }

  // [text](target), [text][name], [name], with `!` in front for an image.
  size_t link(size_t at, size_t content, bool is_image) {
    if (depth_ >= kMaxDepth) return 0;
    const size_t close = closing_bracket(content);
    if (close == 0) return 0;
    const std::string_view inner = text_.substr(content, close - 1 - content);
    std::optional<Target> target = named_target(close, inner);
    if (!target) target = target_at(close);
    if (!target) {
      if (!document_.spend(inner.size())) return 0;
      const auto found = document_.references.find(lower_spaced(inner));
      if (found == document_.references.end()) return 0;
      target = Target{found->second, close, !found->second.title.empty()};
    }
    if (!document_.spend(target->link.target.size() + target->link.title.size())) return 0;
    flush(at);
    const std::string title =
        target->has_title ? " title=\"" + attribute(target->link.title) + "\"" : "";
    if (is_image) {
      push("<img alt=\"" + attribute(unescaped(inner)) + "\" src=\"" +
               attribute(target->link.target) + "\"" + title + " />",
           target->end);
    } else {
      push("<a href=\"" + attribute(target->link.target) + "\"" + title + ">" +
               inline_html(inner, document_, depth_ + 1) + "</a>",
           target->end);
    }
    return target->end;
  }

  // [text][name] or [text][]
  std::optional<Target> named_target(size_t at, std::string_view inner) {
    if (at < text_.size() && is_space(text_[at])) ++at;
    if (at >= text_.size() || text_[at] != '[') return std::nullopt;
    const size_t close = text_.find(']', at);
    if (!document_.spend(std::min(close, text_.size()) - at) || close == std::string_view::npos)
      return std::nullopt;
    std::string_view name = text_.substr(at + 1, close - at - 1);
    if (name.empty()) name = inner;
    const auto found = document_.references.find(lower_spaced(name));
    if (found == document_.references.end()) return std::nullopt;
    return Target{found->second, close + 1, !found->second.title.empty()};
  }

  size_t tag(size_t i) {
    const size_t close = text_.find_first_of("<>", i + 1);
    if (!document_.spend(std::min(close, text_.size()) - i)) return 0;
    if (close != std::string_view::npos && text_[close] == '>') {
      const std::string_view inner = text_.substr(i + 1, close - i - 1);
      if (is_url(inner)) {
        flush(i);
        push("<a href=\"" + attribute(inner) + "\">" + escaped(inner) + "</a>", close + 1);
        return close + 1;
      }
      if (is_mail(inner)) {
        flush(i);
        push(mail_link(inner), close + 1);
        return close + 1;
      }
    }
    const size_t end = raw_tag_end(i);
    if (end == 0) return 0;
    flush(i);
    push(std::string(text_.substr(i, end - i)), end);
    return end;
  }

  static bool is_url(std::string_view text) {
    const size_t colon = text.find("://");
    if (colon == std::string_view::npos || colon == 0 || !is_letter(text[0])) return false;
    return std::all_of(text.begin(), text.begin() + static_cast<ptrdiff_t>(colon), [](char c) {
      return is_letter(c) || is_digit(c) || c == '+' || c == '.' || c == '-';
    });
  }

  static bool is_mail(std::string_view text) {
    const size_t at = text.rfind('@');
    return at != std::string_view::npos && at > 0 && at + 1 < text.size() &&
           text.find_first_of(" !") == std::string_view::npos;
  }

  // Written as character references, as the classic dialect does against address collectors.
  static std::string mail_link(std::string_view address) {
    if (address.starts_with("mailto:")) address.remove_prefix(7);
    const auto coded = [](std::string_view text) {
      std::string out;
      for (const char c : text) {
        out += static_cast<unsigned char>(c) < 0x80
                   ? "&#" + std::to_string(static_cast<unsigned char>(c)) + ";"
                   : std::string(1, c);
      }
      return out;
    };
    return "<a href=\"" + coded("mailto:" + std::string(address)) + "\">" + coded(address) + "</a>";
  }

  // End of the raw tag or comment at i, 0 when it is only a '<'.
  size_t raw_tag_end(size_t i) {
    size_t seen = i;
    const size_t end = raw_tag_end(i, seen);
    return document_.spend(seen - i) ? end : 0;
  }

  // `k` is how far it looked.
  size_t raw_tag_end(size_t i, size_t& k) {
    if (text_.substr(i).starts_with("<!--")) {
      const size_t end = text_.find("-->", i + 4);
      k = std::min(end, text_.size());
      return end == std::string_view::npos ? 0 : end + 3;
    }
    k = i + 1;
    if (k < text_.size() && text_[k] == '/') ++k;
    if (k >= text_.size() || !is_letter(text_[k])) return 0;
    while (k < text_.size() && !is_space(text_[k]) &&
           std::string_view("\"'<>@").find(text_[k]) == std::string_view::npos)
      ++k;
    for (;;) {
      const size_t blank = k;
      while (k < text_.size() && is_space(text_[k])) ++k;
      if (k >= text_.size()) return 0;
      if (text_[k] == '>') return k + 1;
      if (text_[k] == '/' && k + 1 < text_.size() && text_[k + 1] == '>') return k + 2;
      if (k == blank) return 0;
      const size_t name = k;
      while (k < text_.size() && !is_space(text_[k]) &&
             std::string_view("\"'=<>").find(text_[k]) == std::string_view::npos)
        ++k;
      if (k == name) return 0;
      size_t value = k;
      while (value < text_.size() && is_space(text_[value])) ++value;
      if (value >= text_.size() || text_[value] != '=') continue;
      k = value + 1;
      while (k < text_.size() && is_space(text_[k])) ++k;
      if (k < text_.size() && (text_[k] == '"' || text_[k] == '\'')) {
        const size_t close = text_.find(text_[k], k + 1);
        k = std::min(close, text_.size() - 1) + 1;
        if (close == std::string_view::npos) return 0;
      } else {
        const size_t start = k;
        while (k < text_.size() && !is_space(text_[k]) &&
               std::string_view("\"'=<>").find(text_[k]) == std::string_view::npos)
          ++k;
        if (k == start) return 0;
      }
    }
  }

  size_t marks(size_t i) {
    const char mark = text_[i];
    const size_t end = std::min(text_.find_first_not_of(mark, i), text_.size());
    Piece piece;
    piece.mark = mark;
    piece.count = piece.original = end - i;
    // What was read already (a code span, a link, a line break, an escaped character) is neither
    // a blank nor a letter to a mark beside it.
    const bool follows_piece = i == plain_ && !pieces_.empty() && pieces_.back().mark == 0;
    piece.opens =
        end < text_.size() && (!is_space(text_[end]) || text_.substr(end).starts_with("  \n"));
    piece.closes = i > 0 && (follows_piece || !is_space(text_[i - 1]));
    if (mark == '_') {  // not inside a word
      if (i > 0 && !follows_piece && is_word(text_[i - 1])) piece.opens = false;
      if (end < text_.size() && is_word(text_[end])) piece.closes = false;
    }
    flush(i);
    pieces_.push_back(std::move(piece));
    plain_ = end;
    return end;
  }

  // Openers wait on a stack of each mark; a closer takes from the top. Three marks on both sides
  // are strong around emphasis.
  void pair_marks() {
    std::vector<size_t> waiting;
    for (size_t k = 0; k < pieces_.size(); ++k) {
      if (!pieces_[k].mark) continue;
      if (pieces_[k].closes) close_with(k, waiting);
      if (pieces_[k].count > 0 && pieces_[k].opens) waiting.push_back(k);
    }
  }

  void close_with(size_t k, std::vector<size_t>& waiting) {
    Piece& closer = pieces_[k];
    while (closer.count > 0) {
      size_t at = waiting.size();
      while (at-- > 0) {
        if (!document_.spend(1)) return;
        const Piece& opener = pieces_[waiting[at]];
        if (opener.mark != closer.mark) continue;
        const bool is_ambiguous = opener.closes || closer.opens;
        const bool is_odd = (opener.original + closer.original) % 3 == 0 &&
                            (opener.original % 3 != 0 || closer.original % 3 != 0);
        if (!is_ambiguous || !is_odd) break;
      }
      if (at == SIZE_MAX) return;
      Piece& opener = pieces_[waiting[at]];
      const size_t both = std::min(opener.count, closer.count);
      const size_t used = opener.count == 3 && closer.count >= 1 ? (closer.count == 2 ? 2 : 1)
                                                                 : std::min<size_t>(both, 2);
      const std::string_view tag = used == 2 ? "strong" : "em";
      opener.after = "<" + std::string(tag) + ">" + opener.after;
      closer.before += "</" + std::string(tag) + ">";
      opener.count -= used;
      closer.count -= used;
      waiting.resize(opener.count > 0 ? at + 1 : at);  // marks in between stay text
    }
  }

  std::string_view text_;
  const Document& document_;
  size_t depth_;
  size_t plain_ = 0;  // start of text that is in no piece yet
  std::vector<Piece> pieces_;
  std::map<size_t, size_t> no_ticks_;  // count of ticks -> from here on no such run follows
  bool has_brackets_ = false;
  std::unordered_map<size_t, size_t> brackets_;  // behind '[' -> behind the ']' that closes it
};

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += reference_length(text.substr(i)) > 0 ? "&" : "&amp;";
        break;
      default:
        out.push_back(text[i]);
    }
  }
  return out;
}

std::string code_escaped(std::string_view code, bool in_fence) {
  std::string out;
  for (const char c : code) {
    out += c == '&'               ? "&amp;"
           : c == '<'             ? "&lt;"
           : c == '>'             ? "&gt;"
           : c == '"' && in_fence ? "&quot;"
                                  : std::string(1, c);
  }
  return out;
}

std::string inline_html(std::string_view text, const Document& document, size_t depth) {
  if (!document.spend(text.size())) return {};  // the source is shown instead
  if (depth >= kMaxDepth) return escaped(text);
  return Inline(text, document, depth).run();
}

}  // namespace sonde::text::markdown
