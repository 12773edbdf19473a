#include "base/regex.h"

#include <re2/re2.h>

namespace sonde {

Result<Regex> Regex::compile(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(8 << 20);
  Regex regex;
  auto compiled =
      std::make_shared<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled->ok()) {
    return fail(Code::kInvalid, "regular expression '" + std::string(pattern) +
                                    "': " + compiled->error() +
                                    " (lookaround and back-references are not available)");
  }
  regex.compiled_ = std::move(compiled);
  return regex;
}

bool Regex::found_in(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

bool Regex::matches(std::string_view text) const {
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

bool Regex::matches_start(std::string_view text) const {
  const re2::StringPiece piece(text.data(), text.size());
  return compiled_->Match(piece, 0, piece.size(), re2::RE2::ANCHOR_START, nullptr, 0);
}

}  // namespace sonde
