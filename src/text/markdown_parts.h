// The pieces of the Markdown reader: source preparation, block structure, inline marks. Private to
// src/text. Raw HTML and fenced code are set aside in a stash while the rest is read; a placeholder
// (STX number ETX, two characters the source cannot hold) stands in the text instead.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::text::markdown {

constexpr char kStart = '\x02';
constexpr char kEnd = '\x03';
constexpr size_t kMaxDepth = 60;  // of nested blocks and inline marks; deeper ones stay text

struct Link {
  std::string target;
  std::string title;
};

// Reading takes time in proportion to the text, whatever it says: every look ahead or back is paid
// from a number of steps that grows with the text. Ordinary texts need a few steps a character;
// when none are left all searches fail at once and the caller shows the source instead.
inline constexpr uint64_t kStepsPerByte = 100, kFreeSteps = 4 << 20;

struct Document {
  explicit Document(size_t source_bytes) : steps_left(source_bytes * kStepsPerByte + kFreeSteps) {}

  mutable uint64_t steps_left;
  bool is_exhausted() const { return steps_left == 0; }
  bool spend(uint64_t steps) const {
    steps_left = steps < steps_left ? steps_left - steps : 0;
    return steps_left > 0;
  }

  std::vector<std::string> stash;
  std::map<std::string, Link> references;  // by lower-case name

  std::string set_aside(std::string html) {
    stash.push_back(std::move(html));
    return kStart + std::to_string(stash.size() - 1) + kEnd;
  }
};

// An element of the block structure. `text` comes before the children, `tail` after the element.
struct Node {
  std::string tag;
  std::string text;
  std::string tail;
  bool is_literal = false;  // text is escaped already and holds no marks
  std::vector<std::unique_ptr<Node>> children;

  Node& add(std::string_view name) {
    children.push_back(std::make_unique<Node>());
    children.back()->tag = name;
    return *children.back();
  }
  Node* last() { return children.empty() ? nullptr : children.back().get(); }
};

bool is_block_tag(std::string_view lower_case_name);
std::string escaped(std::string_view text);
// Code as text; fenced code has its quotes written as references too.
std::string code_escaped(std::string_view code, bool in_fence = false);

// Line ends, tabs, fenced code and raw HTML blocks; what is left is Markdown proper.
std::string prepared(std::string_view source, Document& document);
// Lists, quotes, headings, tables, code, paragraphs.
void parse_blocks(std::string_view prepared, Document& document, Node& root);
// Emphasis, links, code spans, raw tags of one text.
std::string inline_html(std::string_view text, const Document& document, size_t depth = 0);

// The two rows of a table's head and its other rows. Empty tag when the block is no table.
bool parse_table(std::string_view block, const Document& document, Node& parent);

}  // namespace sonde::text::markdown
