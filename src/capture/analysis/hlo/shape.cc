#include <fmt/format.h>

#include "capture/analysis/hlo/module.h"

namespace sonde::capture::hlo {
namespace {

struct PrimitiveInfo {
  int32_t type;
  std::string_view name;
  int bits;
};
constexpr PrimitiveInfo kPrimitives[] = {
    {1, "pred", 8},
    {2, "s8", 8},
    {3, "s16", 16},
    {4, "s32", 32},
    {5, "s64", 64},
    {6, "u8", 8},
    {7, "u16", 16},
    {8, "u32", 32},
    {9, "u64", 64},
    {10, "f16", 16},
    {11, "f32", 32},
    {12, "f64", 64},
    {13, "tuple", 0},
    {14, "opaque", 0},
    {15, "c64", 64},
    {16, "bf16", 16},
    {17, "token", 0},
    {18, "c128", 128},
    {19, "f8e5m2", 8},
    {20, "f8e4m3fn", 8},
    {21, "s4", 4},
    {22, "u4", 4},
    {23, "f8e4m3b11fnuz", 8},
    {24, "f8e5m2fnuz", 8},
    {25, "f8e4m3fnuz", 8},
    {26, "s2", 2},
    {27, "u2", 2},
    {28, "f8e4m3", 8},
    {29, "f8e3m4", 8},
    {30, "s1", 1},
    {31, "u1", 1},
    {32, "f4e2m1fn", 4},
    {33, "f8e8m0fnu", 8},
    {35, "f6e3m2fn", 6},
    {36, "f6e2m3fn", 6},
};

const PrimitiveInfo* info(int32_t type) {
  for (const PrimitiveInfo& p : kPrimitives) {
    if (p.type == type) return &p;
  }
  return nullptr;
}

}  // namespace

std::string_view primitive_name(int32_t type) {
  const PrimitiveInfo* p = info(type);
  return p ? p->name : "invalid";
}

int primitive_bits(int32_t type) {
  const PrimitiveInfo* p = info(type);
  return p ? p->bits : 0;
}

int64_t Shape::elements() const {
  if (is_tuple()) return 0;
  int64_t n = 1;
  for (const int64_t d : dimensions) {
    if (d < 0 || __builtin_mul_overflow(n, d, &n)) return 0;
  }
  return n;
}

int64_t Shape::bytes() const {
  if (!is_tuple()) {
    int64_t bits;
    if (__builtin_mul_overflow(elements(), int64_t{primitive_bits(type)}, &bits)) return 0;
    return (bits + 7) / 8;
  }
  int64_t sum = 0;
  for (const Shape& leaf : tuple) {
    if (__builtin_add_overflow(sum, leaf.bytes(), &sum)) return 0;
  }
  return sum;
}

std::string Shape::text(bool with_layout) const {
  if (is_tuple()) {
    std::string out = "(";
    for (size_t i = 0; i < tuple.size(); ++i) {
      if (i != 0) out += i % 5 == 0 ? fmt::format(", /*index={}*/", i) : ", ";
      out += tuple[i].text(with_layout);
    }
    return out + ")";
  }
  std::string out = fmt::format("{}[{}]", primitive_name(type), fmt::join(dimensions, ","));
  if (type == static_cast<int32_t>(Primitive::kToken) ||
      type == static_cast<int32_t>(Primitive::kOpaque)) {
    return std::string(primitive_name(type)) + "[]";
  }
  if (with_layout && has_layout && (!minor_to_major.empty() || !layout_extra.empty())) {
    out += fmt::format("{{{}{}{}}}", fmt::join(minor_to_major, ","),
                       layout_extra.empty() ? "" : ":", layout_extra);
  }
  return out;
}

}  // namespace sonde::capture::hlo
