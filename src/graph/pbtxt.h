// Protobuf's text format, written straight from wire bytes and a table of fields. The spelling is
// the one clients of TensorBoard's graph route parse: fields by number, two blanks a level, maps as
// `attr { key value }` in the order protobuf's own printer gives them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace sonde::graph {

enum class FieldKind : uint8_t {
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kFixed64,
  kBool,
  kFloat,
  kDouble,
  kString,
  kBytes,
  kEnum,
  kMessage,
};

enum class Presence : uint8_t {
  kImplicit,  // a default value is not printed
  kOneof,     // printed whenever set; the last member of the same group wins
  kExplicit,  // printed whenever set
  kRepeated,
  kMap,  // entries {1: key, 2: value}
};

struct EnumName {
  int32_t number;
  std::string_view name;
};

struct MessageSchema;

struct FieldSchema {
  uint32_t number;
  std::string_view name;
  FieldKind kind;
  Presence presence;
  const MessageSchema* message = nullptr;  // of kMessage
  std::span<const EnumName> names = {};    // of kEnum
};

struct MessageSchema {
  std::string_view name;
  std::span<const FieldSchema> fields;  // by number
};

extern const MessageSchema kGraphDef;
extern const MessageSchema kRunMetadata;
extern const MessageSchema kStepStats;
extern const MessageSchema kTensorDescription;

// kCorrupt when the bytes are not such a message, kTooLarge when nested deeper than 100.
Result<std::string> to_pbtxt(Bytes message, const MessageSchema& schema);

}  // namespace sonde::graph
