#include "text/sanitize.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "text/entities.h"

namespace sonde::text {
namespace {

constexpr size_t kMaxDepth = 200;  // deeper elements come out as text

constexpr std::string_view kTags[] = {"a",  "blockquote", "br",  "code",   "em",    "h1",    "h2",
                                      "h3", "h4",         "h5",  "h6",     "hr",    "img",   "li",
                                      "ol", "p",          "pre", "strong", "table", "tbody", "td",
                                      "th", "thead",      "tr",  "ul"};

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_allowed(std::string_view name) {
  return std::find(std::begin(kTags), std::end(kTags), name) != std::end(kTags);
}

bool is_void(std::string_view name) { return is_one_of(name, {"br", "hr", "img"}); }

// Elements whose start ends an open paragraph.
bool ends_paragraph(std::string_view name) {
  return is_one_of(name, {"blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p",
                          "pre", "table", "ul"});
}

bool is_table_part(std::string_view name) {
  return is_one_of(name, {"tbody", "td", "th", "thead", "tr"});
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

// A tag as it stands in the source.
struct Tag {
  std::string name;  // lower case
  bool closes = false;
  std::vector<std::pair<std::string, std::string>> attributes;
  size_t end = 0;  // position behind '>'
};

constexpr size_t kMaxAttributes = 64;  // of one tag; further ones are dropped

// The tag that begins with '<' at `at`; nothing when it is never closed by '>'. `i` is how far it
// looked.
std::optional<Tag> tag_at(std::string_view html, size_t at, size_t& i) {
  Tag tag;
  i = at + 1;
  if (i < html.size() && html[i] == '/') {
    tag.closes = true;
    ++i;
  }
  const size_t name = i;
  while (i < html.size() && !is_space(html[i]) && html[i] != '/' && html[i] != '>') ++i;
  tag.name = lower(html.substr(name, i - name));
  while (i < html.size()) {
    while (i < html.size() && (is_space(html[i]) || html[i] == '/')) ++i;
    if (i >= html.size()) return std::nullopt;
    if (html[i] == '>') {
      tag.end = i + 1;
      return tag;
    }
    const size_t key = i++;  // the first character belongs to the name even when it is '='
    while (i < html.size() && !is_space(html[i]) && html[i] != '/' && html[i] != '>' &&
           html[i] != '=') {
      ++i;
    }
    std::string attribute = lower(html.substr(key, i - key));
    while (i < html.size() && is_space(html[i])) ++i;
    std::string_view value;
    if (i < html.size() && html[i] == '=') {
      ++i;
      while (i < html.size() && is_space(html[i])) ++i;
      if (i < html.size() && (html[i] == '"' || html[i] == '\'')) {
        const size_t close = html.find(html[i], i + 1);
        if (close == std::string_view::npos) {
          i = html.size();
          return std::nullopt;
        }
        value = html.substr(i + 1, close - i - 1);
        i = close + 1;
      } else {
        const size_t start = i;
        while (i < html.size() && !is_space(html[i]) && html[i] != '>') ++i;
        value = html.substr(start, i - start);
      }
    }
    if (tag.attributes.size() >= kMaxAttributes) continue;
    const bool is_known = std::any_of(tag.attributes.begin(), tag.attributes.end(),
                                      [&](const auto& a) { return a.first == attribute; });
    if (!is_known) tag.attributes.emplace_back(std::move(attribute), value);
  }
  return std::nullopt;
}

// What a browser would see as the scheme decides: entities decoded, blanks and controls dropped.
bool is_safe_link(std::string_view value) {
  std::string normal;
  const std::string decoded = decoded_entities(value);
  for (size_t i = 0; i < decoded.size(); ++i) {
    const auto c = static_cast<unsigned char>(decoded[i]);
    if (c <= 0x20 || c == 0x7f || c == '`') continue;
    if (c == 0xc2 && i + 1 < decoded.size() && static_cast<unsigned char>(decoded[i + 1]) <= 0xa0) {
      ++i;  // U+0080..U+00A0
      continue;
    }
    normal.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : static_cast<char>(c));
  }
  const size_t colon = normal.find(':');
  if (colon == std::string::npos || colon > normal.find_first_of("/?#")) return true;
  const std::string_view scheme = std::string_view(normal).substr(0, colon);
  return is_one_of(scheme, {"http", "https", "mailto"});
}

void append_escaped(std::string& out, std::string_view text, bool in_attribute) {
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += in_attribute ? ">" : "&gt;";
        break;
      case '"':
        out += in_attribute ? "&quot;" : "\"";
        break;
      case '&':
        out += (in_attribute ? entity_length(text.substr(i)) : kept_length(text.substr(i))) > 0
                   ? "&"
                   : "&amp;";
        break;
      default:
        out.push_back(text[i]);
    }
  }
}

class Cleaner {
 public:
  std::string clean(std::string_view html) {
    out_.reserve(html.size() + html.size() / 8);
    steps_left_ = html.size() * kStepsPerByte + kFreeSteps;
    size_t text = 0;  // start of text not written yet
    for (size_t i = 0; i < html.size();) {
      if (html[i] != '<') {
        ++i;
        continue;
      }
      const size_t next = markup_end(html, i);
      if (next == 0) {  // a '<' that opens nothing
        ++i;
        continue;
      }
      write_text(html.substr(text, i - text));
      markup(html, i, next);
      i = text = next;
    }
    write_text(html.substr(text));
    while (!open_.empty()) close_last();
    return std::move(out_);
  }

