// Folders of digests in the log directory (capture/digest), read when somebody looks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "capture/digest/digest.h"

namespace sonde::api {

struct DigestFolder {
  std::string id;  // name of the folder below its root
  std::string path;
  uint64_t captures = 0, bytes = 0;
  int64_t modified_ns = 0;
};

std::shared_ptr<const std::vector<DigestFolder>> digest_folders(const Context& context);
// kNotFound, naming it.
Result<DigestFolder> digest_folder(const Context& context, std::string_view id);
// Kept as long as the folder stays as it is.
Result<std::shared_ptr<const capture::digest::Ranks>> digest_ranks(const Context& context,
                                                                   const DigestFolder& folder);

}  // namespace sonde::api
