// Dashboards whose data is not in event files: whether there is any.
#pragma once

#include "api/routes.h"

namespace sonde::api::tensorboard {

bool has_projector_data(const Context& context, const store::Snapshot& snapshot);
bool has_profile_data(const Context& context, const store::Snapshot& snapshot);

}  // namespace sonde::api::tensorboard
