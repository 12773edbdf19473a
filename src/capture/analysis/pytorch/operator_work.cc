#include "capture/analysis/pytorch/operator_work.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace sonde::capture::pytorch {
namespace {

using Shape = std::vector<int64_t>;
constexpr size_t kMostShapes = 64, kMostDimensions = 16;
constexpr int64_t kLargest = int64_t{1} << 40;  // of one dimension

std::vector<int64_t> numbers_in(std::string_view text) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < text.size() && out.size() < kMostDimensions;) {
    int64_t value = 0;
    const auto read = std::from_chars(text.data() + i, text.data() + text.size(), value);
    if (read.ec != std::errc()) {
      ++i;
      continue;
    }
    out.push_back(std::clamp<int64_t>(value, 0, kLargest));
    i = static_cast<size_t>(read.ptr - text.data());
  }
  return out;
}

// "[[2, 3], [], [4]]" -> {{2,3},{},{4}}; a list of tensors inside counts as one empty shape.
std::vector<Shape> shapes_in(std::string_view list) {
  std::vector<Shape> out;
  int depth = 0;
  size_t begin = 0;
  bool is_nested = false;
  for (size_t i = 0; i < list.size() && out.size() < kMostShapes; ++i) {
    if (list[i] == '[') {
      ++depth;
      if (depth == 2) begin = i + 1, is_nested = false;
      if (depth == 3) is_nested = true;
    } else if (list[i] == ']') {
      if (depth == 2)
        out.push_back(is_nested ? Shape() : numbers_in(list.substr(begin, i - begin)));
      --depth;
    }
  }
  return out;
}

// The index-th text of ["a", "b"].
std::string_view text_at(std::string_view list, size_t index) {
  size_t at = 0;
  for (size_t i = 0;; ++i) {
    const size_t open = list.find('"', at);
    const size_t close = open == list.npos ? list.npos : list.find('"', open + 1);
    if (close == list.npos) return {};
    if (i == index) return list.substr(open + 1, close - open - 1);
    at = close + 1;
  }
}

double product(const Shape& shape, size_t from = 0) {
  double out = 1;
  for (size_t i = from; i < shape.size(); ++i) out *= static_cast<double>(shape[i]);
  return out;
}

struct Call {
  std::string_view name, types, concrete;
  std::vector<Shape> shapes;

