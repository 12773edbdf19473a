// The shortest decimal text that reads back to the same double, as std::to_chars writes it, at a
// fraction of its cost: answers hold millions of numbers, and printing them was most of the time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde {

// No number is longer: sign, 17 digits, point, exponent; or five leading zeros and the digits.
inline constexpr size_t kMaxRealText = 32;

// Writes a finite number and returns the end; up to kMaxRealText bytes at `out` are overwritten.
char* write_real(char* out, double value);
char* write_real(char* out, float value);
// With ".0" where the text would be that of an integer: 1 and 1.0 are different to a Python client.
// Up to kMaxRealText + 2 bytes.
char* write_json_number(char* out, double value);
char* write_json_number(char* out, float value);

}  // namespace sonde
