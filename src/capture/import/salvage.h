// Walking a protobuf message that may be cut off: every whole field, and of the last one what there
// is. Captures come from crashed jobs, so the tail is often missing and the rest still worth
// reading.
#pragma once

#include "codec/wire.h"

namespace sonde::imports {

// Calls fn(const wire::Field&) for each field. When the last field's length runs past the end, fn
// still gets the bytes that are there and `cut` becomes true. False when the message is damaged.
template <class Fn>
bool walk_fields(Bytes message, bool& cut, const Fn& fn) {
  wire::Cursor cursor(message);
  const std::byte* at = message.data();
  for (wire::Field field; cursor.next(field); at = cursor.position()) fn(field);
  if (cursor.ok()) return true;
  cut = true;
  const std::byte* end = message.data() + message.size();
  uint64_t key, length;
  const std::byte* p = wire::read_varint(at, end, key);
  if (!p || (key & 7) != 2 || !(p = wire::read_varint(p, end, length))) return false;
  wire::Field field;
  field.number = static_cast<uint32_t>(key >> 3);
  field.type = wire::Type::kBytes;
  field.bytes = {p, end};
  fn(field);
  return false;
}

}  // namespace sonde::imports
