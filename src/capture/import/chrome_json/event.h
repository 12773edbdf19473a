// One event of a Chrome trace, read in place.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "capture/import/chrome_json/scanner.h"

namespace sonde::imports {

struct ChromeEvent {
  char phase = '\0';  // '\0': none given
  JsonValue name, category, process, thread, id, bind_id, scope;
  bool has_time = false, has_duration = false, is_bad_time = false, binds_enclosing = false,
       flow_in = false, flow_out = false;
  int64_t time_ns = 0, duration_ns = 0;
  std::string_view args;  // the object with its braces; empty when absent
};

enum class EventRead : uint8_t { kEvent, kCut, kBroken };

struct ChromeArg {
  std::string_view key;
  JsonValue value;
};

// Reads the object at the scanner, which stands on '{', into an event that is as made, and appends
// its arguments to `args`. kCut:
// the text ends inside it. kBroken: it is malformed; the scanner stays where the trouble is.
EventRead read_event(JsonScanner& scanner, ChromeEvent& event, std::vector<ChromeArg>& args);

}  // namespace sonde::imports
