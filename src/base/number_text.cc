#include "base/number_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace sonde {
namespace {

struct Powers {
  uint64_t of[19];
  constexpr Powers() : of() {
    of[0] = 1;
    for (int i = 1; i < 19; ++i) of[i] = of[i - 1] * 10;
  }
};
constexpr Powers kPowersOfTen;

int count_digits(uint64_t value) {
  const int guess = ((64 - __builtin_clzll(value)) * 1233) >> 12;  // log10 from log2
  return guess + (value >= kPowersOfTen.of[guess]);
}

// "00" to "99", one after the other.
struct Pairs {
  char text[200];
  constexpr Pairs() : text() {
    for (int i = 0; i < 100; ++i) {
      text[2 * i] = static_cast<char>('0' + i / 10);
      text[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
  }
};
constexpr Pairs kPairs;

void write_pair(char* out, uint32_t value) { std::memcpy(out, kPairs.text + 2 * value, 2); }

void write_eight(char* out, uint32_t value) {
  const uint32_t high = value / 10000, low = value % 10000;
  write_pair(out, high / 100);
  write_pair(out + 2, high % 100);
  write_pair(out + 4, low / 100);
  write_pair(out + 6, low % 100);
}

// Exactly `count` digits, at most 17.
void write_digits(char* out, uint64_t value, int count) {
  char* end = out + count;
  while (end - out >= 8) {
    end -= 8;
    write_eight(end, static_cast<uint32_t>(value % 100000000));
    value /= 100000000;
  }
  auto rest = static_cast<uint32_t>(value);
  while (end - out >= 2) {
    end -= 2;
    write_pair(end, rest % 100);
    rest /= 100;
  }
  if (end != out) *out = static_cast<char>('0' + rest);
}

char* write_exponent(char* out, int exponent) {
  *out++ = 'e';
  *out++ = exponent < 0 ? '-' : '+';
  auto size = static_cast<uint32_t>(exponent < 0 ? -exponent : exponent);
  if (size >= 100) {
    *out++ = static_cast<char>('0' + size / 100);
    size %= 100;
  }
  write_pair(out, size);
  return out + 2;
}

// digits * 10^exponent in the shorter of the plain and the scientific form, plain when equal.
char* write_decimal(char* out, uint64_t digits, int exponent) {
  const int count = count_digits(digits);
  const int point = count + exponent;  // digits before the decimal point
  const int size_of_exponent = point - 1 > 99 || point - 1 < -99 ? 5 : 4;
  const int scientific = count + (count > 1) + size_of_exponent;
  const int plain = exponent >= 0 ? point : point > 0 ? count + 1 : count + 2 - point;
  if (plain > scientific) {
    write_digits(out + 1, digits, count);
    out[0] = out[1];
    out[1] = '.';
    return write_exponent(count > 1 ? out + count + 1 : out + 1, point - 1);
  }
  if (exponent >= 0) {
    write_digits(out, digits, count);
    std::memset(out + count, '0', static_cast<size_t>(exponent));
  } else if (point > 0) {
    write_digits(out + 1, digits, count);
    std::memmove(out, out + 1, static_cast<size_t>(point));
    out[point] = '.';
  } else {
    std::memset(out, '0', static_cast<size_t>(2 - point));
    out[1] = '.';
    write_digits(out + 2 - point, digits, count);
  }
  return out + plain;
}

template <class T>
char* write(char* out, T value) {
  if (std::signbit(value)) *out++ = '-';
  const T size = std::fabs(value);
  if (size == 0) {
    *out = '0';
    return out + 1;
  }
  // Above this not every integer is a T, and the plain form is the exact one, not the shortest.
  constexpr auto kExactIntegers = static_cast<T>(uint64_t{1} << std::numeric_limits<T>::digits);
  if (size >= kExactIntegers) {
    return std::to_chars(out, out + kMaxRealText, size).ptr;
  }
  // Whole numbers are common (counts), and are their own shortest digits unless they end in 0.
  const auto whole = static_cast<uint64_t>(size);
  if (static_cast<T>(whole) == size && whole % 10 != 0) return write_decimal(out, whole, 0);
  const auto decimal = fmt::detail::dragonbox::to_decimal(size);
  return write_decimal(out, decimal.significand, decimal.exponent);
}

template <class T>
char* write_marked(char* out, T value) {
  char* const end = write(out, value);
  for (const char* at = end; at-- > out;) {  // the mark is near the end: 0.25, 1e-05
    if (*at == '.' || *at == 'e') return end;
  }
  std::memcpy(end, ".0", 2);
  return end + 2;
}

}  // namespace

char* write_real(char* out, double value) { return write(out, value); }
char* write_real(char* out, float value) { return write(out, value); }
char* write_json_number(char* out, double value) { return write_marked(out, value); }
char* write_json_number(char* out, float value) { return write_marked(out, value); }

}  // namespace sonde
