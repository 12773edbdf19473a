#include "api/tensorboard/scalar_json.h"

#include "api/tensorboard/shared.h"
#include "base/json.h"

namespace sonde::api::tensorboard {
namespace {

// A point is about 60 characters; reserving keeps a long answer from being copied as it grows.
void reserve(std::string& out, const store::Series& series, uint64_t limit, size_t each) {
  const uint64_t count = std::min(series.size(store::View::kNewest), limit);
  out.reserve(out.size() + std::min<uint64_t>(count, 1 << 20) * each + 2);
}

void append_csv_value(std::string& out, const query::ScalarPoint& point) {
  switch (point.type) {
    case store::ValueType::kFloat32:
    case store::ValueType::kFloat64:
      out += python_float(point.value);
      break;
    case store::ValueType::kBool:
      out += point.integer != 0 ? "True" : "False";
      break;
    default:
      append_value(out, point);
  }
}

}  // namespace

void append_triples(std::string& out, const store::Series& series, uint64_t limit) {
  reserve(out, series, limit, 50);
  out.push_back('[');
  bool is_first = true;
  query::for_each_scalar(series, limit, [&](const query::ScalarPoint& point) {
    if (!is_first) out.push_back(',');
    is_first = false;
    append_triple(out, point);
  });
  out.push_back(']');
}

void append_objects(std::string& out, const store::Series& series, uint64_t limit) {
  reserve(out, series, limit, 80);
  out.push_back('[');
  bool is_first = true;
  query::for_each_scalar(series, limit, [&](const query::ScalarPoint& point) {
    out += is_first ? "{\"wallTime\":" : ",{\"wallTime\":";
    is_first = false;
    append_json_number(out, point.wall_time);
    out += ",\"step\":";
    append_integer(out, point.step);
    out += ",\"value\":";
    append_value(out, point);
    out.push_back('}');
  });
  out.push_back(']');
}

Answer scalar_series(const Context& context, std::string_view run, std::string_view tag,
                     std::string_view format) {
  const auto snapshot = context.store.snapshot();
  const store::Series* series =
      find_series(*snapshot, run, tag, store::DataClass::kScalar, "scalars");
  if (!series) {
    return not_found("No scalar data for run=" + python_name(run) + ", tag=" + python_name(tag));
  }
  const uint64_t limit = samples(context, "scalars", kDefaultSamples);
  std::string out;
  if (format != "csv") {
    append_triples(out, *series, limit);
    return Answer::json(std::move(out));
  }
  out = "Wall time,Step,Value\r\n";
  query::for_each_scalar(*series, limit, [&](const query::ScalarPoint& point) {
    out += python_float(point.wall_time) + ",";
    append_integer(out, point.step);
    out.push_back(',');
    append_csv_value(out, point);
    out += "\r\n";
  });
  return csv(std::move(out));
}

Answer scalar_series(const Context& context, const Request& request) {
  const auto run = request.param("run");
  const auto tag = request.param("tag");
  if (!run || !tag) {
    return invalid("Both run and tag must be specified: tag=" + python_name(tag) +
                   ", run=" + python_name(run));
  }
  return scalar_series(context, *run, *tag, request.param("format").value_or("json"));
}

void for_each_part(const Context& context, size_t count, const std::function<void(size_t)>& fn) {
  constexpr size_t kWorthSplitting = 8;
  if (count < kWorthSplitting) {
    for (size_t i = 0; i < count; ++i) fn(i);
  } else {
    context.pool.for_each(count, fn);
  }
}

std::string joined(const std::vector<std::string>& pieces) {
  size_t size = pieces.size() + 2;
  for (const std::string& piece : pieces) size += piece.size();
  std::string out;
  out.reserve(size);
  for (const std::string& piece : pieces) {
    if (!out.empty()) out.push_back(',');
    out += piece;
  }
  return out;
}

}  // namespace sonde::api::tensorboard
