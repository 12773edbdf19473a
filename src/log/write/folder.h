// Where a run may be written: a folder of this machine, named by a path or by file://, or a store.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace sonde::writer {

// True for s3://, gs:// and az://: written through an outbox (outbox.h).
bool is_store(std::string_view name);

// The path of `name`. kUnsupported, with a sentence, for any other scheme: "s3://bucket/run" as a
// path would silently make the folder "s3:" here.
Result<std::string> local_folder(std::string_view name);

// Whether a run can be written there, as far as the name tells.
Result<void> check_folder(const std::string& name);

}  // namespace sonde::writer
