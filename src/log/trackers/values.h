// What trackers write in JSON and text, as numbers, texts and hyperparameters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codec/json_read.h"
#include "log/trackers/run_reader.h"

namespace sonde::trackers {

// JSON as Python writes it: NaN, Infinity and -Infinity may stand where a number can.
Result<JsonValue> read_python_json(std::string_view text);

// A number, a bool, or one of the strings "NaN", "Infinity", "-Infinity".
std::optional<double> number_of(const JsonValue& value);
// The whole text is one number ("nan" and "inf" too).
std::optional<double> number_in(std::string_view text);
// A step for whatever was written: the nearest whole number that a step can hold.
Step step_of(double value);

// Hands on a value and what is inside it, tags joined by '/'. Objects with a "_type" (wandb's
// media) and arrays stay out.
void hand_on(RunSink& sink, std::string_view tag, const JsonValue& value, Step step, double wall);
// The same for hyperparameters; arrays are kept as their JSON text.
void add_config(Config& config, std::string_view name, const JsonValue& value);
void add_config(Config& config, std::string_view name, ConfigValue value);
// "0.1" -> number, "True" -> bool, anything else text.
ConfigValue config_value(std::string_view text);

// "2026-11-18T02:38:31.633362+00:00" as Unix seconds; without an offset it is local time. 0 when
// it is no time.
double seconds_of(std::string_view iso_time);

// The name as part of a run's name: slashes stay folders, control characters go.
std::string run_name_part(std::string_view name);

}  // namespace sonde::trackers
