// The payload of one record of a tfdbg V2 file: every message, and the tensors in it.
#include "numerics/debug_event.h"
#include "numerics/health.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sonde;
  using namespace sonde::numerics;
  const Bytes payload(reinterpret_cast<const std::byte*>(data), size);
  const auto event = parse_event(payload);
  if (!event) return 0;
  (void)parse_metadata(event->body);
  (void)parse_source_file(event->body, true);
  (void)parse_stack_frame(event->body);
  (void)parse_op_creation(event->body);
  (void)parse_graph(event->body);
  (void)parse_device(event->body);
  if (const auto execution = parse_execution(event->body)) {
    for (const Bytes tensor : execution->tensors) {
      if (const auto values = debug_values(tensor)) (void)health_of(execution->mode, *values);
    }
  }
  if (const auto trace = parse_trace(event->body)) {
    if (const auto values = debug_values(trace->tensor)) (void)health_of(trace->mode, *values);
    if (size < 1 << 16) (void)examine_tensor(trace->tensor);
    (void)parse_numbers(trace->numbers);
  }
  return 0;
}
