#include "capture/import/chrome_json/event.h"

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

// Reads the object of arguments once for its extent and its content. False, and the scanner back
// where it was, when the object is not as it should be: then only its brackets count.
bool read_args(JsonScanner& scanner, ChromeEvent& event, std::vector<ChromeArg>& args) {
  const size_t start = scanner.at(), had = args.size();
  scanner.take('{');
  std::string_view key;
  bool is_whole = true;
  while (is_whole && scanner.key(key)) {
    const JsonValue value = scanner.value();
    is_whole = value.kind != ValueKind::kEnd;
    if (is_whole) args.push_back({key, value});
  }
  // key() is false at the closing brace it took, and at anything that is no key.
  is_whole = is_whole && scanner.text()[scanner.at() - 1] == '}';
  if (is_whole) {
    event.args = scanner.text().substr(start, scanner.at() - start);
  } else {
    args.resize(had);
    scanner.move_to(start);
  }
  return is_whole;
}

// What can be made of arguments that are malformed.
void salvage_args(std::string_view object, std::vector<ChromeArg>& out) {
  JsonScanner args(object);
  args.take('{');
  std::string_view key;
  while (args.key(key)) {
    const JsonValue value = args.value();
    if (value.kind == ValueKind::kEnd) return;
    out.push_back({key, value});
  }
}

}  // namespace

EventRead read_event(JsonScanner& scanner, ChromeEvent& event, std::vector<ChromeArg>& args) {
  if (!scanner.take('{')) return EventRead::kBroken;
  std::string_view key;
  while (scanner.key(key)) {
    const bool is_args = key == "args" && scanner.peek() == '{';
    if (is_args && read_args(scanner, event, args)) continue;
    const JsonValue value = scanner.value();
    if (is_args) salvage_args(value.text, args);
    if (value.kind == ValueKind::kEnd)
      return scanner.at_end() ? EventRead::kCut : EventRead::kBroken;
    take_field(key, value, event);
  }
  // key() is false at the closing brace it took, and at anything that is no key.
  if (scanner.at() > 0 && scanner.text()[scanner.at() - 1] == '}') return EventRead::kEvent;
  return scanner.at_end() || scanner.peek() == '\0' ? EventRead::kCut : EventRead::kBroken;
}

}  // namespace sonde::imports
