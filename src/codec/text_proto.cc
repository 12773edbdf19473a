#include "codec/text_proto.h"

#include <algorithm>

namespace sonde {
namespace {

constexpr size_t kMaxDepth = 32;

bool is_token(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '+' || c == '.';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<TextMessage> run() {
    TextMessage message;
    if (!fields(message, 0, '\0')) {
      const auto line =
          1 + std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(at_), '\n');
      return fail(Code::kInvalid, "line " + std::to_string(line) + ": not protobuf text");
    }
    return message;
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_[at_] == ' ' || (text_[at_] >= '\t' && text_[at_] <= '\r')) {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string token() {
    skip();
    const size_t start = at_;
    while (at_ < text_.size() && is_token(text_[at_])) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  // Fields up to `closing`, or to the end of the text when that is NUL.
  bool fields(TextMessage& message, size_t depth, char closing) {
    if (depth > kMaxDepth) return false;
    for (;;) {
      skip();
      if (at_ >= text_.size()) return closing == '\0';
      if (closing != '\0' && text_[at_] == closing) {
        ++at_;
        return true;
      }
      const std::string name = token();
      if (name.empty()) return false;
      const bool has_colon = take(':');
      skip();
      const bool opens = at_ < text_.size() && (text_[at_] == '{' || text_[at_] == '<');
      if (!has_colon && !opens) return false;
      if (take('[')) {
        while (!take(']')) {
          if (!value(message, name, depth)) return false;
          (void)take(',');
        }
      } else if (!value(message, name, depth)) {
        return false;
      }
      if (!take(';')) (void)take(',');
    }
  }

  bool value(TextMessage& message, const std::string& name, size_t depth) {
    TextMessage::Field field;
    field.name = name;
    skip();
    if (at_ >= text_.size()) return false;
    const char c = text_[at_];
    if (c == '{' || c == '<') {
      ++at_;
      field.messages.emplace_back();
      if (!fields(field.messages.back(), depth + 1, c == '{' ? '}' : '>')) return false;
    } else if (c == '"' || c == '\'') {
      while (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
        if (!quoted(field.value)) return false;
        skip();
      }
    } else {
      field.value = token();
      if (field.value.empty()) return false;
    }
    message.fields.push_back(std::move(field));
    return true;
  }

  bool quoted(std::string& out) {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\n') return false;
      if (text_[at_] != '\\') {
        out.push_back(text_[at_++]);
      } else if (!escape(out)) {
        return false;
      }
    }
    if (at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  bool escape(std::string& out) {
    if (++at_ >= text_.size()) return false;
    const char c = text_[at_++];
    const auto digits = [&](int base, size_t most) {
      int value = 0;
      size_t count = 0;
      while (count < most && at_ < text_.size()) {
        const char d = text_[at_];
        const int digit = d >= '0' && d <= '9'   ? d - '0'
                          : d >= 'a' && d <= 'f' ? d - 'a' + 10
                          : d >= 'A' && d <= 'F' ? d - 'A' + 10
                                                 : 99;
        if (digit >= base) break;
        value = value * base + digit;
        ++at_;
        ++count;
      }
      out.push_back(static_cast<char>(value));
      return count > 0;
    };
    constexpr std::string_view kNames = "abfnrtv", kCharacters = "\a\b\f\n\r\t\v";
    if (c == 'x' || c == 'X') return digits(16, 2);
    if (c >= '0' && c <= '7') {
      --at_;
      return digits(8, 3);
    }
    const size_t known = kNames.find(c);
    out.push_back(known == std::string_view::npos ? c : kCharacters[known]);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string TextMessage::text(std::string_view name) const {
  std::string found;
  for (const Field& field : fields) {
    if (field.name == name && !field.is_message()) found = field.value;
  }
  return found;
}

std::vector<const TextMessage::Field*> TextMessage::all(std::string_view name) const {
  std::vector<const Field*> found;
  for (const Field& field : fields) {
    if (field.name == name) found.push_back(&field);
  }
  return found;
}

Result<TextMessage> parse_text_proto(std::string_view text) { return Reader(text).run(); }

}  // namespace sonde
