// A unary gRPC call over a plain TCP connection of its own: connects, talks, closes. Only when a
// user asks for a capture or for the predictions of a model. Blocks the
// calling thread until the answer, the deadline or a stop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "capture/remote/address.h"
#include "io/address_policy.h"

namespace sonde::remote {

struct Call {
  Address address;
  std::string path;     // "/tensorflow.ProfilerService/Profile"
  std::string message;  // protobuf
  std::chrono::steady_clock::time_point deadline;
  uint64_t max_answer_bytes = INT32_MAX;  // what gRPC itself can say
  std::stop_token stop = {};
  // Where a stranger may make this program connect to; without one, anywhere.
  const io::AddressPolicy* policy = nullptr;
  std::function<void()> connected = {};               // the request is on its way
  std::function<void(uint64_t bytes)> received = {};  // of the answer, so far
};

// kBusy: worth another try (nobody listens, the server is occupied); kUnsupported: a gRPC server
// without this call; kCorrupt: no gRPC server; kTooLarge; kIo: the deadline, the network;
// kConflict: stopped.
Result<std::string> unary_call(const Call& call);

}  // namespace sonde::remote