 private:
  // End of the comment, declaration or tag at `at`, 0 when it is plain text.
  size_t markup_end(std::string_view html, size_t at) {
    const std::string_view rest = html.substr(at);
    if (rest.starts_with("<!--")) {
      if (rest.starts_with("<!-->")) return at + 5;
      if (rest.starts_with("<!--->")) return at + 6;
      const size_t end = html.find("-->", at + 4);
      return end == std::string_view::npos ? html.size() : end + 3;
    }
    if (rest.size() < 2) return 0;
    if (rest[1] == '!' || rest[1] == '?') {
      const size_t end = html.find('>', at);
      return end == std::string_view::npos ? html.size() : end + 1;
    }
    const bool names =
        is_letter(rest[1]) || (rest[1] == '/' && rest.size() > 2 && is_letter(rest[2]));
    if (!names || steps_left_ == 0) return 0;  // without steps a '<' is text, which is safe
    size_t seen = at;
    current_ = tag_at(html, at, seen);
    steps_left_ -= std::min<uint64_t>(seen - at, steps_left_);
    return current_ ? current_->end : 0;
  }

  void markup(std::string_view html, size_t at, size_t end) {
    if (html[at + 1] == '!' || html[at + 1] == '?') return;  // comments and declarations vanish
    const Tag& tag = *current_;
    if (!is_allowed(tag.name) || (!tag.closes && open_.size() >= kMaxDepth)) {
      write_text(html.substr(at, end - at));
    } else if (tag.closes) {
      end_tag(tag.name);
    } else {
      start_tag(tag);
      // The first line break inside pre is not content, so says HTML.
      if (tag.name == "pre") skip_newline_ = true;
    }
  }

  bool is_open(std::string_view name) const {
    return std::find(open_.begin(), open_.end(), name) != open_.end();
  }

  // Whether `name` is open inside the innermost of `fences`.
  bool is_open_within(std::string_view name, std::initializer_list<std::string_view> fences) const {
    for (size_t i = open_.size(); i-- > 0;) {
      if (open_[i] == name) return true;
      if (is_one_of(open_[i], fences)) return false;
    }
    return false;
  }

  void close_last() {
    out_ += "</" + open_.back() + ">";
    open_.pop_back();
  }

  void close_through(std::string_view name) {
    while (!open_.empty()) {
      const bool is_it = open_.back() == name;
      close_last();
      if (is_it) return;
    }
  }

  void open(std::string_view name) {
    out_ += "<" + std::string(name) + ">";
    open_.emplace_back(name);
  }

  // Puts the table elements around a row or cell that the writer left out. False: outside a table.
  bool prepare_table_part(std::string_view name) {
    if (!is_open("table")) return false;
    const bool is_cell = name == "td" || name == "th";
    // What is open below the place where this part belongs ends here.
    while (open_.back() != "table") {
      const std::string& last = open_.back();
      if (is_cell && last == "tr") break;
      if ((is_cell || name == "tr") && (last == "tbody" || last == "thead")) break;
      close_last();
    }
    if ((is_cell || name == "tr") && open_.back() == "table") open("tbody");
    if (is_cell && open_.back() != "tr") open("tr");
    return true;
  }

  void start_tag(const Tag& tag) {
    skip_newline_ = false;
    if (is_table_part(tag.name) && !prepare_table_part(tag.name)) return;
    if (ends_paragraph(tag.name) && is_open_within("p", {"table", "td", "th"})) close_through("p");
    if (tag.name == "li" && is_open_within("li", {"ul", "ol", "table", "td", "th"}))
      close_through("li");
    if (tag.name == "a" && is_open_within("a", {"table", "td", "th"})) close_through("a");
    out_ += "<" + tag.name;
    write_attributes(tag);
    out_ += ">";
    if (!is_void(tag.name)) open_.push_back(tag.name);
  }

  void end_tag(const std::string& name) {
    skip_newline_ = false;
    if (name == "br") {
      out_ += "<br>";
    } else if (name == "p" && !is_open_within("p", {"table", "td", "th"})) {
      out_ += "<p></p>";
    } else if (is_void(name)) {
      return;
    } else if (is_table_part(name) || name == "table") {
      if (is_open(name)) close_through(name);
    } else if (is_open_within(name, {"table", "td", "th"})) {
      close_through(name);
    }
  }

  void write_attributes(const Tag& tag) {
    const bool is_link = tag.name == "a", is_image = tag.name == "img";
    if (!is_link && !is_image) return;
    for (auto at = tag.attributes.begin(); at != tag.attributes.end(); ++at) {  // as written
      const auto& [name, value] = *at;
      const bool is_first = std::none_of(tag.attributes.begin(), at,
                                         [&](const auto& a) { return a.first == at->first; });
      const bool is_target = is_link ? name == "href" : name == "src";
      const bool is_allowed = is_target || name == "title" || (is_image && name == "alt");
      if (!is_first || !is_allowed || (is_target && !is_safe_link(value))) continue;
      out_ += " " + name + "=\"";
      append_escaped(out_, value, true);
      out_ += "\"";
    }
  }

  void write_text(std::string_view text) {
    if (text.empty()) return;
    if (skip_newline_ && text.front() == '\n') text.remove_prefix(1);
    skip_newline_ = false;
    append_escaped(out_, text, false);
  }

  std::string out_;
  std::vector<std::string> open_;
  std::optional<Tag> current_;
  bool skip_newline_ = false;
  // Tags that never end are looked for up to the end of the text, each anew: only so often.
  static constexpr uint64_t kStepsPerByte = 100, kFreeSteps = 4 << 20;
  uint64_t steps_left_ = 0;
};

}  // namespace

std::string safe_html(std::string_view html) { return Cleaner().clean(html); }

}  // namespace sonde::text
