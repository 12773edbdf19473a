#include "capture/import/chrome_json/trace_event_builder.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <future>

#include "base/strings.h"

namespace sonde::imports {

using trace::Diagnostic;
using trace::kNone;
using trace::LabelId;
using trace::SliceId;
using trace::TrackId;
using trace::TrackKind;

// --- identities ---

// Ids compare as text: 7 and "7" are the same thread. Cheap for runs of events of one thread.
uint32_t TraceEventBuilder::id_of(std::string_view process, std::string_view thread, char space) {
  key_.assign(1, space);
  key_ += process;
  key_.push_back('\0');
  key_ += thread;
  return identities_.id(key_);
}

TrackId TraceEventBuilder::process_track(std::string_view process) {
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

TrackId TraceEventBuilder::thread_track(const ChromeEvent& event) {
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

TrackId TraceEventBuilder::lane(std::string_view process, std::string_view thread, char space,
                                TrackKind kind, std::string_view name) {
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

bool TraceEventBuilder::is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("-0123456789") == std::string_view::npos;
}

int64_t TraceEventBuilder::as_number(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// --- events ---

void TraceEventBuilder::take_header(std::string_view key, const JsonValue& value) {
  if (key == "baseTimeNanoseconds")
    std::from_chars(value.text.data(), value.text.data() + value.text.size(), base_ns_);
  if (key == "schemaVersion" || key == "deviceProperties") is_kineto_ = true;
  if (key == "stackFrames" || key == "samples" || value.text.size() > (1 << 20)) return;
  builder_.add_metadata(std::string(key), std::string(unescaped(value, scratch_)));
}

void TraceEventBuilder::take(const ChromeEvent& event, std::span<const ChromeArg> args, size_t at) {
  ++events_;
  args_ = args;
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

LabelId TraceEventBuilder::label(const ChromeEvent& event) {
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

SliceId TraceEventBuilder::add_slice(TrackId track, int64_t time, int64_t duration,
                                     const ChromeEvent& event) {
  const SliceId slice = builder_.slice(track, {time}, {duration}, label(event));
  add_args();
  if (!is_kineto_)
    is_kineto_ = event.category.text == "cpu_op" || event.category.text == "Operator" ||
                 event.category.text == "user_annotation";
  return slice;
}

void TraceEventBuilder::take_complete(const ChromeEvent& event, int64_t time, size_t at) {
  if (event.duration_ns < 0) troubles_.add("a slice has a negative duration, shown as zero", at);
  const TrackId track = thread_track(event);
  const SliceId slice = add_slice(
      track, time, trace::clamped_duration(std::max<int64_t>(0, event.duration_ns) * 1000), event);
  if (!event.has_duration) unfinished_.push_back({slice, time});
  if (event.category.text == "cuda_profiler_range") add_metrics(event, time);
  if (event.bind_id.kind == ValueKind::kEnd) return;
  const FlowKind bind = flow_kind("flow", "bind");
  if (event.flow_in) add_flow(track, time, bind, event.bind_id.text, 'f', true);
  if (event.flow_out) add_flow(track, time, bind, event.bind_id.text, 's', true);
}

// CUPTI's counters of a range stand in its arguments: a value each, from its begin to its end.
void TraceEventBuilder::add_metrics(const ChromeEvent& event, int64_t time) {
  const std::string_view process = event.process.text.empty() ? "0" : event.process.text;
  const int64_t end =
      time + trace::clamped_duration(std::max<int64_t>(0, event.duration_ns) * 1000);
  for (const ChromeArg& arg : args_) {
    // Counters are named unit__what.how; the other arguments are numbers of devices and streams.
    double number = 0;
    const std::string_view text = arg.value.text;
    if (arg.key.find("__") == arg.key.npos || text.empty()) continue;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
    if (result.ec != std::errc()) continue;
    const TrackId counter = lane(process, arg.key, 'c', TrackKind::kCounter, arg.key);
    builder_.point(counter, {time}, number);
    builder_.point(counter, {end}, 0);
  }
}

void TraceEventBuilder::take_begin(const ChromeEvent& event, int64_t time) {
  const TrackId track = thread_track(event);
  const SliceId slice = add_slice(track, time, 0, event);
  open_[track].push_back({slice, time});
}

void TraceEventBuilder::take_end(const ChromeEvent& event, int64_t time, size_t at) {
  auto& stack = open_[thread_track(event)];
  if (stack.empty()) return troubles_.add("an end without a beginning was skipped", at);
  close(stack.back(), time);
  stack.pop_back();
}

void TraceEventBuilder::close(const Open& open, int64_t end) {
  builder_.set_duration(open.slice, {trace::clamped_duration(end - open.begin)});
}

// Async groups get a lane by name; nesting and overlap inside it are the builder's business.
void TraceEventBuilder::take_async(const ChromeEvent& event, int64_t time, size_t at) {
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

void TraceEventBuilder::take_counter(const ChromeEvent& event, int64_t time) {
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

void TraceEventBuilder::take_flow(const ChromeEvent& event, int64_t time) {
  const std::string_view name = event.name.text;
  add_flow(thread_track(event), time,
           flow_kind(event.category.text.empty() ? name : event.category.text, name), event.id.text,
           event.phase, event.phase != 'f' || event.binds_enclosing);
}

TraceEventBuilder::FlowKind TraceEventBuilder::flow_kind(std::string_view kind,
                                                         std::string_view name) {
  key_.assign(kind);
  key_.push_back('\x01');
  key_ += name;
  return {builder_.string(kind), flow_texts_.id(key_)};
}

void TraceEventBuilder::add_flow(TrackId track, int64_t time, FlowKind kind, std::string_view id,
                                 char phase, bool encloses) {
  flow_ends_.push_back({{kind.space, flow_id(id)}, time, track, kind.kind, phase, encloses});
}

// Numbers stand for themselves, as nearly all ids do; other texts get one that no number has.
uint64_t TraceEventBuilder::flow_id(std::string_view id) {
  constexpr uint64_t kText = uint64_t{1} << 63;
  uint64_t number = 0;
  const char* end = id.data() + id.size();
  const auto read = std::from_chars(id.data(), end, number);
  const bool is_plain = !id.empty() && (id[0] != '0' || id.size() == 1) && read.ptr == end &&
                        read.ec == std::errc() && number < kText;
  return is_plain ? number : kText | flow_texts_.id(id);
}

void TraceEventBuilder::take_metadata(const ChromeEvent& event) {
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

void TraceEventBuilder::add_args() {
  for (size_t i = 0; i < args_.size(); ++i) add_arg(key_of(args_[i].key, i), args_[i].value);
}

// Events of one kind have the same keys in the same places.
trace::KeyId TraceEventBuilder::key_of(std::string_view key, size_t place) {
  KnownKey& known = known_keys_[place % std::size(known_keys_)][key.size() % 4];
  if (known.id == kNone || known.text != key) known = {std::string(key), builder_.key(key)};
  return known.id;
}

void TraceEventBuilder::add_arg(trace::KeyId key, const JsonValue& value) {
  if (value.kind == ValueKind::kNumber) {
    int64_t whole = 0;
    const char* end = value.text.data() + value.text.size();
    if (const auto result = std::from_chars(value.text.data(), end, whole);
        result.ptr == end && result.ec == std::errc()) {
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

void TraceEventBuilder::finish() {
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

void TraceEventBuilder::set_origin() {
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

void TraceEventBuilder::connect_flows() {
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

}  // namespace sonde::imports