  const Shape& shape(size_t index) const {
    static const Shape kNothing;
    return index < shapes.size() ? shapes[index] : kNothing;
  }
  std::string_view type(size_t index) const { return text_at(types, index); }
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

Precision precision_of(std::string_view type) {
  if (contains(type, "Float8") || contains(type, "Int8") || contains(type, "signed char"))
    return Precision::k8;
  if (contains(type, "Half") || contains(type, "BFloat16")) return Precision::k16;
  return Precision::k32;
}

double bytes_of(Precision precision) {
  return precision == Precision::k8 ? 1 : precision == Precision::k16 ? 2 : 4;
}

struct Work {
  double flops = 0, elements = 0;
};

Work matrix_product(const Shape& a, const Shape& b) {
  const size_t n = a.size();
  if (n < 2 || n > 3 || b.size() != n || a[n - 1] != b[n - 2]) return {};
  const double batch = n == 3 ? static_cast<double>(a[0]) : 1;
  const auto rows = static_cast<double>(a[n - 2]), inner = static_cast<double>(a[n - 1]),
             columns = static_cast<double>(b[n - 1]);
  return {2 * batch * rows * inner * columns,
          batch * (rows * inner + inner * columns + rows * columns)};
}

// Sizes of the result from stride, padding and dilation, given once or for each dimension.
Work convolution(const Call& call) {
  const Shape &input = call.shape(0), &weight = call.shape(1);
  if (input.size() < 3 || weight.size() != input.size() || text_at(call.concrete, 6) == "True")
    return {};
  const auto stride = numbers_in(text_at(call.concrete, 3)),
             padding = numbers_in(text_at(call.concrete, 4)),
             dilation = numbers_in(text_at(call.concrete, 5));
  if (stride.empty() || padding.empty() || dilation.empty()) return {};
  const auto at = [](const std::vector<int64_t>& list, size_t i) {
    return list[std::min(i, list.size() - 1)];
  };
  double result = static_cast<double>(input[0]) * static_cast<double>(weight[0]);
  for (size_t d = 2; d < input.size(); ++d) {
    const int64_t span = at(dilation, d - 2) * (weight[d] - 1) + 1;
    const int64_t free = input[d] + 2 * at(padding, d - 2) - span;
    if (free < 0 || at(stride, d - 2) < 1) return {};
    const int64_t places = free / at(stride, d - 2) + 1;
    result *= static_cast<double>(places);
  }
  return {2 * result * product(weight, 1), product(input) + product(weight) + result};
}

// Each gradient that is asked for costs what the forward pass did.
Work convolution_backward(const Call& call) {
  const Shape &gradient = call.shape(0), &input = call.shape(1), &weight = call.shape(2);
  if (gradient.size() < 3 || input.size() != gradient.size() || weight.size() != gradient.size() ||
      text_at(call.concrete, 7) == "True")
    return {};
  const std::string_view mask = text_at(call.concrete, 10);
  if (mask.empty()) return {};
  const double of_input = mask.starts_with("[True") ? 1 : 0;
  const double of_weight = contains(mask.substr(0, mask.rfind(',')), ", True") ? 1 : 0;
  return {(of_input + of_weight) * 2 * product(gradient) * product(weight, 1),
          product(gradient) + (1 + of_input) * product(input) + (1 + of_weight) * product(weight)};
}

// Two products for each head, of which a causal mask spares nothing here: as everybody counts them.
Work attention(const Shape& query, const Shape& key, const Shape& value, bool heads_first) {
  if (query.size() != 4 || key.size() != 4 || value.size() != 4) return {};
  const size_t length = heads_first ? 2 : 1, heads = heads_first ? 1 : 2;
  const double cells = static_cast<double>(query[0]) * static_cast<double>(query[heads]) *
                       static_cast<double>(query[length]) * static_cast<double>(key[length]);
  const double result = product(query) / std::max<double>(1, static_cast<double>(query[3])) *
                        static_cast<double>(value[3]);
  return {2 * cells * static_cast<double>(query[3] + value[3]),
          product(query) + product(key) + product(value) + result};
}

Work work_of(const Call& call, size_t& typed) {
  const std::string_view name = call.name;
  if (name == "aten::mm" || name == "aten::bmm" || name == "aten::_scaled_mm" ||
      name == "aten::_int_mm")
    return matrix_product(call.shape(0), call.shape(1));
  if (name == "aten::addmm" || name == "aten::baddbmm" || name == "aten::_addmm_activation") {
    typed = 1;
    return matrix_product(call.shape(1), call.shape(2));
  }
  if (name == "aten::convolution" || name == "aten::_convolution") return convolution(call);
  if (name == "aten::convolution_backward") return convolution_backward(call);
  if (name == "aten::_flash_attention_forward" || name == "aten::_efficient_attention_forward")
    return attention(call.shape(0), call.shape(1), call.shape(2), false);
  if (name.starts_with("aten::_scaled_dot_product_") && contains(name, "_attention")) {
    if (!contains(name, "_backward"))
      return attention(call.shape(0), call.shape(1), call.shape(2), true);
    Work work = attention(call.shape(1), call.shape(2), call.shape(3), true);
    work.flops *= 2;  // four products
    work.elements *= 2;
    return work;
  }
  return {};
}

}  // namespace

OperatorWork work_of_call(std::string_view name, std::string_view dims, std::string_view types,
                          std::string_view concrete) {
  OperatorWork out;
  const Call call{name, types, concrete, shapes_in(dims)};
  size_t typed = 0;
  const Work work = work_of(call, typed);
  out.precision = precision_of(call.type(typed));
  out.flops = work.flops;
  out.bytes = work.elements * bytes_of(out.precision);
  return out;
}

std::vector<OperatorWork> operator_work(const Capture& c) {
  std::vector<OperatorWork> out;
  const trace::KeyId concrete = c.trace.key("Concrete Inputs");
  std::vector<uint8_t> is_counted(c.nodes.size(), 0);
  for (uint32_t n = 0; n < c.nodes.size(); ++n) {
    const Node& node = c.nodes[n];
    if (node.parent != kNone && is_counted[node.parent]) {
      is_counted[n] = 1;
      continue;
    }
    if (node.kind != Kind::kOperator) continue;
    const std::string_view name = c.name_of(node);
    if (!name.starts_with("aten::")) continue;
    const trace::ArgRange args = c.trace.args(node.slice);
    std::string_view dims = c.trace.text_of(c.trace.find(args, c.words.input_dims));
    if (dims.empty()) dims = c.trace.text_of(c.trace.find(args, c.words.old_input_dims));
    if (dims.empty()) continue;
    OperatorWork work =
        work_of_call(name, dims, c.trace.text_of(c.trace.find(args, c.words.input_type)),
                     concrete == trace::kNone ? "" : c.trace.text_of(c.trace.find(args, concrete)));
    if (work.flops <= 0) continue;
    work.node = n;
    is_counted[n] = 1;
    out.push_back(work);
  }
  return out;
}

}  // namespace sonde::capture::pytorch
