#include "capture/export/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "base/regex.h"
#include "capture/export/layout.h"
#include "capture/export/steps.h"

namespace sonde::exports {

struct Filter::Node {
  enum class Is : uint8_t { kAnd, kOr, kNot, kText, kDuration, kStep };
  Is is = Is::kText;
  std::shared_ptr<const Node> left, right;
  std::string field, value;
  char comparison = '=';
  std::optional<Regex> regex;
  int64_t from = 0, to = 0;  // steps, or the duration
};

namespace {

using Node = Filter::Node;
using Is = Filter::Node::Is;
constexpr int kMaxDepth = 100;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::shared_ptr<const Node>> all() {
    SONDE_TRY(node, expression(0));
    blanks();
    if (at_ < text_.size()) return wrong("the end or 'and', 'or'");
    return node;
  }

 private:
  tl::unexpected<Error> wrong(std::string_view expected) const {
    return fail(Code::kInvalid,
                fmt::format("--filter: expected {} at '{}'", expected, text_.substr(at_, 20)));
  }
  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool word(std::string_view wanted) {
    blanks();
    if (!text_.substr(at_).starts_with(wanted)) return false;
    const size_t end = at_ + wanted.size();
    if (end < text_.size() && text_[end] != ' ' && text_[end] != '(') return false;
    at_ = end;
    return true;
  }
  bool sign(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<std::shared_ptr<const Node>> joined(int depth, bool is_or) {
    SONDE_TRY(first, is_or ? joined(depth, false) : factor(depth));
    std::shared_ptr<const Node> left = std::move(first);
    while (word(is_or ? "or" : "and")) {
      SONDE_TRY(right, is_or ? joined(depth, false) : factor(depth));
      auto node = std::make_shared<Node>();
      node->is = is_or ? Is::kOr : Is::kAnd;
      node->left = std::move(left);
      node->right = std::move(right);
      left = std::move(node);
    }
    return left;
  }
  Result<std::shared_ptr<const Node>> expression(int depth) { return joined(depth, true); }

  Result<std::shared_ptr<const Node>> factor(int depth) {
    if (depth > kMaxDepth) return fail(Code::kInvalid, "--filter: nested too deeply");
    if (word("not")) {
      SONDE_TRY(inner, factor(depth + 1));
      auto node = std::make_shared<Node>();
      node->is = Is::kNot;
      node->left = std::move(inner);
      return node;
    }
    if (sign('(')) {
      SONDE_TRY(inner, expression(depth + 1));
      if (!sign(')')) return wrong("')'");
      return inner;
    }
    return comparison();
  }

  Result<std::shared_ptr<const Node>> comparison() {
    blanks();
    const size_t end = text_.find_first_of("=~<>", at_);
    if (end == std::string_view::npos) return wrong("FIELD=VALUE or FIELD~REGEX");
    auto node = std::make_shared<Node>();
    node->field = text_.substr(at_, end - at_);
    while (node->field.ends_with(' ')) node->field.pop_back();
    node->comparison = text_[end];
    at_ = end + 1;
    blanks();
    if (at_ < text_.size() && text_[at_] == '"') {
      const size_t close = text_.find('"', at_ + 1);
      if (close == std::string_view::npos) return wrong("a closing quote");
      node->value = text_.substr(at_ + 1, close - at_ - 1);
      at_ = close + 1;
    } else {
      const size_t stop = std::min(text_.find_first_of(" )", at_), text_.size());
      node->value = text_.substr(at_, stop - at_);
      at_ = stop;
    }
    return checked(std::move(node));
  }

  Result<std::shared_ptr<const Node>> checked(std::shared_ptr<Node> node) {
    if (node->field == "dur") {
      node->is = Is::kDuration;
      SONDE_TRY(ps, parse_time_ps(node->value));
      node->from = ps;
      if (node->comparison == '~') return wrong("dur>TIME or dur<TIME");
    } else if (node->field == "step") {
      node->is = Is::kStep;
      const size_t dots = node->value.find("..");
      const std::string first = node->value.substr(0, dots);
      const std::string last = dots == std::string::npos ? first : node->value.substr(dots + 2);
      const auto number = [](const std::string& text, int64_t& out) {
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), out);
        return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
      };
      if (!number(first, node->from) || !number(last, node->to))
        return fail(Code::kInvalid, "--filter: step=N or step=N..M");
    } else if (node->field == "name" || node->field == "cat" || node->field == "op" ||
               node->field == "lane") {
      if (node->comparison == '~') {
        SONDE_TRY(regex, Regex::compile(node->value));
        node->regex = std::move(regex);
      } else if (node->comparison != '=') {
        return fail(Code::kInvalid, fmt::format("--filter: {} takes = or ~", node->field));
      }
    } else {
      return fail(Code::kInvalid,
                  fmt::format("--filter: fields are name, cat, op, lane, dur and step, not '{}'",
                              node->field));
    }
    return node;
  }

