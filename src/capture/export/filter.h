// Which slices to keep: `cat=kernel and dur>100us`, `name~gemm or not lane~stream`, `step=3..5`.
//
//   expression = term { "or" term } ; term = factor { "and" factor }
//   factor = "not" factor | "(" expression ")" | FIELD OPERATOR VALUE
//   FIELD = name | cat | op | lane | dur | step ; OPERATOR = "=" | "~" | ">" | "<"
// "~" is a regular expression; a value with blanks is written in double quotes.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "capture/export/sources.h"

namespace sonde::exports {

class Filter {
 public:
  struct Node;
  // kInvalid, naming the place. The empty text keeps everything.
  static Result<Filter> parse(std::string_view text);

  bool keeps_all() const { return !root_; }
  // Prepares for a run: its steps, and names decided once per label.
  class ForRun {
   public:
    ForRun(const Filter& filter, const Run& run);
    ForRun(ForRun&&) noexcept;
    ~ForRun();
    bool keeps(trace::TrackId track, trace::SliceId slice) const;

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  std::shared_ptr<const Node> root_;
};

}  // namespace sonde::exports
