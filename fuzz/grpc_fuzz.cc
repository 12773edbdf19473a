// A hostile profiler server: whatever it says, the call ends in a message or a sentence. The first
// byte says in what pieces the rest arrives.
#include <algorithm>
#include <cstdint>

#include "capture/remote/grpc_stream.h"
#include "capture/remote/profiler.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;
  if (size == 0) return 0;
  const size_t piece = std::max<size_t>(1, data[0]);
  Bytes rest(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  (void)remote::parse_response(rest);
  (void)remote::parse_new_session(rest);
  remote::GrpcStream stream({"here:1", "/service/Method", "question", 100, 1 << 16});
  Result<void> fed = {};
  while (!rest.empty() && fed && !stream.is_done()) {
    while (!stream.output().empty()) stream.sent(stream.output().size());
    const size_t now = std::min(piece, rest.size());
    fed = stream.feed(rest.first(now));
    rest = rest.subspan(now);
  }
  if (fed && !stream.is_done()) fed = stream.closed();
  if (fed) (void)stream.take_message();
  return 0;
}
