// Reads the text of a formula into a tree. Recursive descent with a bounded depth and size.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "log/query/series/expression.h"

namespace sonde::query {
namespace {

using Node = ExpressionNode;
using Kind = Node::Kind;

constexpr size_t kMostText = 1000;  // bytes
constexpr int kMostDepth = 32;
constexpr size_t kMostNodes = 200;

struct Function {
  std::string_view name;
  size_t parts;
  bool over_runs;
};
constexpr std::array kFunctions = {
    Function{"abs", 1, false},    Function{"sqrt", 1, false},   Function{"exp", 1, false},
    Function{"log", 1, false},    Function{"log10", 1, false},  Function{"ema", 2, false},
    Function{"avg", 2, false},    Function{"rate", 1, false},   Function{"diff", 1, false},
    Function{"cumsum", 1, false}, Function{"cummin", 1, false}, Function{"cummax", 1, false},
    Function{"first", 1, false},  Function{"last", 1, false},   Function{"mean", 1, true},
    Function{"median", 1, true},  Function{"min", 1, true},     Function{"max", 1, true},
    Function{"std", 1, true},     Function{"count", 1, true},
};

const Function* function_named(std::string_view name) {
  const auto* found = std::ranges::find(kFunctions, name, &Function::name);
  return found == kFunctions.end() ? nullptr : found;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Parser {
 public:
  Parser(std::string_view text, const std::function<bool(const std::string&)>& is_tag)
      : text_(text), is_tag_(is_tag) {}

  Result<Node> whole() {
    SONDE_TRY(node, sum(0));
    skip();
    if (at_ < text_.size())
      return fail(Code::kInvalid, fmt::format("“{}” is not expected at character {}",
                                              text_.substr(at_, 12), at_ + 1));
    return node;
  }
  std::vector<std::string> tags;

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  Result<void> count(int depth) {
    if (depth > kMostDepth) return fail(Code::kInvalid, "the expression is nested too deeply");
    if (++nodes_ > kMostNodes)
      return fail(Code::kInvalid, fmt::format("the expression has more than {} parts", kMostNodes));
    return {};
  }
  static Node binary(char op, Node a, Node b) {
    Node node{Kind::kBinary, 0, op, {}, {}};
    node.parts.push_back(std::move(a));
    node.parts.push_back(std::move(b));
    return node;
  }

  Result<Node> sum(int depth) {
    SONDE_TRY(left, product(depth));
    for (char op = peek(); op == '+' || op == '-'; op = peek()) {
      ++at_;
      if (auto counted = count(depth); !counted) return fail(std::move(counted).error());
      SONDE_TRY(right, product(depth));
      left = binary(op, std::move(left), std::move(right));
    }
    return left;
  }
  Result<Node> product(int depth) {
    SONDE_TRY(left, negation(depth));
    for (char op = peek(); op == '*' || op == '/'; op = peek()) {
      ++at_;
      if (auto counted = count(depth); !counted) return fail(std::move(counted).error());
      SONDE_TRY(right, negation(depth));
      left = binary(op, std::move(left), std::move(right));
    }
    return left;
  }
  Result<Node> negation(int depth) {
    if (!take('-')) return power(depth);
    if (auto counted = count(depth + 1); !counted) return fail(std::move(counted).error());
    SONDE_TRY(inner, negation(depth + 1));
    Node node{Kind::kNegate, 0, 0, {}, {}};
    node.parts.push_back(std::move(inner));
    return node;
  }
  Result<Node> power(int depth) {
    SONDE_TRY(base, primary(depth));
    if (!take('^')) return base;
    SONDE_TRY(exponent, negation(depth + 1));
    return binary('^', std::move(base), std::move(exponent));
  }
  Result<Node> primary(int depth) {
    if (auto counted = count(depth); !counted) return fail(std::move(counted).error());
    const char c = peek();
    if (c == '\0') return fail(Code::kInvalid, "something is missing at the end");
    if (take('(')) {
      SONDE_TRY(inner, sum(depth + 1));
      if (!take(')')) return fail(Code::kInvalid, "missing )");
      return inner;
    }
    if (take('`')) {
      const size_t end = text_.find('`', at_);
      if (end == std::string_view::npos) return fail(Code::kInvalid, "a ` is not closed");
      std::string name(text_.substr(at_, end - at_));
      at_ = end + 1;
      return tag_node(std::move(name));
    }
    if ((c >= '0' && c <= '9') || c == '.') return number();
    return name(depth);
  }
  Result<Node> number() {
    Node node;
    const auto [end, problem] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), node.number);
    if (problem != std::errc())
      return fail(Code::kInvalid, fmt::format("“{}” is not a number", text_.substr(at_, 12)));
    at_ = static_cast<size_t>(end - text_.data());
    return node;
  }
  Result<Node> tag_node(std::string name) {
    if (!is_tag_(name))
      return fail(Code::kInvalid, fmt::format("no scalar tag is named “{}”", name));
    if (std::ranges::find(tags, name) == tags.end()) tags.push_back(name);
    return Node{Kind::kTag, 0, 0, std::move(name), {}};
  }
  // A function, `step`, `time`, or the longest tag that begins here.
  Result<Node> name(int depth) {
    size_t word = at_;
    while (word < text_.size() && is_word(text_[word])) ++word;
    const std::string_view first = text_.substr(at_, word - at_);
    size_t next = word;
    while (next < text_.size() && text_[next] == ' ') ++next;
    if (next < text_.size() && text_[next] == '(' && !first.empty()) {
      if (const Function* function = function_named(first)) {
        at_ = next + 1;
        return call(*function, depth);
      }
    }
    size_t end = at_;
    while (end < text_.size() &&
           std::string_view(" \t\n(),`").find(text_[end]) == std::string_view::npos)
      ++end;
    for (size_t to = end; to > at_; --to) {
      if (to < text_.size() && is_word(text_[to]) && is_word(text_[to - 1]))
        continue;  // inside of a word
      std::string candidate(text_.substr(at_, to - at_));
      if (!is_tag_(candidate)) continue;
      at_ = to;
      return tag_node(std::move(candidate));
    }
    if (first == "step" || first == "time") {
      at_ = word;
      return Node{first == "step" ? Kind::kStep : Kind::kTime, 0, 0, {}, {}};
    }
    if (next < text_.size() && text_[next] == '(' && !first.empty())
      return fail(Code::kInvalid, fmt::format("“{}” is not a function", first));
    const std::string_view shown = text_.substr(at_, std::max<size_t>(end - at_, 1));
    return fail(Code::kInvalid, fmt::format("no scalar tag is named “{}”", shown));
  }
  Result<Node> call(const Function& function, int depth) {
    Node node{Kind::kCall, 0, 0, std::string(function.name), {}};
    do {
      SONDE_TRY(part, sum(depth + 1));
      node.parts.push_back(std::move(part));
    } while (take(','));
    if (!take(')')) return fail(Code::kInvalid, fmt::format("missing ) after {}(…", function.name));
    if (node.parts.size() != function.parts)
      return fail(Code::kInvalid, fmt::format("{} takes {}", function.name,
                                              function.parts == 1 ? "one value" : "two values"));
    if (auto fits = second_fits(node); !fits) return fail(std::move(fits).error());
    return node;
  }
  static Result<void> second_fits(const Node& node) {
    if (node.parts.size() < 2) return {};
    const Node& second = node.parts[1];
    if (second.kind != Kind::kNumber)
      return fail(Code::kInvalid, fmt::format("the second value of {} is not a number", node.name));
    if (node.name == "ema" && !(second.number >= 0 && second.number < 1))
      return fail(Code::kInvalid, "the weight of ema is not in 0 ≤ weight < 1");
    if (node.name == "avg" && !(second.number >= 1 && second.number <= 1e6))
      return fail(Code::kInvalid, "the window of avg is not in 1…1000000 points");
    return {};
  }

