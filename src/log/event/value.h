// An Event record, looked at in place: nothing is copied, every view points into the payload and
// lives as long as it. This is the only reader of tensorflow.Event and Summary.Value in the tree.
//
//   SONDE_TRY(payload, blobs.event(reference));             // store::BlobReader
//   SONDE_TRY(value, event::find_value(as_bytes(payload), reference.value));
//   ... then event/tensor.h for value.body of a kTensor, event/blob.h for images, audio, graphs
//   and histograms in every form.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "base/units.h"
#include "codec/wire.h"

namespace sonde::event {

// Which member of Event's oneof is set; the numbers are the field numbers.
enum class What : uint8_t {
  kNothing = 0,
  kFileVersion = 3,
  kGraphDef = 4,
  kSummary = 5,
  kLogMessage = 6,
  kSessionLog = 7,
  kTaggedRunMetadata = 8,
  kMetaGraphDef = 9,
};

struct EventView {
  double wall_time = 0;
  Step step = 0;
  What what = What::kNothing;
  Bytes body;          // of that member; of its last occurrence when a summary is split in several
  bool split = false;  // the summary occurs more than once: use for_each_value on the payload
  std::string_view writer;  // source_metadata.writer
};

// kCorrupt when the bytes are not an Event.
Result<EventView> parse_event(Bytes payload);

// What a value was written as. The last three stand for whole events that migration turns into one
// value: graph_def (tag "__run_graph__"), tagged_run_metadata and meta_graph_def.
enum class ValueKind : uint8_t {
  kNone,  // only metadata: hparams records of torch
  kSimple,
  kOldHistogram,  // obsolete, unreadable
  kImage,
  kHisto,
  kAudio,
  kTensor,
  kGraphDef,
  kTaggedRunMetadata,
  kMetaGraphDef,
};

// Sonde's writer puts the double a simple_value was rounded from into this field of Summary.Value,
// which other readers skip.
inline constexpr uint32_t kExactValueField = 1000;

inline constexpr std::string_view kRunGraphTag = "__run_graph__";

struct ValueView {
  std::string_view tag;  // node_name when a tensor's tag is empty
  ValueKind kind = ValueKind::kNone;
  float simple = 0;  // kSimple
  double exact = 0;  // kSimple, when has_exact: what `simple` was rounded from
  bool has_exact = false;
  Bytes body;      // the member's message: TensorProto, Summary.Image, HistogramProto, GraphDef ...
  Bytes metadata;  // SummaryMetadata
  bool has_metadata = false;
};

// False when malformed.
bool parse_value(Bytes message, ValueView& value);

// Calls fn(Bytes) with each Summary.Value message of an event's payload, in order; fn returns false
// to stop. False when the payload is malformed.
template <class Fn>
bool for_each_value(Bytes payload, Fn&& fn) {
  wire::Cursor cursor(payload);
  for (wire::Field field; cursor.next(field);) {
    if (field.number != static_cast<uint32_t>(What::kSummary) || !field.is_bytes()) continue;
    wire::Cursor summary(field.bytes);
    for (wire::Field inner; summary.next(inner);) {
      if (inner.number == 1 && inner.is_bytes() && !fn(inner.bytes)) return true;
    }
    if (!summary.ok()) return false;
  }
  return cursor.ok();
}

// The value that a store::Reference points to: number `index` of the summary, or the event itself
// for graph_def, tagged_run_metadata and meta_graph_def (then index is 0). kNotFound, kCorrupt.
Result<ValueView> find_value(Bytes payload, uint32_t index);

enum class SessionStatus : uint8_t { kUnspecified = 0, kStart = 1, kStop = 2, kCheckpoint = 3 };

SessionStatus session_status(Bytes session_log);

// The number in "brain.Event:2"; -1 when it has none.
double file_version(std::string_view text);

struct TaggedRunMetadata {
  std::string_view tag;
  Bytes run_metadata;
};
TaggedRunMetadata tagged_run_metadata(Bytes message);

}  // namespace sonde::event
