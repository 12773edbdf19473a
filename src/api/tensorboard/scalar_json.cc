#include "api/tensorboard/scalar_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "api/tensorboard/shared.h"
#include "base/number_text.h"
#include "codec/json.h"

namespace sonde::api::tensorboard {
namespace {

// A point is about 60 characters; reserving keeps a long answer from being copied as it grows.
void reserve(std::string& out, const store::Series& series, uint64_t limit, size_t each) {
  const uint64_t count = std::min(series.size(store::View::kNewest), limit);
  const size_t wanted = out.size() + std::min<uint64_t>(count, 1 << 20) * each + 2;
  if (wanted > out.capacity()) out.reserve(std::max(wanted, 2 * out.capacity()));
}

// Points are put together in a buffer of their own and appended many at once: a large answer holds
// millions of them.
class PointText {
 public:
  explicit PointText(std::string& out) : out_(out) {}
  ~PointText() { flush(); }
  // Before each point.
  void begin() {
    if (end_ > buffer_ + sizeof buffer_ - kMaxPoint) flush();
  }
  void text(std::string_view piece) {
    std::memcpy(end_, piece.data(), piece.size());
    end_ += piece.size();
  }
  void integer(int64_t value) { end_ = std::to_chars(end_, limit(), value).ptr; }
  void real(double value) {
    if (!std::isfinite(value)) {
      text(std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
      return;
    }
    end_ = write_json_number(end_, value);
  }
  void value(const query::ScalarPoint& point) {
    switch (point.type) {
      case store::ValueType::kFloat32:
      case store::ValueType::kFloat64:
        return real(point.value);
      case store::ValueType::kInt64:
        return integer(static_cast<int64_t>(point.integer));
      case store::ValueType::kUint64:
        end_ = std::to_chars(end_, limit(), point.integer).ptr;
        return;
      case store::ValueType::kBool:
        return text(point.integer != 0 ? "true" : "false");
    }
  }

 private:
  static constexpr size_t kMaxPoint = 192;  // three numbers of at most 34 characters and the names

  void flush() {
    out_.append(buffer_, static_cast<size_t>(end_ - buffer_));
    end_ = buffer_;
  }
  char* limit() { return buffer_ + sizeof buffer_; }

  std::string& out_;
  char buffer_[8192];
  char* end_ = buffer_;
};

// What stands around the three numbers of a point.
struct PointForm {
  std::string_view wall_time, step, value, end;
  size_t bytes;  // of a whole point, about
};

void append_points(std::string& out, const store::Series& series, uint64_t limit,
                   const PointForm& form) {
  reserve(out, series, limit, form.bytes);
  out.push_back('[');
  {
    PointText text(out);
    bool is_first = true;
    query::for_each_scalar(series, limit, [&](const query::ScalarPoint& point) {
      text.begin();
      if (!is_first) text.text(",");
      is_first = false;
      text.text(form.wall_time);
      text.real(point.wall_time);
      text.text(form.step);
      text.integer(point.step);
      text.text(form.value);
      text.value(point);
      text.text(form.end);
    });
  }
  out.push_back(']');
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
  append_points(out, series, limit, {"[", ",", ",", "]", 50});
}

void append_objects(std::string& out, const store::Series& series, uint64_t limit) {
  append_points(out, series, limit,
                {"{\"wallTime\":", ",\"step\":", ",\"value\":", "}", kObjectBytes});
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
