#include "capture/tools/memory_viewer/assignment.h"

#include "codec/wire.h"

namespace sonde::capture::memory_viewer {
namespace {

Buffer parse_buffer(Bytes message) {
  Buffer b;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 1) b.id = f.as_int();
    if (f.number == 2) b.size = f.as_int();
    if (f.number == 4) b.color = f.as_int();
    if (f.number != 3 || !f.is_bytes()) continue;
    wire::Cursor place(f.bytes);
    for (wire::Field p; place.next(p);) {
      if (p.number == 2) b.instruction_name = p.text();
      if (p.number == 3)
        (void)wire::for_each_varint(
            p, [&](uint64_t v) { b.shape_index.push_back(static_cast<int64_t>(v)); });
      if (p.number == 4) b.instruction = p.as_int();
    }
  }
  return b;
}

Allocation parse_allocation(Bytes message) {
  Allocation a;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    switch (f.number) {
      case 1:
        a.index = f.as_int();
        break;
      case 2:
        a.size = f.as_int();
        break;
      case 3:
        a.thread_local_ = f.as_bool();
        break;
      case 5:
        a.parameter = f.as_bool();
        break;
      case 6:
        a.parameter_number = f.as_int();
        break;
      case 7:
        a.live_out = f.as_bool();
        break;
      case 8:
        a.color = f.as_int();
        break;
      case 9: {
        Assigned assigned;
        wire::Cursor inner(f.bytes);
        for (wire::Field x; inner.next(x);) {
          if (x.number == 1) assigned.buffer = x.as_int();
          if (x.number == 2) assigned.offset = x.as_int();
          if (x.number == 3) assigned.size = x.as_int();
        }
        a.assigned.push_back(assigned);
        break;
      }
      case 11:
        a.is_tuple = f.as_bool();
        break;
      case 12:
        a.constant = f.as_bool();
        break;
      default:
        break;
    }
  }
  return a;
}

HeapTrace parse_trace(Bytes message) {
  HeapTrace trace;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 3) trace.allocation = f.as_int();
    if (f.number != 1 || !f.is_bytes()) continue;
    HeapEvent event;
    wire::Cursor inner(f.bytes);
    for (wire::Field e; inner.next(e);) {
      if (e.number == 1) event.kind = e.as_int();
      if (e.number == 2) event.buffer = e.as_int();
      if (e.number == 4) event.instruction = e.text();
      if (e.number == 5) event.shared_with = e.as_int();
    }
    trace.events.push_back(event);
  }
  return trace;
}

}  // namespace

Assignment parse_assignment(Bytes message) {
  Assignment a;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (!f.is_bytes()) continue;
    if (f.number == 1) {
      Buffer b = parse_buffer(f.bytes);
      const int64_t id = b.id;
      a.buffers[id] = std::move(b);
    }
    if (f.number == 3) a.allocations.push_back(parse_allocation(f.bytes));
    if (f.number == 4) a.traces.push_back(parse_trace(f.bytes));
  }
  return a;
}

}  // namespace sonde::capture::memory_viewer
