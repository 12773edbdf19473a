// Block structure of Markdown. Text is cut at blank lines; each piece is offered to one rule after
// the other, and a rule may put a rest back in front of the queue. The order of the rules and the
// places where they interrupt each other are those of the classic dialect.
#include <algorithm>
#include <deque>

#include "base/strings.h"
#include "text/markdown_parts.h"

namespace sonde::text::markdown {
namespace {

constexpr size_t kTab = 4;
constexpr std::string_view kIndent = "    ";

enum class State { kNormal, kList, kLooseList, kDetabbed, kQuote };

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(std::string_view text) { return trimmed(text).empty(); }
bool is_list(const Node* node) { return node && (node->tag == "ul" || node->tag == "ol"); }

size_t blanks_before(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

std::string_view left_trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

std::string_view right_trimmed(std::string_view text, std::string_view what = " \t\r\n") {
  return text.substr(0, text.find_last_not_of(what) + 1);
}

// A list item's mark: where its content begins, 0 when the line has none.
struct Mark {
  size_t content = 0;
  bool is_ordered = false;
};

Mark mark_of(std::string_view line, size_t least_indent, size_t most_indent) {
  size_t i = blanks_before(line);
  if (i < least_indent || i > most_indent || i >= line.size()) return {};
  Mark mark;
  if (is_digit(line[i])) {
    while (i < line.size() && is_digit(line[i])) ++i;
    if (i >= line.size() || line[i] != '.') return {};
    mark.is_ordered = true;
  } else if (line[i] != '*' && line[i] != '+' && line[i] != '-') {
    return {};
  }
  ++i;
  const size_t content = std::min(line.find_first_not_of(' ', i), line.size());
  if (content == i) return {};
  mark.content = content;
  return mark;
}

std::string_view first_line(std::string_view block) { return block.substr(0, block.find('\n')); }

// "- - -", "***", "____": three or more of one mark with at most two blanks between.
bool is_rule_line(std::string_view line) {
  const size_t start = blanks_before(line);
  if (start > 3 || start >= line.size()) return false;
  const char mark = line[start];
  if (mark != '-' && mark != '_' && mark != '*') return false;
  line = right_trimmed(line.substr(start), " ");
  size_t marks = 0, gap = 0;
  for (const char c : line) {
    if (c == mark) {
      ++marks;
      gap = 0;
    } else if (c != ' ' || ++gap > 2) {
      return false;
    }
  }
  return marks >= 3;
}

// Removes `levels` tabs from the front of each line that has them.
std::string loosely_detabbed(std::string_view block, size_t levels) {
  const std::string indent(kTab * levels, ' ');
  std::string out;
  for (std::string_view line : split(block, '\n')) {
    if (line.starts_with(indent)) line.remove_prefix(indent.size());
    out.append(line);
    out.push_back('\n');
  }
  out.pop_back();
  return out;
}

class Parser {
 public:
  explicit Parser(Document& document) : document_(document) {}

  void chunk(Node& parent, std::string_view text) {
    std::deque<std::string> blocks;
    for (size_t start = 0;;) {
      const size_t at = text.find("\n\n", start);
      blocks.emplace_back(text.substr(start, at - start));
      if (at == std::string_view::npos) break;
      start = at + 2;
    }
    parse(parent, std::move(blocks));
  }

 private:
  using Blocks = std::deque<std::string>;

  void parse(Node& parent, Blocks blocks) {
    if (++depth_ > kMaxDepth ||
        document_.is_exhausted()) {  // no deeper structure: the rest is one paragraph a block
      for (std::string& block : blocks) {
        if (!is_blank(block)) parent.add("p").text = left_trimmed(block);
      }
    } else {
      // A rule that takes a line puts the rest back: what is looked at and moved is paid for.
      while (!blocks.empty() && document_.spend(blocks.front().size() / 2 + 1)) one(parent, blocks);
    }
    --depth_;
  }

  void one(Node& parent, Blocks& blocks) {
    (void)(empty(parent, blocks) || list_indent(parent, blocks) || code(parent, blocks) ||
           table(parent, blocks) || hash_header(parent, blocks) ||
           underlined_header(parent, blocks) || rule(parent, blocks) || list(parent, blocks) ||
           quote(parent, blocks) || reference(blocks) || paragraph(parent, blocks));
  }

  static std::string pop(Blocks& blocks) {
    std::string block = std::move(blocks.front());
    blocks.pop_front();
    return block;
  }

  bool is(State state) const { return !states_.empty() && states_.back() == state; }

  // Parses with another state on top.
  template <class Fn>
  void within(State state, Fn&& fn) {
    states_.push_back(state);
    fn();
    states_.pop_back();
  }

  static Node* code_of(Node* node) {
    return node && node->tag == "pre" && node->last() && node->children[0]->tag == "code"
               ? node->children[0].get()
               : nullptr;
  }

  bool empty(Node& parent, Blocks& blocks) {
    if (!blocks.front().empty() && blocks.front()[0] != '\n') return false;
    const std::string block = pop(blocks);
    if (block.size() > 1) blocks.push_front(block.substr(1));
    if (Node* code = code_of(parent.last())) code->text += block.empty() ? "\n\n" : "\n";
    return true;
  }

  bool list_indent(Node& parent, Blocks& blocks) {
    if (!blocks.front().starts_with(kIndent) || is(State::kDetabbed)) return false;
    if (parent.tag != "li" && !is_list(parent.last())) return false;
    std::string block = pop(blocks);
    size_t level = is(State::kList) ? 1 : 0;
    Node* place = &parent;
    const size_t wanted = blanks_before(block) / kTab;
    while (wanted > level) {
      Node* child = place->last();
      if (!child || (!is_list(child) && child->tag != "li")) break;
      if (is_list(child)) ++level;
      place = child;
    }
    block = loosely_detabbed(block, level);
    within(State::kDetabbed, [&] { into_list(parent, *place, std::move(block)); });
    return true;
  }

  void into_list(Node& parent, Node& place, std::string block) {
    if (parent.tag == "li") {
      parse(is_list(parent.last()) ? *parent.last() : parent, {std::move(block)});
    } else if (place.tag == "li") {
      parse(place, {std::move(block)});
    } else if (place.last() && place.last()->tag == "li") {
      Node& item = *place.last();
      wrap_text(item);
      chunk(item, block);
    } else {
      parse(place.add("li"), {std::move(block)});
    }
  }

  // Text of a list item becomes its first paragraph once the list is a loose one.
  static void wrap_text(Node& item) {
    if (item.text.empty()) return;
    auto paragraph = std::make_unique<Node>();
    paragraph->tag = "p";
    paragraph->text = std::move(item.text);
    item.text.clear();
    item.children.insert(item.children.begin(), std::move(paragraph));
  }

  bool code(Node& parent, Blocks& blocks) {
    if (!blocks.front().starts_with(kIndent)) return false;
    const std::string block = pop(blocks);
    std::string kept;
    size_t at = 0;
    while (at <= block.size()) {
      const size_t end = std::min(block.find('\n', at), block.size());
      const std::string_view line = std::string_view(block).substr(at, end - at);
      if (line.starts_with(kIndent)) {
        kept.append(line.substr(kTab));
      } else if (!is_blank(line)) {
        break;
      }
      kept.push_back('\n');
      at = end + 1;
    }
    const std::string text = code_escaped(right_trimmed(kept)) + "\n";
    if (Node* code = code_of(parent.last())) {
      code->text += "\n" + text;
    } else {
      Node& added = parent.add("pre").add("code");
      added.is_literal = true;
      added.text = text;
    }
    if (at < block.size()) blocks.push_front(block.substr(at));
    return true;
  }

  bool table(Node& parent, Blocks& blocks) {
    if (!parse_table(blocks.front(), document_, parent)) return false;
    blocks.pop_front();
    return true;
  }

  // A backslash at the end of the line escapes the line break, and the line is no header.
  static bool begins_header(std::string_view block, size_t at) {
    if (at >= block.size() || block[at] != '#') return false;
    const std::string_view line = block.substr(at, block.find('\n', at) - at);
    return (line.size() - 1 - line.find_last_not_of('\\')) % 2 == 0;
  }

  bool hash_header(Node& parent, Blocks& blocks) {
    const std::string& front = blocks.front();
    size_t start = 0;
    while (!begins_header(front, start)) {
      start = front.find('\n', start);
      if (start == std::string::npos) return false;
      ++start;
    }
    const std::string block = pop(blocks);
    const size_t end = std::min(block.find('\n', start), block.size());
    std::string_view line = std::string_view(block).substr(start, end - start);
    const size_t level = std::min<size_t>({line.find_first_not_of('#'), line.size(), 6});
    line.remove_prefix(level);
    size_t closing = line.size();
    while (closing > 0 && line[closing - 1] == '#') --closing;
    if (closing > 0 && closing < line.size() && line[closing - 1] == '\\') ++closing;  // \# is text
    if (start > 1) parse(parent, {block.substr(0, start - 1)});
    parent.add("h" + std::to_string(level)).text = trimmed(line.substr(0, closing));
    if (end + 1 < block.size()) {
      std::string after = block.substr(end + 1);
      blocks.push_front(is(State::kLooseList) ? loosely_detabbed(after, 1) : std::move(after));
    }
    return true;
  }

  bool underlined_header(Node& parent, Blocks& blocks) {
    const std::string& front = blocks.front();
    const size_t newline = front.find('\n');
    if (newline == std::string::npos) return false;
    const size_t end = std::min(front.find('\n', newline + 1), front.size());
    const std::string_view line =
        right_trimmed(std::string_view(front).substr(newline + 1, end - newline - 1), " ");
    if (line.empty() || (line[0] != '=' && line[0] != '-') ||
        line.find_first_not_of(line[0]) != std::string_view::npos) {
      return false;
    }
    const std::string tag = line[0] == '=' ? "h1" : "h2";
    const std::string block = pop(blocks);
    parent.add(tag).text = trimmed(std::string_view(block).substr(0, newline));
    if (end + 1 < block.size()) blocks.push_front(block.substr(end + 1));
    return true;
  }

  bool rule(Node& parent, Blocks& blocks) {
    const std::string_view front = blocks.front();
    size_t start = 0, end = 0;
    for (;;) {
      end = std::min(front.find('\n', start), front.size());
      if (is_rule_line(front.substr(start, end - start))) break;
      if (end == front.size()) return false;
      start = end + 1;
    }
    const std::string block = pop(blocks);
    const std::string before(right_trimmed(std::string_view(block).substr(0, start), "\n"));
    if (!before.empty()) parse(parent, {before});
    parent.add("hr");
    const size_t next = block.find_first_not_of('\n', end);
    if (next != std::string::npos) blocks.push_front(block.substr(next));
    return true;
  }

  // The items of a block: one a mark; nested ones keep their indent and are joined.
  static std::vector<std::string> items_of(std::string_view block) {
    std::vector<std::string> items;
    for (const std::string_view line : split(block, '\n')) {
      if (const Mark mark = mark_of(line, 0, kTab - 1); mark.content > 0) {
        items.emplace_back(line.substr(mark.content));
      } else if (mark_of(line, kTab, 2 * kTab - 1).content > 0 &&
                 !items.back().starts_with(kIndent)) {
        items.emplace_back(line);
      } else {
        items.back() += "\n";
        items.back().append(line);
      }
    }
    return items;
  }

  bool list(Node& parent, Blocks& blocks) {
    const Mark mark = mark_of(first_line(blocks.front()), 0, kTab - 1);
    if (mark.content == 0) return false;
    std::vector<std::string> items = items_of(pop(blocks));
    Node* list = parent.last();
    size_t first = 0;
    if (is_list(list)) {
      if (Node* previous = list->last()) {
        wrap_text(*previous);
        if (Node* child = previous->last(); child && !child->tail.empty()) {
          const std::string text(left_trimmed(child->tail));
          child->tail.clear();
          previous->add("p").text = text;
        }
      }
      Node& item = list->add("li");
      within(State::kLooseList, [&] { parse(item, {items[0]}); });
      first = 1;
    } else if (is_list(&parent)) {
      list = &parent;
    } else {
      list = &parent.add(mark.is_ordered ? "ol" : "ul");
    }
    within(State::kList, [&] {
      for (size_t i = first; i < items.size(); ++i) {
        const bool is_nested = items[i].starts_with(kIndent) && list->last();
        parse(is_nested ? *list->last() : list->add("li"), {std::move(items[i])});
      }
    });
    return true;
  }

  static bool is_quote_line(std::string_view line) {
    const size_t start = blanks_before(line);
    return start <= 3 && start < line.size() && line[start] == '>';
  }

  bool quote(Node& parent, Blocks& blocks) {
    const std::string_view front = blocks.front();
    size_t start = 0;
    while (!is_quote_line(first_line(front.substr(start)))) {
      start = front.find('\n', start);
      if (start == std::string_view::npos) return false;
      ++start;
    }
    if (depth_ >= kMaxDepth) return false;
    const std::string block = pop(blocks);
    if (start > 0) parse(parent, {block.substr(0, start - 1)});
    std::string inner;
    for (std::string_view line : split(std::string_view(block).substr(start), '\n')) {
      if (is_quote_line(line)) {
        line.remove_prefix(blanks_before(line) + 1);
        if (line.starts_with(' ')) line.remove_prefix(1);
      }
      inner.append(line);
      inner.push_back('\n');
    }
    inner.pop_back();
    Node* quote = parent.last();
    if (!quote || quote->tag != "blockquote") quote = &parent.add("blockquote");
    within(State::kQuote, [&] { chunk(*quote, inner); });
    return true;
  }

  // [name]: target "title", on one line or with the target or title on the next.
  bool reference(Blocks& blocks) {
    const std::string_view front = blocks.front();
    for (size_t start = 0; start < front.size();) {
      const size_t end = take_reference(front, start);
      if (end > 0) {
        const std::string block = pop(blocks);
        if (end < block.size() && !is_blank(std::string_view(block).substr(end))) {
          blocks.push_front(block.substr(block.find_first_not_of('\n', end)));
        }
        const std::string before(right_trimmed(std::string_view(block).substr(0, start), "\n"));
        if (!is_blank(before)) blocks.push_front(before);
        return true;
      }
      start = front.find('\n', start);
      if (start == std::string_view::npos) return false;
      ++start;
    }
    return false;
  }

  // End of the definition at `start`, which is stored; 0 when there is none.
  size_t take_reference(std::string_view block, size_t start) {
    size_t i = start + blanks_before(block.substr(start));
    if (i - start > 3 || i >= block.size() || block[i] != '[') return 0;
    const size_t close = block.find_first_of("[]", i + 1);
    if (close == std::string_view::npos || block[close] != ']') return 0;
    if (!block.substr(close).starts_with("]:")) return 0;
    std::string name;
    for (const char c : trimmed(block.substr(i + 1, close - i - 1))) {
      name.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
    }
    const auto skip = [&](size_t from) {  // blanks, at most one line end, blanks
      from = std::min(block.find_first_not_of(' ', from), block.size());
      if (from < block.size() && block[from] == '\n') {
        from = std::min(block.find_first_not_of(' ', from + 1), block.size());
      }
      return from;
    };
    i = skip(close + 2);
    const size_t target_end = std::min(block.find_first_of(" \n", i), block.size());
    if (target_end == i) return 0;
    std::string_view target = block.substr(i, target_end - i);
    while (target.starts_with('<')) target.remove_prefix(1);
    while (target.ends_with('>')) target.remove_suffix(1);
    size_t end = std::min(block.find_first_not_of(' ', target_end), block.size());
    std::string title;
    const bool line_ends = end == block.size() || block[end] == '\n';
    const size_t quoted = skip(target_end);
    if (quoted < block.size()) {
      const size_t line_end = std::min(block.find('\n', quoted), block.size());
      const std::string_view text = right_trimmed(block.substr(quoted, line_end - quoted), " ");
      const char closing = text.empty() ? '\0' : text[0] == '(' ? ')' : text[0];
      const bool is_title = text.size() > 1 && text.back() == closing &&
                            (text[0] == '"' || text[0] == '\'' || text[0] == '(');
      if (is_title) {
        title = text.substr(1, text.size() - 2);
        end = line_end;
      } else if (!line_ends) {
        return 0;
      }
    }
    document_.references[name] = {std::string(target), title};
    return end;
  }

  bool paragraph(Node& parent, Blocks& blocks) {
    const std::string block = pop(blocks);
    if (is_blank(block)) return true;
    if (!is(State::kList)) {
      parent.add("p").text = left_trimmed(block);
    } else if (Node* sibling = parent.last()) {
      sibling->tail += "\n" + block;
    } else if (parent.text.empty()) {
      parent.text = left_trimmed(block);
    } else {
      parent.text += "\n" + block;
    }
    return true;
  }

  Document& document_;
  std::vector<State> states_;
  size_t depth_ = 0;
};

}  // namespace

void parse_blocks(std::string_view prepared, Document& document, Node& root) {
  Parser(document).chunk(root, prepared);
}

}  // namespace sonde::text::markdown
