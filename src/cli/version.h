// What `sonde --version` says: the version and the commit it was built from.
#pragma once

#include <string>

namespace sonde::cli {

// "0.1.0 (1a2b3c4)"; without the brackets when the commit is not known.
std::string version_text();

}  // namespace sonde::cli
