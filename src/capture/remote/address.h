// Where a profiler server listens, as people type it: "localhost:6009", "grpc://[::1]:6009", a list
// with commas. The name also becomes part of a file's name, so only letters that are harmless there
// are taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sonde::remote {

struct Address {
  std::string host;  // a name or a numeric address, without brackets
  uint16_t port = 0;

  std::string text() const;       // "localhost:6009", "[::1]:6009"
  std::string file_name() const;  // "localhost_6009": how TensorBoard names a host's file
};

inline constexpr size_t kMostHosts = 256;

// kInvalid, saying what is wrong with which part.
Result<Address> address_of(std::string_view text);
// Separated by commas, each once, in order; at least one.
Result<std::vector<Address>> addresses_of(std::string_view text);

}  // namespace sonde::remote
