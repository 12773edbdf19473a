// Where a run may be written: a folder of this machine, named by a path or by file://.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sonde::writer {

// The path of `name`. kUnsupported, with a sentence, for any other scheme: "s3://bucket/run" as a
// path would silently make the folder "s3:" here.
Result<std::string> local_folder(std::string_view name);

}  // namespace sonde::writer
