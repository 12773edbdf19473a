// What a wandb run is called, from the first bytes of its file.
#pragma once

#include <string>

#include "base/bytes.h"

namespace sonde::trackers {

// project/name, or project/id of a run without a name; empty when the record that says it is not
// among these bytes.
std::string wandb_name(Bytes head);

}  // namespace sonde::trackers
