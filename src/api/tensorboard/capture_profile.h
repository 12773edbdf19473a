// xprof's capture_profile: records a session of running programs and answers when it is written.
#pragma once

#include "api/routes.h"

namespace sonde::api::tensorboard {

Answer capture_profile(const Context& context, const Request& request);
Effort takes_long(const Context& context, const Request& request);

}  // namespace sonde::api::tensorboard