  std::string_view text_;
  const std::function<bool(const std::string&)>& is_tag_;
  size_t at_ = 0, nodes_ = 0;
};

// Whether every run has the same line: each tag stands inside of a function over runs.
bool is_same_for_all(const Node& node) {
  if (node.kind == Kind::kTag || node.kind == Kind::kStep || node.kind == Kind::kTime) return false;
  if (node.kind == Kind::kCall && function_named(node.name)->over_runs) return true;
  return std::ranges::all_of(node.parts, is_same_for_all);
}

}  // namespace

Result<CurveExpression> parse_curve_expression(
    std::string_view text, const std::function<bool(const std::string&)>& is_tag) {
  if (text.size() > kMostText)
    return fail(Code::kInvalid, fmt::format("the expression is longer than {} bytes", kMostText));
  Parser parser(text, is_tag);
  auto root = parser.whole();
  if (!root)
    return fail(Code::kInvalid,
                fmt::format("“{}” is not a valid expression: {}", text, root.error().text));
  if (parser.tags.empty())
    return fail(Code::kInvalid,
                fmt::format("“{}” is not a valid expression: it names no tag", text));
  CurveExpression expression{std::string(text), std::move(*root), std::move(parser.tags), false};
  expression.is_over_runs = is_same_for_all(expression.root);
  return expression;
}

}  // namespace sonde::query
