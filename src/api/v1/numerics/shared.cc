#include "api/v1/numerics/shared.h"

#include <cmath>

#include "api/services/numerics_dumps.h"
#include "api/services/services.h"

namespace sonde::api::v1::numerics_area {
namespace {

void write_place(JsonWriter& json, const numerics::Place& place) {
  json.key("path").string(place.path);
  json.key("line").number(place.line);
  json.key("function").string(place.function);
}

void write_number(JsonWriter& json, std::string_view name, double value) {
  json.key(name);
  std::isnan(value) || value < 0 ? json.null() : json.number(value);
}

}  // namespace

using numerics::Dump;

Result<std::shared_ptr<Dump>> dump_param(const Context& context, const Request& request,
                                         std::string_view name) {
  SONDE_TRY(dump, text_param(request, name));
  return context.services.numerics().find(context, dump);
}

Answer answer_of(const Context& context, const Dump& dump, std::string body) {
  return json_answer(context, dump.revision(), std::move(body));
}

void write_health(JsonWriter& json, const numerics::Health& health,
                  const std::optional<numerics::Numbers>& numbers) {
  json.key("bad").number(static_cast<int>(health.bad));
  json.key("dtype").number(health.dtype);
  json.key("rank").number(health.rank);
  json.key("shape").array([&] {
    for (const int64_t size : health.shape) json.number(size);
  });
  write_number(json, "size", health.size);
  write_number(json, "neg_inf", health.neg_inf);
  write_number(json, "pos_inf", health.pos_inf);
  write_number(json, "nan", health.nan);
  write_number(json, "negative", health.negative);
  write_number(json, "zero", health.zero);
  write_number(json, "positive", health.positive);
  json.key("numbers");
  if (!numbers) return json.null();
  json.object([&] {
    const auto add = [&](std::string_view name, float value) { json.key(name).number(value); };
    add("rms", numbers->rms);
    add("min", numbers->min);
    add("max", numbers->max);
    add("mean", numbers->mean);
    add("subnormal", numbers->subnormal);
    add("beyond_fp16", numbers->beyond_fp16);
    add("beyond_bf16", numbers->beyond_bf16);
    add("beyond_fp8", numbers->beyond_fp8);
  });
}

void write_link(JsonWriter& json, const numerics::Link& link) {
  json.object([&] {
    json.key("op").string(link.op_name);
    json.key("type").string(link.op_type);
    json.key("trace").number(link.trace);
    json.key("execution").number(link.execution);
    write_place(json, link.where);
    write_health(json, link.health, link.numbers);
  });
}

}  // namespace sonde::api::v1::numerics_area
