// The messages of tensorflow.ProfilerService and tensorflow.ProfileAnalysis, which TensorFlow, JAX
// and PyTorch/XLA programs answer after `server.start(port)`. Field numbers are those of
// profiler_service.proto, profiler_options.proto and profiler_analysis.proto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::remote {

inline constexpr std::string_view kProfile = "/tensorflow.ProfilerService/Profile";
inline constexpr std::string_view kTerminate = "/tensorflow.ProfilerService/Terminate";
inline constexpr std::string_view kNewSession = "/tensorflow.ProfileAnalysis/NewSession";

// What a user decides. The defaults are TensorBoard's.
struct Options {
  int64_t duration_ms = 1000, delay_ms = 0;
  int64_t retries = 3;            // further tries when nothing was recorded
  int64_t host_tracer_level = 2;  // 0 off, 1 annotations, 2 and costly operations, 3 everything
  int64_t device_tracer_level = 1, python_tracer_level = 0;  // 0 off, 1 on
  std::vector<std::pair<std::string, std::string>> extra;    // told to the profiler as they are
  int64_t timeout_ms = 60'000;            // how long an answer may take beyond delay and duration
  uint64_t max_answer_bytes = INT32_MAX;  // of one host
};

// kInvalid naming the option that is out of range.
Result<void> check(const Options& options);

struct ProfileRequest {
  const Options& options;
  std::string repository_root, session_id, host_name;
  int64_t start_ns = 0;  // Unix time at which to begin; 0: at once
};
std::string encoded(const ProfileRequest& request);
std::string encoded_terminate(std::string_view session_id);
// A head node collects from `hosts` itself and writes into the repository.
std::string encoded_new_session(const ProfileRequest& request,
                                const std::vector<std::string>& hosts);

// Views into the message that was parsed.
struct ProfileResponse {
  bool is_empty = false;
  Bytes xspace;                                               // servers from 2025 on
  std::vector<std::pair<std::string_view, Bytes>> tool_data;  // name, content: old servers
};
// kCorrupt when the bytes are no such message.
Result<ProfileResponse> parse_response(Bytes message);

struct NewSessionResponse {
  std::string error;
  bool is_empty = false;
};
Result<NewSessionResponse> parse_new_session(Bytes message);

}  // namespace sonde::remote
