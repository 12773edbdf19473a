// Replaces a small file whole: a reader, or a start after a crash, sees the old content or the new
// one, never a part. Used for what Sonde keeps (sidecars, colour slots), never for logs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sonde::io {

// Temporary file beside it, fsync, rename; missing folders above it are made. kIo with the system's
// words; kForbidden when the place may not be written.
Result<void> write_whole(const std::string& path, std::string_view content);

// Whether a file that is a symbolic link is read: not when its folder is a stranger's.
enum class Links : uint8_t { kFollow, kRefuse };

// The content of a regular file of at most `limit` bytes; kNotFound when there is none.
Result<std::string> read_whole(const std::string& path, size_t limit, Links links = Links::kFollow);

// Whether write_whole would be allowed, without writing anything.
bool may_write_at(const std::string& path);

// ${XDG_STATE_HOME:-~/.local/state}/sonde, empty when neither is set.
std::string state_folder();

}  // namespace sonde::io
