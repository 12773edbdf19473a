// Which op made the first value that is no number: from a bad tensor up through its bad inputs to
// the op whose inputs were all finite, and down again to the end of the step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "numerics/dump.h"

namespace sonde::numerics {

struct Place {
  std::string path, function;
  int64_t line = 0;
  bool is_known() const { return !path.empty(); }
  std::string text() const;  // "loss.py:42"
};

// One tensor of the chain from the last finite input to the end of the step.
struct Link {
  std::string op_name, op_type;
  Place where;
  int64_t trace = -1, execution = -1;  // its row
  Health health;
  std::optional<Numbers> numbers;
};

enum class FaultKind : uint8_t {
  kMade,     // an op with finite inputs made it
  kEntered,  // it came in with the data
  kHeld,     // a parameter held it before the step
  kExploded,
  kDead,
};

struct Fault {
  FaultKind kind = FaultKind::kMade;
  uint8_t bad = kNone;
  int64_t step = -1;
  bool has_steps = false;  // training steps; otherwise how often the op had run before
  int64_t rank = -1;
  std::string host;
  double wall_time = 0;
  uint64_t followers = 0;   // further bad tensors in the same step
  size_t at = 0;            // into chain: the op that made it
  std::vector<Link> chain;  // in order of execution
  std::string reached;      // what its input was: "from `softmax`, which reached 0.0"
  const Link& link() const { return chain[at]; }
};

// The first of a dump, nothing when all tensors are well. Infinities that programs write on purpose
// (constants, masks) are well as long as no op makes a NaN of them.
std::optional<Fault> first_fault(const Dump& dump);

// One sentence: "First NaN: `log` at loss.py:42 in step 1318 (rank 3), from `softmax`, which
// reached 0.0; 214 tensors followed within the step".
std::string sentence(const Fault& fault);
// What to try, in plain words; empty when the data say nothing.
std::string advice(const Fault& fault);
std::string healthy_sentence(const Data& data);

// An op that holds what the program wrote there.
bool is_constant_type(std::string_view type);

// A file of Python or of an installed package.
bool is_library_path(std::string_view path);

// The innermost frame that is the user's own, of frames as written (outermost first).
Place user_place(const Data& data, const std::vector<std::string_view>& frame_ids);

}  // namespace sonde::numerics
