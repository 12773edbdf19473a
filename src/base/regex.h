// Regular expressions in linear time (RE2), with errors a person can act on.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace sonde {

class Regex {
 public:
  // kInvalid, naming the construct, when the pattern is not understood.
  static Result<Regex> compile(std::string_view pattern);

  bool found_in(std::string_view text) const;       // anywhere, like Python's re.search
  bool matches(std::string_view text) const;        // the whole text
  bool matches_start(std::string_view text) const;  // from the beginning, like Python's re.match

 private:
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace sonde
