// Protobuf's text format, read without a schema: projector configs and checkpoint files.
// Understands `field: value`, `field { … }`, `field: [a, b]`, `#` comments, adjacent strings with C
// escapes, and
// `;` or `,` between fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sonde {

struct TextMessage {
  struct Field {
    std::string name;
    std::string value;                  // of a scalar: unescaped text, or the token as written
    std::vector<TextMessage> messages;  // one when it is a message
    bool is_message() const { return !messages.empty(); }
  };
  std::vector<Field> fields;

  std::string text(std::string_view name) const;  // the last of that name; empty when absent
  std::vector<const Field*> all(std::string_view name) const;
};

// kInvalid with the line where it stops making sense.
Result<TextMessage> parse_text_proto(std::string_view text);

}  // namespace sonde
