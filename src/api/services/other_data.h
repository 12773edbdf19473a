// What a log directory holds beside its event files: captures, embeddings, dumps of TensorFlow's
// debugger. For the page that says what was found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "log/model/snapshot.h"

namespace sonde::api {

struct OtherData {
  std::string_view kind;  // capture | embedding | debugger
  std::string path;       // a folder or a file
  uint64_t files = 0;     // a checkpoint counts as one
  uint64_t bytes = 0;     // 0 when not known
};

// At most this many are named.
inline constexpr size_t kMostOtherData = 2000;

std::vector<OtherData> other_data(const Context& context, const store::Snapshot& snapshot);

}  // namespace sonde::api
