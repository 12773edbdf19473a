#include "log/event/value.h"

#include <cstdlib>
#include <string>

#include "codec/fields/event.h"

namespace sonde::event {

Result<EventView> parse_event(Bytes payload) {
  EventView event;
  wire::Cursor cursor(payload);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == fields::Event::kWallTime) {
      if (field.type == wire::Type::kFixed64) event.wall_time = field.as_double();
    } else if (field.number == fields::Event::kStep) {
      if (field.type == wire::Type::kVarint) event.step = field.as_int();
    } else if (field.number >= fields::Event::kFileVersion &&
               field.number <= fields::Event::kMetaGraphDef && field.is_bytes()) {
      const auto what = static_cast<What>(field.number);
      event.split = event.what == what && what == What::kSummary;
      event.what = what;
      event.body = field.bytes;
    } else if (field.number == fields::Event::kSourceMetadata && field.is_bytes()) {
      wire::Cursor source(field.bytes);
      for (wire::Field inner; source.next(inner);) {
        if (inner.number == fields::SourceMetadata::kWriter && inner.is_bytes())
          event.writer = inner.text();
      }
    }
  }
  if (!cursor.ok()) return fail(Code::kCorrupt, "the record is not an event");
  return event;
}

bool parse_value(Bytes message, ValueView& value) {
  value = {};
  std::string_view node_name;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == fields::SummaryValue::kSimpleValue) {
      if (field.type != wire::Type::kFixed32) continue;
      value.kind = ValueKind::kSimple;
      value.simple = field.as_float();
      continue;
    }
    if (field.number == kExactValueField && field.type == wire::Type::kFixed64) {
      value.exact = field.as_double();
      value.has_exact = true;
      continue;
    }
    if (!field.is_bytes()) continue;
    const auto set = [&](ValueKind kind) {
      value.kind = kind;
      value.body = field.bytes;
    };
    switch (field.number) {
      case fields::SummaryValue::kTag:
        value.tag = field.text();
        break;
      case fields::SummaryValue::kOldHistogram:
        set(ValueKind::kOldHistogram);
        break;
      case fields::SummaryValue::kImage:
        set(ValueKind::kImage);
        break;
      case fields::SummaryValue::kHistogram:
        set(ValueKind::kHisto);
        break;
      case fields::SummaryValue::kAudio:
        set(ValueKind::kAudio);
        break;
      case fields::SummaryValue::kNodeName:
        node_name = field.text();
        break;
      case fields::SummaryValue::kTensor:
        set(ValueKind::kTensor);
        break;
      case fields::SummaryValue::kMetadata:
        value.metadata = field.bytes;
        value.has_metadata = true;
        break;
      default:
        break;
    }
  }
  // Very old plug-ins named a tensor by its node.
  if (value.tag.empty() && value.kind == ValueKind::kTensor) value.tag = node_name;
  return cursor.ok();
}

Result<ValueView> find_value(Bytes payload, uint32_t index) {
  SONDE_TRY(event, parse_event(payload));
  ValueView value;
  value.body = event.body;
  switch (event.what) {
    case What::kGraphDef:
      value.kind = ValueKind::kGraphDef;
      value.tag = kRunGraphTag;
      return value;
    case What::kMetaGraphDef:
      value.kind = ValueKind::kMetaGraphDef;
      return value;
    case What::kTaggedRunMetadata: {
      const TaggedRunMetadata tagged = tagged_run_metadata(event.body);
      value.kind = ValueKind::kTaggedRunMetadata;
      value.tag = tagged.tag;
      value.body = tagged.run_metadata;
      return value;
    }
    default:
      break;
  }
  uint32_t at = 0;
  bool found = false, intact = true;
  const bool walked = for_each_value(payload, [&](Bytes message) {
    if (at++ != index) return true;
    found = true;
    intact = parse_value(message, value);
    return false;
  });
  if (!walked || !intact) return fail(Code::kCorrupt, "the event's summary is malformed");
  if (!found)
    return fail(Code::kNotFound, "the event holds no value number " + std::to_string(index));
  return value;
}

SessionStatus session_status(Bytes session_log) {
  auto status = SessionStatus::kUnspecified;
  wire::Cursor cursor(session_log);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == fields::SessionLog::kStatus && field.type == wire::Type::kVarint)
      status =
          field.bits <= 3 ? static_cast<SessionStatus>(field.bits) : SessionStatus::kUnspecified;
  }
  return status;
}

double file_version(std::string_view text) {
  constexpr std::string_view kPrefix = "brain.Event:";
  const size_t at = text.rfind(kPrefix);
  const std::string number(at == text.npos ? "" : text.substr(at + kPrefix.size()));
  char* end = nullptr;
  const double version = std::strtod(number.c_str(), &end);
  return number.empty() || end == number.c_str() || *end != '\0' ? -1 : version;
}

TaggedRunMetadata tagged_run_metadata(Bytes message) {
  TaggedRunMetadata tagged;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (!field.is_bytes()) continue;
    if (field.number == fields::TaggedRunMetadata::kTag) tagged.tag = field.text();
    if (field.number == fields::TaggedRunMetadata::kRunMetadata) tagged.run_metadata = field.bytes;
  }
  return tagged;
}

}  // namespace sonde::event
