// CSV after RFC 4180: a header row, quoted cells may hold separators, quotes and line ends. A
// column is numeric when all of its present cells read as numbers. Empty cells are missing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/thread_pool.h"
#include "whatif/dataset.h"

namespace sonde::whatif {

struct ReadOptions {
  size_t max_examples = 100'000;
  double sampling_odds = 1;  // each example is kept with this probability
  uint64_t seed = 1;
  ThreadPool* pool = nullptr;  // splits the work over the cores when given
};

// Whether the next example is kept; the same answers for the same seed.
class Sampler {
 public:
  explicit Sampler(const ReadOptions& options);
  bool keeps();

 private:
  uint64_t state_;
  bool all_;
  double odds_;
};

// kInvalid with the row for ragged rows, an open quote or a NUL byte. The separator is a comma, a
// semicolon or a tab, whichever the header row has most of.
Result<Dataset> read_csv(std::string_view text, const ReadOptions& options);

// Appends one cell. A text that a spreadsheet would run as a formula gets an apostrophe before it.
void append_csv_cell(std::string& out, std::string_view text);
// Every example, header first.
std::string write_csv(const Dataset& data);

}  // namespace sonde::whatif