  std::string_view text_;
  size_t at_ = 0;
};

bool matches(const Node& node, std::string_view text) {
  return node.regex ? node.regex->found_in(text) : text == node.value;
}

bool uses_steps(const Node* node) {
  if (!node) return false;
  return node->is == Is::kStep || uses_steps(node->left.get()) || uses_steps(node->right.get());
}

}  // namespace

struct Filter::ForRun::State {
  const Node* root;
  const Run& run;
  trace::KeyId op_key;
  std::vector<StepSpan> steps;
  mutable std::map<std::pair<const Node*, uint32_t>, bool> known;  // by label or track

  bool text_matches(const Node& node, trace::TrackId track, trace::SliceId s) const {
    const trace::Trace& trace = *run.trace;
    if (node.field == "op") {
      const std::string_view op = trace.text_of(trace.find(s, op_key));
      return matches(node, op.empty() ? trace.shown_name(s) : op);
    }
    const uint32_t about = node.field == "lane" ? track : trace.label_id(s);
    const auto [found, added] = known.try_emplace({&node, about}, false);
    if (!added) return found->second;
    if (node.field == "lane") {
      found->second = matches(node, trace.shown_track_name(track));
    } else if (node.field == "cat") {
      found->second = matches(node, run.category(s));
    } else {
      found->second = matches(node, trace.name(s)) || matches(node, trace.shown_name(s));
    }
    return found->second;
  }

  bool keeps(const Node& node, trace::TrackId track, trace::SliceId s) const {
    switch (node.is) {
      case Is::kAnd:
        return keeps(*node.left, track, s) && keeps(*node.right, track, s);
      case Is::kOr:
        return keeps(*node.left, track, s) || keeps(*node.right, track, s);
      case Is::kNot:
        return !keeps(*node.left, track, s);
      case Is::kText:
        return text_matches(node, track, s);
      case Is::kDuration: {
        const int64_t ps = run.trace->duration(s).value;
        return node.comparison == '>'   ? ps > node.from
               : node.comparison == '<' ? ps < node.from
                                        : ps == node.from;
      }
      case Is::kStep: {
        const int64_t middle = run.trace->begin(s).value;
        return std::any_of(steps.begin(), steps.end(), [&](const StepSpan& step) {
          return step.number >= node.from && step.number <= node.to && middle >= step.begin &&
                 middle < std::max(step.end, step.begin + 1);
        });
      }
    }
    return true;
  }
};

Result<Filter> Filter::parse(std::string_view text) {
  Filter filter;
  if (text.find_first_not_of(' ') == std::string_view::npos) return filter;
  SONDE_TRY(root, Parser(text).all());
  filter.root_ = std::move(root);
  return filter;
}

Filter::ForRun::ForRun(const Filter& filter, const Run& run)
    : state_(new State{filter.root_.get(), run, run.trace->key("op"), {}, {}}) {
  if (uses_steps(state_->root)) state_->steps = steps_of(run);
}
Filter::ForRun::ForRun(ForRun&&) noexcept = default;
Filter::ForRun::~ForRun() = default;

bool Filter::ForRun::keeps(trace::TrackId track, trace::SliceId slice) const {
  return !state_->root || state_->keeps(*state_->root, track, slice);
}

}  // namespace sonde::exports
