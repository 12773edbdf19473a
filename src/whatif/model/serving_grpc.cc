#include "whatif/model/serving_grpc.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/strings.h"
#include "capture/remote/grpc_call.h"
#include "codec/wire.h"
#include "whatif/files/examples.h"

namespace sonde::whatif {
namespace {

using wire::Cursor;
using wire::Encoder;
using wire::Field;

constexpr std::string_view kScheme = "grpc://", kModels = "/v1/models/";
constexpr std::chrono::seconds kPatience{30};
constexpr uint64_t kMaxAnswerBytes = uint64_t{256} << 20;
constexpr size_t kMaxLabels = 10'000;
// Of TensorFlow's DataType.
constexpr uint64_t kFloat = 1, kDouble = 2, kString = 7;

struct Target {
  remote::Address address;
  std::string name, label, method;
  int64_t version = -1;
};

Result<Target> target_of(std::string_view url) {
  Target out;
  url.remove_prefix(std::min(url.size(), kScheme.size()));
  const size_t slash = url.find('/');
  SONDE_TRY(address, remote::address_of(url.substr(0, slash)));
  out.address = std::move(address);
  std::string_view path = slash == url.npos ? std::string_view() : url.substr(slash);
  const size_t colon = path.rfind(':');
  if (!path.starts_with(kModels) || colon == path.npos)
    return fail(Code::kInvalid, "write grpc://HOST:PORT/v1/models/NAME:predict");
  out.method = path.substr(colon + 1);
  if (out.method != "predict" && out.method != "classify" && out.method != "regress")
    return fail(Code::kInvalid,
                fmt::format("'{}' is no method: predict, classify or regress", out.method));
  path = path.substr(kModels.size(), colon - kModels.size());
  const auto parts = split(path, '/');
  out.name = parts[0];
  if (parts.size() == 3 && parts[1] == "labels") {
    out.label = parts[2];
  } else if (parts.size() == 3 && parts[1] == "versions") {
    const auto [end, problem] =
        std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), out.version);
    if (problem != std::errc() || end != parts[2].data() + parts[2].size() || out.version < 0)
      return fail(Code::kInvalid, fmt::format("'{}' is no version", parts[2]));
  } else if (parts.size() != 1) {
    return fail(Code::kInvalid, "after the model's name comes /versions/N or /labels/L");
  }
  if (out.name.empty()) return fail(Code::kInvalid, "the address names no model");
  return out;
}

std::string request_of(const Target& target, const ModelConfig& model, const Dataset& data,
                       size_t begin, size_t end) {
  std::string out;
  Encoder request(out);
  request.message(1, [&](Encoder& spec) {
    spec.bytes(1, target.name);
    if (target.version >= 0)
      spec.message(2, [&](Encoder& v) { v.varint(1, static_cast<uint64_t>(target.version)); });
    if (!model.signature.empty()) spec.bytes(3, model.signature);
    if (!target.label.empty()) spec.bytes(4, target.label);
  });
  if (target.method != "predict") {
    request.message(2, [&](Encoder& input) {
      input.message(1, [&](Encoder& list) {
        for (size_t row = begin; row < end; ++row) list.bytes(1, write_example(data, row));
      });
    });
    return out;
  }
  request.message(2, [&](Encoder& entry) {
    entry.bytes(1, model.tensor.empty() ? "examples" : model.tensor);
    entry.message(2, [&](Encoder& tensor) {
      tensor.varint(1, kString);
      tensor.message(2, [&](Encoder& shape) {
        shape.message(2, [&](Encoder& dim) { dim.varint(1, end - begin); });
      });
      for (size_t row = begin; row < end; ++row) tensor.bytes(8, write_example(data, row));
    });
  });
  return out;
}

// Every number of a tensor of floats.
bool tensor_values(Bytes message, std::vector<double>& out) {
  uint64_t type = 0;
  Bytes content;
  Cursor cursor(message);
  for (Field f; cursor.next(f);) {
    if (f.number == 1) type = f.as_uint();
    if (f.number == 4 && f.is_bytes()) content = f.bytes;
    if (f.number == 5 &&
        !wire::for_each_fixed<float>(f, [&](float v) { out.push_back(double{v}); }))
      return false;
    if (f.number == 6 && !wire::for_each_fixed<double>(f, [&](double v) { out.push_back(v); }))
      return false;
  }
  if (!cursor.ok() || (type != kFloat && type != kDouble)) return false;
  const size_t width = type == kFloat ? 4 : 8;
  for (size_t at = 0; at + width <= content.size(); at += width)
    out.push_back(type == kFloat ? double{load<float>(content, at)} : load<double>(content, at));
  return true;
}

