// The members of a zip file (NumPy's .npz): names and bytes, stored or deflated. Believes the
// central directory and checks every offset against the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::io {

struct ZipMember {
  std::string_view name;  // a view of the file
  Bytes packed;
  uint64_t size_bytes = 0;  // unpacked
  bool is_deflated = false;
};

// kInvalid when it is no zip file, kUnsupported for encrypted members and sizes beyond 4 GB.
Result<std::vector<ZipMember>> zip_members(Bytes file);
// The unpacked bytes; kTooLarge above `limit_bytes`.
Result<std::string> unzipped(const ZipMember& member, uint64_t limit_bytes);

}  // namespace sonde::io
