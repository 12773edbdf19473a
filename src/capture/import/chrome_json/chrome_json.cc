// Chrome trace JSON of any producer: array, object and JSON-lines forms, complete and begin/end
// slices, async groups, counters, instants, flows, metadata in any order. PyTorch's Kineto writes
// the same format; a trace with its marks gets the format "kineto", which is what the PyTorch tools
// look for. Here the events are found in the file, whatever has happened to it; taker.h makes a
// trace of them.
#include <fmt/format.h>

#include <memory>
#include <span>

#include "base/strings.h"
#include "capture/import/chrome_json/event.h"
#include "capture/import/chrome_json/lookahead_scanner.h"
#include "capture/import/chrome_json/trace_event_builder.h"
#include "capture/import/registry.h"

namespace sonde::imports {
namespace {

using trace::Builder;
using trace::Diagnostic;

constexpr size_t kResyncReach = 64 << 10;

class TraceReader {
 public:
  TraceReader(std::string_view text, const Input& input, Builder& builder)
      : scanner_(text),
        ahead_(text, input.pool),
        trail_(input.part_read, as_bytes(text)),
        builder_(builder),
        taker_(builder) {
    // Few producers write shorter ones; should one, the columns grow.
    constexpr size_t kShortEvent = 100, kShortArg = 30, kMost = 1 << 27;
    builder_.reserve(std::min(text.size() / kShortEvent, kMost),
                     std::min(text.size() / kShortArg, kMost));
  }

  void run() {
    if (scanner_.text().starts_with("\xEF\xBB\xBF")) scanner_.move_to(3);
    // Several documents in one file are read one after the other.
    while (scanner_.peek() != '\0') {
      const char c = scanner_.peek();
      if (c == '[') {
        scanner_.take('[');
        read_events();
      } else if (c == '{') {
        read_document();
      } else {
        taker_.troubles().add("text between JSON documents was skipped", scanner_.at());
        if (!resynchronise()) break;
      }
    }
    taker_.finish();
  }

 private:
  void read_document() {
    const size_t start = scanner_.at();
    scanner_.take('{');
    std::string_view key;
    bool is_event = false;
    while (!is_event && scanner_.key(key)) {
      if (key == "traceEvents" && scanner_.peek() == '[') {
        scanner_.take('[');
        read_events();
        continue;
      }
      if (key == "ph" || key == "pid" || key == "tid" || key == "ts") {
        is_event = true;  // JSON lines: the object is itself an event
        continue;
      }
      const JsonValue value = scanner_.value();
      if (value.kind == ValueKind::kEnd) {
        cut_at(start);
        return;
      }
      taker_.take_header(key, value);
    }
    if (!is_event) {
      if (scanner_.at_end() && scanner_.text().back() != '}') cut_at(scanner_.at());
      return;
    }
    scanner_.move_to(start);
    read_one();
  }

  void read_events() {
    for (;;) {
      const char c = scanner_.peek();
      if (c == ']') {
        scanner_.take(']');
        return;
      }
      if (c == '\0') return cut_at(scanner_.at());
      if (c != '{') {
        taker_.troubles().add("something that is no event stands between the events",
                              scanner_.at());
        if (!resynchronise()) return;
        continue;
      }
      trail_.reached(reinterpret_cast<const std::byte*>(scanner_.text().data()) + scanner_.at());
      if (const ReadAhead* piece = ahead_.piece_at(scanner_.at())) {
        take_piece(*piece);
      } else if (!read_one()) {
        return;
      }
    }
  }

  void take_piece(const ReadAhead& piece) {
    for (const ReadAhead::Event& event : piece.events) {
      const std::span args = std::span(piece.args).subspan(event.first_arg, event.args);
      taker_.take(event.event, args, event.at);
    }
    scanner_.move_to(piece.end);
  }

  // False when the file ends inside the event or cannot be read on.
  bool read_one() {
    const size_t start = scanner_.at();
    ChromeEvent event;
    args_.clear();
    switch (read_event(scanner_, event, args_)) {
      case EventRead::kEvent:
        taker_.take(event, args_, start);
        return true;
      case EventRead::kCut:
        cut_at(start);
        scanner_.move_to(scanner_.text().size());
        return false;
      case EventRead::kBroken:
        taker_.troubles().add("an event is malformed and was skipped", start);
        return resynchronise();
    }
    return false;
  }

  void cut_at(size_t at) {
    builder_.diagnose(
        Diagnostic::Severity::kWarning,
        fmt::format("the file ends early: truncated at byte {}, {} complete events kept", at,
                    taker_.events()));
  }

  // To the next line that begins an object with a phase.
  bool resynchronise() {
    const std::string_view text = scanner_.text();
    const size_t from = scanner_.at();
    for (size_t at = text.find('\n', from);
         at != std::string_view::npos && at < from + kResyncReach; at = text.find('\n', at + 1)) {
      const size_t open = text.find_first_not_of(" \t\r\n,", at);
      if (open == std::string_view::npos) break;
      if (text[open] == ']' ||
          (text[open] == '{' && text.substr(open, 4096).find("\"ph\"") != std::string_view::npos)) {
        scanner_.move_to(open);
        return true;
      }
    }
    scanner_.move_to(text.size());
    builder_.diagnose(
        Diagnostic::Severity::kWarning,
        fmt::format("reading stopped at byte {}: no further event could be found, {} events kept",
                    from, taker_.events()));
    return false;
  }

  JsonScanner scanner_;
  LookaheadScanner ahead_;
  PageReleaser trail_;
  Builder& builder_;
  TraceEventBuilder taker_;
  std::vector<ChromeArg> args_;  // of the event being read
};

bool sniff(std::string_view, Bytes head) {
  std::string_view text = as_text(head);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::string_view start = trimmed(text.substr(0, 4096));
  if (start.empty() || (start[0] != '[' && start[0] != '{')) return false;
  if (start[0] == '[')
    return start.size() == 1 || text.find("\"ph\"") != std::string_view::npos ||
           trimmed(start.substr(1)).starts_with(']');
  return text.find("\"traceEvents\"") != std::string_view::npos ||
         text.find("\"ph\"") != std::string_view::npos ||
         text.find("\"schemaVersion\"") != std::string_view::npos || start == "{}";
}

Result<void> read(const Input& input, Builder& builder) {
  std::make_unique<TraceReader>(as_text(input.bytes), input, builder)->run();
  return {};
}

}  // namespace

extern const Importer kChromeJson;
const Importer kChromeJson{"chrome_json", "Chrome trace JSON", sniff, read};

}  // namespace sonde::imports