Result<void> read_predict(Bytes answer, std::string_view wanted, size_t rows, RawScores& out) {
  // The output named; otherwise the widest that is a tensor of numbers, as in KServe's answers.
  std::vector<double> best;
  Cursor cursor(answer);
  for (Field f; cursor.next(f);) {
    if (f.number != 1 || !f.is_bytes()) continue;
    std::string_view name;
    std::vector<double> values;
    bool has_numbers = false;
    Cursor entry(f.bytes);
    for (Field e; entry.next(e);) {
      if (e.number == 1 && e.is_bytes()) name = e.text();
      if (e.number == 2 && e.is_bytes()) has_numbers = tensor_values(e.bytes, values);
    }
    if (!entry.ok()) return fail(Code::kCorrupt, "an output of the answer is broken");
    if (!wanted.empty() && name != wanted) continue;
    if (has_numbers && values.size() >= best.size()) best = std::move(values);
  }
  if (!cursor.ok()) return fail(Code::kCorrupt, "the answer is broken");
  if (best.empty() || best.size() % rows != 0 || best.size() / rows > kMaxLabels)
    return fail(Code::kInvalid, fmt::format("the answer's output has {} numbers for {} examples",
                                            best.size(), rows));
  out.width = best.size() / rows;
  out.scores = std::move(best);
  return {};
}

// One Classifications or one Regression.
bool add_result(Bytes result, bool is_first, RawScores& out) {
  Cursor cursor(result);
  bool is_classes = false;
  float value = 0;
  for (Field f; cursor.next(f);) {
    if (f.number != 1) continue;
    if (!f.is_bytes()) {
      value = f.as_float();
      continue;
    }
    is_classes = true;
    std::string_view label;
    float score = 0;
    Cursor one(f.bytes);
    for (Field e; one.next(e);) {
      if (e.number == 1 && e.is_bytes()) label = e.text();
      if (e.number == 2) score = e.as_float();
    }
    if (!one.ok()) return false;
    if (is_first) out.labels.push_back(to_utf8(label));
    out.scores.push_back(double{score});
  }
  if (!is_classes) out.scores.push_back(double{value});  // zero is not written
  return cursor.ok();
}

}  // namespace

bool is_grpc(std::string_view url) { return url.starts_with(kScheme); }

Result<void> check_grpc(const ModelConfig& model) {
  SONDE_TRY(const target, target_of(model.url));
  (void)target;
  return {};
}

Result<RawScores> read_serving(std::string_view method, std::string_view output, Bytes answer,
                               size_t rows) {
  RawScores out;
  if (method == "predict") {
    if (auto read = read_predict(answer, output, rows, out); !read)
      return fail(std::move(read).error());
    return out;
  }
  size_t results = 0;
  Cursor cursor(answer);
  for (Field f; cursor.next(f);) {
    if (f.number != 1 || !f.is_bytes()) continue;
    Cursor list(f.bytes);
    for (Field e; list.next(e);) {
      if (e.number != 1 || !e.is_bytes()) continue;
      const size_t before = out.scores.size();
      if (!add_result(e.bytes, results == 0, out))
        return fail(Code::kCorrupt, "a result of the answer is broken");
      const size_t width = out.scores.size() - before;
      if (results++ == 0) out.width = width;
      if (width != out.width || width > kMaxLabels)
        return fail(Code::kInvalid,
                    fmt::format("the model answered {} scores for one example and {} for another",
                                out.width, width));
    }
    if (!list.ok()) return fail(Code::kCorrupt, "the answer is broken");
  }
  if (!cursor.ok()) return fail(Code::kCorrupt, "the answer is broken");
  if (results != rows)
    return fail(Code::kInvalid,
                fmt::format("the model answered {} predictions for {} examples", results, rows));
  return out;
}

Result<RawScores> ask_serving(const ModelConfig& model, const Dataset& data, size_t begin,
                              size_t end) {
  SONDE_TRY(const target, target_of(model.url));
  remote::Call call;
  call.address = target.address;
  const std::string_view method = target.method == "predict"    ? "Predict"
                                  : target.method == "classify" ? "Classify"
                                                                : "Regress";
  call.path = fmt::format("/tensorflow.serving.PredictionService/{}", method);
  call.message = request_of(target, model, data, begin, end);
  call.deadline = std::chrono::steady_clock::now() + kPatience;
  call.max_answer_bytes = kMaxAnswerBytes;
  call.policy = model.policy ? &*model.policy : nullptr;
  SONDE_TRY(const answer, remote::unary_call(call));
  return read_serving(target.method, model.output, as_bytes(answer), end - begin);
}

}  // namespace sonde::whatif
