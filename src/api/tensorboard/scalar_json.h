// Scalar series as TensorBoard's JSON and CSV, shared by scalars, timeseries, custom_scalars and
// hparams. This is the hot path of a large log: text is appended straight, series are spread over
// the cores.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/routes.h"
#include "log/model/snapshot.h"

namespace sonde::api::tensorboard {

// [[wall_time, step, value], ...]
void append_triples(std::string& out, const store::Series& series, uint64_t limit);
// [{"wallTime":…,"step":…,"value":…}, ...]
void append_objects(std::string& out, const store::Series& series, uint64_t limit);

inline constexpr size_t kObjectBytes = 76;  // of a point, about

// The route scalars/scalars?run&tag&format, also under other names.
Answer scalar_series(const Context& context, const Request& request);
// The same for given names; the error texts of TensorBoard.
Answer scalar_series(const Context& context, std::string_view run, std::string_view tag,
                     std::string_view format);

// Calls fn(0) … fn(count - 1), on the pool when there are many.
void for_each_part(const Context& context, size_t count, const std::function<void(size_t)>& fn);
// The pieces with commas between.
std::string joined(const std::vector<std::string>& pieces);

}  // namespace sonde::api::tensorboard
