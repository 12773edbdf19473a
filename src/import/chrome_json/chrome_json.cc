// Chrome trace JSON of any producer: array, object and JSON-lines forms, complete and begin/end
// slices, async groups, counters, instants, flows, metadata in any order. PyTorch's Kineto writes
// the same format; a trace with its marks gets the format "kineto", which is what the PyTorch tools
// look for.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <future>
#include <map>
#include <memory>
#include <span>

#include "base/strings.h"
#include "import/chrome_json/ahead.h"
#include "import/chrome_json/event.h"
#include "import/chrome_json/flows.h"
#include "import/registry.h"

namespace sonde::imports {
namespace {

using trace::Builder;
using trace::Diagnostic;
using trace::kNone;
using trace::LabelId;
using trace::SliceId;
using trace::StringId;
using trace::TrackId;
using trace::TrackKind;

constexpr size_t kResyncReach = 64 << 10;

// Counts of what was unusual, told once each with the place of the first.
struct Troubles {
  struct Trouble {
    uint64_t count = 0;
    size_t first = 0;
  };
  std::map<std::string_view, Trouble> seen;

  void add(std::string_view what, size_t at) {
    Trouble& trouble = seen[what];
    if (trouble.count++ == 0) trouble.first = at;
  }
};

class TraceReader {
 public:
  TraceReader(std::string_view text, ThreadPool* pool, Builder& builder)
      : scanner_(text), ahead_(text, pool), builder_(builder) {
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
        troubles_.add("text between JSON documents was skipped", scanner_.at());
        if (!resynchronise()) break;
      }
    }
    finish();
  }

