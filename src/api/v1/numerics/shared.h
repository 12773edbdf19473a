// What the routes of numerics have in common.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/v1/support.h"
#include "codec/json.h"
#include "numerics/dump.h"
#include "numerics/first_fault.h"

namespace sonde::api::v1::numerics_area {

// The recording that the parameter `name` says, up to date.
Result<std::shared_ptr<numerics::Dump>> dump_param(const Context& context, const Request& request,
                                                   std::string_view name = "dump");
Answer answer_of(const Context& context, const numerics::Dump& dump, std::string body);

void write_health(JsonWriter& json, const numerics::Health& health,
                  const std::optional<numerics::Numbers>& numbers);
void write_link(JsonWriter& json, const numerics::Link& link);

// Routes: tensors over steps, several recordings side by side, what else is wrong.
Answer map(const Context& context, const Request& request);
Answer alerts(const Context& context, const Request& request);
Answer compare(const Context& context, const Request& request);

}  // namespace sonde::api::v1::numerics_area
