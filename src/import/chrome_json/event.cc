#include "import/chrome_json/event.h"

namespace sonde::imports {
namespace {

bool is_true(const JsonValue& value) { return value.text == "true" || value.text == "1"; }

void read_time(const JsonValue& value, int64_t& ns, bool& has, bool& bad) {
  const bool could_be = value.kind == ValueKind::kNumber || value.kind == ValueKind::kString;
  has = could_be && parse_nanos(value.text, ns);
  bad = bad || !has;
}

void take_field(std::string_view key, const JsonValue& value, ChromeEvent& event) {
  switch (key.size()) {
    case 2:
      if (key == "ph") event.phase = value.text.size() == 1 ? value.text[0] : '?';
      if (key == "ts") read_time(value, event.time_ns, event.has_time, event.is_bad_time);
      if (key == "id") event.id = value;
      if (key == "bp") event.binds_enclosing = value.text == "e";
      break;
    case 3:
      if (key == "pid") event.process = value;
      if (key == "tid") event.thread = value;
      if (key == "cat") event.category = value;
      if (key == "dur") read_time(value, event.duration_ns, event.has_duration, event.is_bad_time);
      if (key == "id2") event.id = value;
      break;
    case 4:
      if (key == "name") event.name = value;
      if (key == "args" && value.kind == ValueKind::kObject) event.args = value.text;
      break;
    default:
      if (key == "bind_id") event.bind_id = value;
      if (key == "flow_in") event.flow_in = is_true(value);
      if (key == "flow_out") event.flow_out = is_true(value);
      if (key == "scope") event.scope = value;
  }
}

}  // namespace

EventRead read_event(JsonScanner& scanner, ChromeEvent& event) {
  event = {};
  if (!scanner.take('{')) return EventRead::kBroken;
  std::string_view key;
  while (scanner.key(key)) {
    const JsonValue value = scanner.value();
    if (value.kind == ValueKind::kEnd)
      return scanner.at_end() ? EventRead::kCut : EventRead::kBroken;
    take_field(key, value, event);
  }
  // key() is false at the closing brace it took, and at anything that is no key.
  if (scanner.at() > 0 && scanner.text()[scanner.at() - 1] == '}') return EventRead::kEvent;
  return scanner.at_end() || scanner.peek() == '\0' ? EventRead::kCut : EventRead::kBroken;
}

}  // namespace sonde::imports