 private:
  // --- the container ---

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
      read_header(key, value);
    }
    if (!is_event) {
      if (scanner_.at_end() && scanner_.text().back() != '}') cut_at(scanner_.at());
      return;
    }
    scanner_.move_to(start);
    read_one();
  }

  void read_header(std::string_view key, const JsonValue& value) {
    if (key == "baseTimeNanoseconds")
      std::from_chars(value.text.data(), value.text.data() + value.text.size(), base_ns_);
    if (key == "schemaVersion" || key == "deviceProperties") is_kineto_ = true;
    if (key == "stackFrames" || key == "samples" || value.text.size() > (1 << 20)) return;
    builder_.add_metadata(std::string(key), std::string(unescaped(value, scratch_)));
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
        troubles_.add("something that is no event stands between the events", scanner_.at());
        if (!resynchronise()) return;
        continue;
      }
      if (const ReadAhead* piece = ahead_.piece_at(scanner_.at())) {
        take_piece(*piece);
      } else if (!read_one()) {
        return;
      }
    }
  }

  void take_piece(const ReadAhead& piece) {
    for (const ReadAhead::Event& event : piece.events) {
      ++events_;
      args_ = std::span(piece.args).subspan(event.first_arg, event.args);
      take(event.event, event.at);
    }
    scanner_.move_to(piece.end);
  }

  // False when the file ends inside the event or cannot be read on.
  bool read_one() {
    const size_t start = scanner_.at();
    ChromeEvent event;
    own_args_.clear();
    switch (read_event(scanner_, event, own_args_)) {
      case EventRead::kEvent:
        ++events_;
        args_ = own_args_;
        take(event, start);
        return true;
      case EventRead::kCut:
        cut_at(start);
        scanner_.move_to(scanner_.text().size());
        return false;
      case EventRead::kBroken:
        troubles_.add("an event is malformed and was skipped", start);
        return resynchronise();
    }
    return false;
  }

  void cut_at(size_t at) {
    builder_.diagnose(
        Diagnostic::Severity::kWarning,
        fmt::format("the file ends early: truncated at byte {}, {} complete events kept", at,
                    events_));
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
                    from, events_));
    return false;
  }

  // --- identities ---

  // Ids compare as text: 7 and "7" are the same thread. Cheap for runs of events of one thread.
  uint32_t id_of(std::string_view process, std::string_view thread, char space) {
    key_.assign(1, space);
    key_ += process;
    key_.push_back('\0');
    key_ += thread;
    return identities_.id(key_);
  }

  TrackId process_track(std::string_view process) {
    const uint32_t identity = id_of(process, "", 'p');
    if (identity >= tracks_.size()) tracks_.resize(identity + 1, kNone);
    if (tracks_[identity] == kNone) {
      tracks_[identity] = builder_.process(
          is_number(process) ? fmt::format("process {}", process) : std::string(process),
          as_number(process));
      processes_.push_back(tracks_[identity]);
    }
    return tracks_[identity];
  }

  TrackId thread_track(const ChromeEvent& event) {
    const std::string_view process = event.process.text.empty() ? "0" : event.process.text;
    const std::string_view thread =
        event.thread.kind == ValueKind::kEnd ? process : event.thread.text;
    for (const KnownTrack& known : known_tracks_) {
      if (known.id != kNone && known.thread == thread && known.process == process) return known.id;
    }
    const TrackId track = lane(process, thread, 't', TrackKind::kThread, thread);
    known_tracks_[next_known_track_++ % std::size(known_tracks_)] = {std::string(process),
                                                                     std::string(thread), track};
    return track;
  }

  struct KnownTrack {
    std::string process, thread;
    TrackId id = kNone;
  };

  TrackId lane(std::string_view process, std::string_view thread, char space, TrackKind kind,
               std::string_view name) {
    const uint32_t identity = id_of(process, thread, space);
    if (identity >= tracks_.size()) tracks_.resize(identity + 1, kNone);
    if (tracks_[identity] == kNone) {
      const TrackId parent = process_track(process);
      const std::string shown = kind == TrackKind::kThread && is_number(name)
                                    ? fmt::format("thread {}", name)
                                    : std::string(name);
      tracks_.resize(std::max<size_t>(tracks_.size(), identity + 1), kNone);
      tracks_[identity] = builder_.track(kind, parent, shown, as_number(thread));
    }
    return tracks_[identity];
  }

  static bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("-0123456789") == std::string_view::npos;
  }
  static int64_t as_number(std::string_view text) {
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  // --- events ---

  void take(const ChromeEvent& event, size_t at) {
    if (event.phase == '\0') {
      if (!event.name.text.empty() || event.has_time)
        troubles_.add("an event has no phase and was skipped", at);
      return;
    }
    if (event.phase == 'M') return take_metadata(event);
    if (event.is_bad_time || (!event.has_time && event.phase != 'E'))
      return troubles_.add("an event has no usable time and was skipped", at);
    if (first_time_ == INT64_MIN) first_time_ = event.time_ns;
    // Relative to the first event, since picoseconds since 1970 do not fit; the origin is set at
    // the end.
    if (std::abs(event.time_ns - first_time_) > trace::kTimeLimit / 1000) {
      return troubles_.add("an event lies more than 26 days from the others and was skipped", at);
    }
    const int64_t time = (event.time_ns - first_time_) * 1000;
    earliest_ = std::min(earliest_, time);
    latest_ = std::max(latest_, time + std::max<int64_t>(0, event.duration_ns) * 1000);
    switch (event.phase) {
      case 'X':
        return take_complete(event, time, at);
      case 'B':
        return take_begin(event, time);
      case 'E':
        return take_end(event, time, at);
      case 'i':
      case 'I':
      case 'R':
      case 'n':
        add_slice(thread_track(event), time, 0, event);
        builder_.arg("phase", "instant");
        return;
      case 'C':
        return take_counter(event, time);
      case 'b':
      case 'e':
      case 'S':
      case 'F':
        return take_async(event, time, at);
      case 's':
      case 't':
      case 'f':
        return take_flow(event, time);
      default:
        troubles_.add("an event of an unusual phase was skipped", at);
    }
  }

  LabelId label(const ChromeEvent& event) {
    std::string_view name = unescaped(event.name, scratch_);
    if (event.name.kind == ValueKind::kEnd || name.empty()) name = "[no name]";
    const std::string_view category = event.category.text;
    KnownLabel& known = known_labels_[(std::hash<std::string_view>()(name) + category.size()) %
                                      std::size(known_labels_)];
    if (known.id != kNone && known.name == name && known.category == category) return known.id;
    const std::string given(name);
    if (!is_utf8(name)) name = repaired_ = to_utf8(name);
    known = {given, std::string(category), builder_.label(name, category)};
    return known.id;
  }

  struct KnownLabel {
    std::string name, category;
    LabelId id = kNone;
  };

  SliceId add_slice(TrackId track, int64_t time, int64_t duration, const ChromeEvent& event) {
    const SliceId slice = builder_.slice(track, {time}, {duration}, label(event));
    add_args();
    if (!is_kineto_)
      is_kineto_ = event.category.text == "cpu_op" || event.category.text == "Operator" ||
                   event.category.text == "user_annotation";
    return slice;
  }

  void take_complete(const ChromeEvent& event, int64_t time, size_t at) {
    if (event.duration_ns < 0) troubles_.add("a slice has a negative duration, shown as zero", at);
    const TrackId track = thread_track(event);
    const SliceId slice =
        add_slice(track, time,
                  trace::clamped_duration(std::max<int64_t>(0, event.duration_ns) * 1000), event);
    if (!event.has_duration) unfinished_.push_back({slice, time});
    if (event.bind_id.kind == ValueKind::kEnd) return;
    const FlowKind bind = flow_kind("flow", "bind");
    if (event.flow_in) add_flow(track, time, bind, event.bind_id.text, 'f', true);
    if (event.flow_out) add_flow(track, time, bind, event.bind_id.text, 's', true);
  }

  void take_begin(const ChromeEvent& event, int64_t time) {
    const TrackId track = thread_track(event);
    const SliceId slice = add_slice(track, time, 0, event);
    open_[track].push_back({slice, time});
  }

  void take_end(const ChromeEvent& event, int64_t time, size_t at) {
    auto& stack = open_[thread_track(event)];
    if (stack.empty()) return troubles_.add("an end without a beginning was skipped", at);
    close(stack.back(), time);
    stack.pop_back();
  }

  struct Open {
    SliceId slice;
    int64_t begin;
  };

  void close(const Open& open, int64_t end) {
    builder_.set_duration(open.slice, {trace::clamped_duration(end - open.begin)});
  }

  // Async groups get a lane by name; nesting and overlap inside it are the builder's business.
  void take_async(const ChromeEvent& event, int64_t time, size_t at) {
    const std::string_view process = event.process.text.empty() ? "0" : event.process.text;
    const std::string group =
        fmt::format("{}\x01{}\x01{}", event.category.text, event.id.text, event.scope.text);
    auto& stack = async_[fmt::format("{}\x01{}", process, group)];
    if (event.phase == 'b' || event.phase == 'S') {
      const std::string_view shown = event.category.text.empty() ? "async" : event.category.text;
      const TrackId track = lane(process, shown, 'a', TrackKind::kAsync, shown);
      const SliceId slice = add_slice(track, time, 0, event);
      stack.push_back({slice, time});
    } else if (stack.empty()) {
      troubles_.add("an async end without a beginning was skipped", at);
    } else {
      close(stack.back(), time);
      stack.pop_back();
    }
  }

  void take_counter(const ChromeEvent& event, int64_t time) {
    const std::string_view process = event.process.text.empty() ? "0" : event.process.text;
    std::string name(unescaped(event.name, scratch_));
    if (event.id.kind != ValueKind::kEnd) name += fmt::format("[{}]", event.id.text);
    JsonScanner args(event.args);
    if (!args.take('{')) return;
    std::string_view key;
    while (args.key(key)) {
      const JsonValue value = args.value();
      double number;
      if (value.kind == ValueKind::kEnd) break;
      const auto result =
          std::from_chars(value.text.data(), value.text.data() + value.text.size(), number);
      if (result.ec != std::errc() || value.text.empty()) continue;
      const std::string series =
          key.empty() || key == "value" ? name : fmt::format("{} {}", name, key);
      builder_.point(lane(process, series, 'c', TrackKind::kCounter, series), {time}, number);
    }
  }

  void take_flow(const ChromeEvent& event, int64_t time) {
    const std::string_view name = event.name.text;
    add_flow(thread_track(event), time,
             flow_kind(event.category.text.empty() ? name : event.category.text, name),
             event.id.text, event.phase, event.phase != 'f' || event.binds_enclosing);
  }

  struct FlowKind {
    StringId kind, space;
  };

  FlowKind flow_kind(std::string_view kind, std::string_view name) {
    key_.assign(kind);
    key_.push_back('\x01');
    key_ += name;
    return {builder_.string(kind), flow_texts_.id(key_)};
  }

  void add_flow(TrackId track, int64_t time, FlowKind kind, std::string_view id, char phase,
                bool encloses) {
    flow_ends_.push_back({{kind.space, flow_id(id)}, time, track, kind.kind, phase, encloses});
  }

  // Numbers stand for themselves, as nearly all ids do; other texts get one that no number has.
  uint64_t flow_id(std::string_view id) {
    constexpr uint64_t kText = uint64_t{1} << 63;
    uint64_t number = 0;
    const char* end = id.data() + id.size();
    const bool is_plain = !id.empty() && (id[0] != '0' || id.size() == 1) &&
                          std::from_chars(id.data(), end, number).ptr == end && number < kText;
    return is_plain ? number : kText | flow_texts_.id(id);
  }

  void take_metadata(const ChromeEvent& event) {
    JsonScanner args(event.args);
    std::string_view key;
    JsonValue value;
    if (!args.take('{') || !args.key(key)) return;
    value = args.value();
    const std::string_view what = event.name.text;
    const std::string_view process = event.process.text.empty() ? "0" : event.process.text;
    const std::string text(unescaped(value, scratch_));
    const auto set_name = [&](TrackId track) {
      if (!text.empty())
        builder_.edit(track).name = builder_.string(is_utf8(text) ? text : to_utf8(text));
    };
    if (what == "process_name") {
      set_name(process_track(process));
    } else if (what == "thread_name") {
      set_name(thread_track(event));
    } else if (what == "process_sort_index") {
      builder_.edit(process_track(process)).order = as_number(text);
    } else if (what == "thread_sort_index") {
      builder_.edit(thread_track(event)).order = as_number(text);
    } else if (what == "process_labels") {
      labels_.emplace_back(process_track(process), text);
    } else if (what == "trace_buffer_overflowed") {
      builder_.diagnose(Diagnostic::Severity::kWarning,
                        "the producer's buffer overflowed: events are missing");
    }
  }

  // --- arguments ---

  void add_args() {
    for (size_t i = 0; i < args_.size(); ++i) add_arg(key_of(args_[i].key, i), args_[i].value);
  }

  // Events of one kind have the same keys in the same places.
  trace::KeyId key_of(std::string_view key, size_t place) {
    KnownKey& known = known_keys_[place % std::size(known_keys_)][key.size() % 4];
    if (known.id == kNone || known.text != key) known = {std::string(key), builder_.key(key)};
    return known.id;
  }

  struct KnownKey {
    std::string text;
    trace::KeyId id = kNone;
  };

  void add_arg(trace::KeyId key, const JsonValue& value) {
    if (value.kind == ValueKind::kNumber) {
      int64_t whole;
      const char* end = value.text.data() + value.text.size();
      if (std::from_chars(value.text.data(), end, whole).ptr == end) {
        return builder_.arg(key, {trace::ArgType::kInt, static_cast<uint64_t>(whole)});
      }
      double number;
      if (const auto result = std::from_chars(value.text.data(), end, number);
          result.ptr == end && result.ec == std::errc()) {
        return builder_.arg(key, {trace::ArgType::kDouble, std::bit_cast<uint64_t>(number)});
      }
    }
    if (value.kind == ValueKind::kWord && (value.text == "true" || value.text == "false")) {
      return builder_.arg(key, {trace::ArgType::kBool, value.text == "true"});
    }
    std::string_view text = unescaped(value, scratch_);
    if (!is_utf8(text)) text = repaired_ = to_utf8(text);
    builder_.arg(key, {trace::ArgType::kText, builder_.string(text)});
  }

  // --- the end ---

  void finish() {
    for (auto& [track, stack] : open_) {
      for (const Open& open : stack) unfinished_.push_back(open);
    }
    for (auto& [group, stack] : async_) {
      for (const Open& open : stack) unfinished_.push_back(open);
    }
    for (const Open& open : unfinished_) close(open, latest_);
    if (!unfinished_.empty()) {
      builder_.diagnose(
          Diagnostic::Severity::kInfo,
          fmt::format("{} slices have no end; they are shown up to the end of the trace",
                      unfinished_.size()));
    }
    set_origin();
    connect_flows();
    for (const auto& [what, trouble] : troubles_.seen) {
      builder_.diagnose(
          Diagnostic::Severity::kWarning,
          fmt::format("{} ({} times, first at byte {})", what, trouble.count, trouble.first));
    }
    for (const auto& [track, text] : labels_) {
      builder_.edit(track).display_name =
          builder_.string(fmt::format("{}: {}", builder_.text(builder_.edit(track).name), text));
    }
    if (is_kineto_) builder_.set_format("kineto");
  }

  void set_origin() {
    if (first_time_ == INT64_MIN) return;
    builder_.set_origin({earliest_});
    const int64_t first_ns = first_time_ + earliest_ / 1000;
    constexpr int64_t k2001 = 978'307'200'000'000'000, k2100 = 4'102'444'800'000'000'000;
    if (base_ns_ > 0) {
      builder_.set_start_ns(base_ns_ + first_ns);
    } else if (first_ns > k2001 && first_ns < k2100) {
      builder_.set_start_ns(first_ns);
    }
  }

  void connect_flows() {
    auto sorting = std::async(std::launch::async, [this] {  // beside the slices
      for (FlowEnd& end : flow_ends_) end.time_ps -= earliest_;
      sort_flows(flow_ends_);
    });
    const trace::Trace& settled = builder_.settle();
    sorting.wait();
    const uint64_t dangling = imports::connect_flows(flow_ends_, settled, builder_);
    if (dangling == 0) return;
    builder_.diagnose(
        Diagnostic::Severity::kInfo,
        fmt::format("{} flow ends have no partner, which is normal for calls that launched nothing",
                    dangling));
  }

  JsonScanner scanner_;
  EventsAhead ahead_;
  Builder& builder_;
  std::span<const ChromeArg> args_;  // of the event being taken
  std::vector<ChromeArg> own_args_;
  // What was looked up lately: most events repeat names, keys and threads of those before.
  std::array<KnownLabel, 1024> known_labels_;
  std::array<std::array<KnownKey, 4>, 64> known_keys_;
  std::array<KnownTrack, 8> known_tracks_;
  size_t next_known_track_ = 0;
  Troubles troubles_;
  uint64_t events_ = 0;
  bool is_kineto_ = false;
  int64_t base_ns_ = 0;
  int64_t first_time_ = INT64_MIN;  // ns of the first event; times below are ps since it
  int64_t earliest_ = INT64_MAX, latest_ = INT64_MIN;
  StringTable identities_, flow_texts_;
  std::vector<TrackId> tracks_;  // by identity
  std::vector<TrackId> processes_;
  std::vector<std::pair<TrackId, std::string>> labels_;
  std::map<TrackId, std::vector<Open>> open_;
  std::map<std::string, std::vector<Open>> async_;
  std::vector<Open> unfinished_;
  std::vector<FlowEnd> flow_ends_;
  std::string scratch_, repaired_, key_;
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
  std::make_unique<TraceReader>(as_text(input.bytes), input.pool, builder)->run();
  return {};
}

}  // namespace

extern const Importer kChromeJson;
const Importer kChromeJson{"chrome_json", "Chrome trace JSON", sniff, read};

}  // namespace sonde::imports
