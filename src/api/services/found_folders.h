// The folders of the log directory, as the store's walk found them.
#pragma once

#include <memory>
#include <vector>

#include "api/routes.h"
#include "io/scan.h"

namespace sonde::api {

// A request that comes before the first walk is over waits for it, a second at most: a list that
// is made too early would say "nothing here" and be remembered.
std::shared_ptr<const std::vector<io::NamedFolder>> found_folders(const Context& context);

}  // namespace sonde::api
