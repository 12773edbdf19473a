#include "numerics/health.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "log/event/tensor.h"

namespace sonde::numerics {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr uint64_t kMostValues = 64;  // a debug vector has at most 11

bool is_floating(event::DataType type) {
  using event::DataType;
  switch (type) {
    case DataType::kFloat:
    case DataType::kDouble:
    case DataType::kHalf:
    case DataType::kBfloat16:
    case DataType::kFloat8E5m2:
    case DataType::kFloat8E4m3fn:
    case DataType::kFloat8E4m3fnuz:
    case DataType::kFloat8E4m3b11fnuz:
    case DataType::kFloat8E5m2fnuz:
      return true;
    default:
      return false;
  }
}

uint8_t bad_of(const Health& health) {
  uint8_t bad = kNone;
  if (health.neg_inf > 0) bad |= kNegInf;
  if (health.pos_inf > 0) bad |= kPosInf;
  if (health.nan > 0) bad |= kNan;
  return bad;
}

int64_t whole(double value) {
  return value > -9e15 && value < 9e15 ? static_cast<int64_t>(value) : -1;
}

}  // namespace

float saturation(int64_t dtype, const Numbers& numbers) {
  const float largest = std::max(std::fabs(numbers.min), std::fabs(numbers.max));
  switch (dtype) {
    case 19:  // DT_HALF
      return largest / 65504;
    case 1:   // DT_FLOAT
    case 14:  // DT_BFLOAT16
      return largest / 3.38953139e38f;
    default:  // float8 is scaled to its end on purpose
      return std::numeric_limits<float>::quiet_NaN();
  }
}

std::optional<Numbers> parse_numbers(Bytes packed) {
  if (packed.size() < kNumbers * sizeof(float)) return std::nullopt;
  Numbers numbers;
  std::memcpy(&numbers, packed.data(), sizeof numbers);
  return numbers;
}

std::optional<std::vector<double>> debug_values(Bytes message) {
  if (message.empty()) return std::nullopt;
  const auto tensor = event::parse_tensor(message);
  if (!tensor || !is_floating(tensor->dtype)) return std::nullopt;
  auto values = event::decode_doubles(*tensor, kMostValues);
  if (!values) return std::nullopt;
  return std::move(*values);
}

Health health_of(DebugMode mode, const std::vector<double>& values) {
  Health health;
  const size_t n = values.size();
  if (n > 0) health.tensor_id = whole(values[0]);
  if (mode == DebugMode::kCurtHealth && n >= 2) {
    if (values[1] != 0) health.bad = kSome;
  } else if (mode == DebugMode::kConciseHealth && n >= 5) {
    health.size = values[1];
    health.neg_inf = values[2];
    health.pos_inf = values[3];
    health.nan = values[4];
    health.bad = bad_of(health);
  } else if (mode == DebugMode::kFullHealth && n >= 11) {
    health.dtype = whole(values[2]);
    health.rank = whole(values[3]);
    health.size = values[4];
    health.neg_inf = values[5];
    health.pos_inf = values[6];
    health.nan = values[7];
    health.negative = values[8];
    health.zero = values[9];
    health.positive = values[10];
    health.bad = bad_of(health);
  } else if (mode == DebugMode::kShape && n >= 10) {
    health.dtype = whole(values[1]);
    health.rank = whole(values[2]);
    health.size = values[3];
    for (int64_t i = 0; i < 6 && i < health.rank; ++i)
      health.shape.push_back(whole(values[4 + static_cast<size_t>(i)]));
  }
  return health;
}

std::optional<Examined> examine_tensor(Bytes message) {
  const auto tensor = event::parse_tensor(message);
  if (!tensor) return std::nullopt;
  Examined seen;
  Health& health = seen.health;
  health.dtype = static_cast<int64_t>(tensor->dtype);
  health.rank = static_cast<int64_t>(tensor->dims.size());
  health.shape = tensor->dims;
  const auto values = event::decode_doubles(*tensor);
  if (!values || values->empty()) return std::nullopt;
  health.size = static_cast<double>(values->size());
  health.neg_inf = health.pos_inf = health.nan = health.negative = health.zero = health.positive =
      0;
  constexpr double kHalfMax = 65504, kBfloatMax = 3.3895313892515355e38, kFloat8Max = 448;
  double squares = 0, sum = 0, min = HUGE_VAL, max = -HUGE_VAL;
  double finite = 0, subnormal = 0, half = 0, bfloat = 0, float8 = 0;
  for (const double value : *values) {
    if (std::isnan(value)) {
      ++health.nan;
    } else if (std::isinf(value)) {
      ++(value < 0 ? health.neg_inf : health.pos_inf);
    } else {
      ++(value < 0 ? health.negative : value == 0 ? health.zero : health.positive);
      ++finite;
      const double size = std::fabs(value);
      squares += value * value;
      sum += value;
      min = std::min(min, value);
      max = std::max(max, value);
      subnormal += size > 0 && size < std::numeric_limits<float>::min();
      half += size > kHalfMax;
      bfloat += size > kBfloatMax;
      float8 += size > kFloat8Max;
    }
  }
  if (is_floating(tensor->dtype)) health.bad = bad_of(health);
  const auto share = [&](double count) { return static_cast<float>(count / health.size); };
  seen.numbers = {finite > 0 ? static_cast<float>(std::sqrt(squares / finite)) : kUnknown,
                  finite > 0 ? static_cast<float>(min) : kUnknown,
                  finite > 0 ? static_cast<float>(max) : kUnknown,
                  finite > 0 ? static_cast<float>(sum / finite) : kUnknown,
                  share(subnormal),
                  share(half),
                  share(bfloat),
                  share(float8)};
  return seen;
}

}  // namespace sonde::numerics
