#include "graph/pbtxt_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "codec/wire.h"

namespace sonde::graph {
namespace {

constexpr int kMaxNesting = 100;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<void> message(const MessageSchema* schema, char close, std::string& out, int depth) {
    if (depth > kMaxNesting) return bad("messages are nested too deep");
    for (;;) {
      skip_space();
      if (at_ == text_.size())
        return close == '\0' ? Result<void>{} : bad("the text ends inside a message");
      if (text_[at_] == close) {
        ++at_;
        return {};
      }
      if (auto done = field(schema, out, depth); !done) return done;
    }
  }

 private:
  tl::unexpected<Error> bad(std::string_view what) const {
    const auto line =
        1 + std::count(text_.begin(),
                       text_.begin() + static_cast<ptrdiff_t>(std::min(at_, text_.size())), '\n');
    return fail(Code::kInvalid, fmt::format("line {}: {}", line, what));
  }

  void skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ';') {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view word() {
    skip_space();
    const size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' ||
            text_[at_] == '.' || text_[at_] == '-' || text_[at_] == '+')) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }

  Result<void> field(const MessageSchema* schema, std::string& out, int depth) {
    const std::string_view name = word();
    if (name.empty()) return bad(fmt::format("a field name is expected before '{}'", text_[at_]));
    const FieldSchema* found = nullptr;
    if (schema) {
      for (const FieldSchema& f : schema->fields) {
        if (f.name == name) found = &f;
      }
    }
    skip_space();
    if (at_ < text_.size() && text_[at_] == ':') ++at_;
    skip_space();
    if (at_ == text_.size()) return bad(fmt::format("field '{}' has no value", name));
    if (text_[at_] != '[') return value(found, out, depth);
    ++at_;
    for (;;) {
      skip_space();
      if (at_ == text_.size()) return bad("the text ends inside a list");
      if (text_[at_] == ']') {
        ++at_;
        return {};
      }
      if (auto done = value(found, out, depth); !done) return done;
    }
  }

  Result<void> value(const FieldSchema* field, std::string& out, int depth) {
    const char c = text_[at_];
    if (c == '{' || c == '<') {
      ++at_;
      std::string inner;
      const MessageSchema* schema =
          field && field->kind == FieldKind::kMessage ? field->message : nullptr;
      if (auto done = message(schema, c == '{' ? '}' : '>', inner, depth + 1); !done) return done;
      if (schema) wire::Encoder(out).bytes(field->number, inner);
      return {};
    }
    if (c == '"' || c == '\'') {
      std::string text;
      if (auto done = string(text); !done) return done;
      if (field && (field->kind == FieldKind::kString || field->kind == FieldKind::kBytes))
        wire::Encoder(out).bytes(field->number, text);
      return {};
    }
    const std::string_view token = word();
    if (token.empty()) return bad(fmt::format("'{}' is no value", c));
    return field ? scalar(*field, token, out) : Result<void>{};
  }

  Result<void> scalar(const FieldSchema& field, std::string_view token, std::string& out) {
    wire::Encoder encoder(out);
    switch (field.kind) {
      case FieldKind::kBool:
        encoder.varint(field.number,
                       token == "true" || token == "True" || token == "1" || token == "t");
        return {};
      case FieldKind::kFloat:
      case FieldKind::kDouble: {
        double number = NAN;
        if (token.ends_with('f') && token.find("inf") == std::string_view::npos)
          token.remove_suffix(1);
        if (token.starts_with('+')) token.remove_prefix(1);
        const bool is_word = token == "nan" || token == "inf" || token == "-inf" ||
                             token == "infinity" || token == "-infinity";
        if (std::from_chars(token.data(), token.data() + token.size(), number).ec != std::errc() &&
            !is_word)
          return bad(fmt::format("'{}' is no number", token));
        if (field.kind == FieldKind::kFloat) {
          encoder.real32(field.number, static_cast<float>(number));
        } else {
          encoder.real(field.number, number);
        }
        return {};
      }
      case FieldKind::kEnum:
        for (const EnumName& entry : field.names) {
          if (entry.name == token) {
            encoder.varint(field.number, static_cast<uint64_t>(int64_t{entry.number}));
            return {};
          }
        }
        [[fallthrough]];
      default: {
        const bool hex = token.starts_with("0x") || token.starts_with("0X");
        const std::string_view digits = hex ? token.substr(2) : token;
        int64_t number = 0;
        uint64_t wide = 0;
        const auto reads_as = [&](auto& out) {
          const char* end = digits.data() + digits.size();
          const auto result = std::from_chars(digits.data(), end, out, hex ? 16 : 10);
          return result.ptr == end && result.ec == std::errc();
        };
        if (reads_as(number)) {
          wide = static_cast<uint64_t>(number);
        } else if (!reads_as(wide)) {
          return bad(fmt::format("'{}' is no value of field '{}'", token, field.name));
        }
        if (field.kind == FieldKind::kFixed64) {
          encoder.fixed64(field.number, wide);
        } else if (field.kind != FieldKind::kString && field.kind != FieldKind::kBytes &&
                   field.kind != FieldKind::kMessage) {
          encoder.varint(field.number, wide);
        }
        return {};
      }
    }
  }

  // Adjacent literals join, as in C.
  Result<void> string(std::string& out) {
    while (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const char quote = text_[at_++];
      for (;; ++at_) {
        if (at_ >= text_.size()) return bad("the text ends inside a string");
        if (text_[at_] == quote) break;
        if (text_[at_] != '\\') {
          out.push_back(text_[at_]);
        } else if (!escape(out)) {
          return bad("the text ends inside a string");
        }
      }
      ++at_;
      skip_space();
    }
    return {};
  }

  bool escape(std::string& out) {
    if (++at_ >= text_.size()) return false;
    const char c = text_[at_];
    const auto number = [&](int base, size_t most) {
      unsigned value = 0;
      const char* begin = text_.data() + at_;
      const auto result =
          std::from_chars(begin, begin + std::min(most, text_.size() - at_), value, base);
      at_ += static_cast<size_t>(result.ptr - begin) - 1;
      out.push_back(static_cast<char>(value));
    };
    if (c >= '0' && c <= '7') {
      number(8, 3);
    } else if (c == 'x' || c == 'X') {
      ++at_;
      number(16, 2);
    } else {
      constexpr std::string_view kNames = "abfnrtv", kCodes = "\a\b\f\n\r\t\v";
      const size_t i = kNames.find(c);
      out.push_back(i == std::string_view::npos ? c : kCodes[i]);
    }
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<std::string> from_pbtxt(std::string_view text, const MessageSchema& schema) {
  std::string out;
  if (auto done = Parser(text).message(&schema, '\0', out, 0); !done)
    return fail(std::move(done.error()));
  return out;
}

}  // namespace sonde::graph
