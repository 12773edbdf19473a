// Puts the events of a Chrome trace, one after the other, into a trace: threads and processes
// become tracks, phases become slices, counters, instants and flows. What is unusual is counted and
// told once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/intern.h"
#include "capture/import/chrome_json/event.h"
#include "capture/import/chrome_json/flows.h"
#include "capture/trace/builder.h"

namespace sonde::imports {

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

class TraceEventBuilder {
 public:
  explicit TraceEventBuilder(trace::Builder& builder) : builder_(builder) {}

  // An event that begins at byte `at`, with its arguments.
  void take(const ChromeEvent& event, std::span<const ChromeArg> args, size_t at);
  // A member of the document beside its events.
  void take_header(std::string_view key, const JsonValue& value);
  // After the last event.
  void finish();

  uint64_t events() const { return events_; }
  Troubles& troubles() { return troubles_; }

 private:
  using LabelId = trace::LabelId;
  using SliceId = trace::SliceId;
  using StringId = trace::StringId;
  using TrackId = trace::TrackId;
  using TrackKind = trace::TrackKind;

  struct KnownTrack {
    std::string process, thread;
    TrackId id = trace::kNone;
  };
  struct KnownLabel {
    std::string name, category;
    LabelId id = trace::kNone;
  };
  struct Open {
    SliceId slice;
    int64_t begin;
  };
  struct FlowKind {
    StringId kind, space;
  };
  struct KnownKey {
    std::string text;
    trace::KeyId id = trace::kNone;
  };

  // --- identities ---
  uint32_t id_of(std::string_view process, std::string_view thread, char space);
  TrackId process_track(std::string_view process);
  TrackId thread_track(const ChromeEvent& event);
  TrackId lane(std::string_view process, std::string_view thread, char space, TrackKind kind,
               std::string_view name);
  static bool is_number(std::string_view text);
  static int64_t as_number(std::string_view text);
  // --- events ---
  LabelId label(const ChromeEvent& event);
  SliceId add_slice(TrackId track, int64_t time, int64_t duration, const ChromeEvent& event);
  void take_complete(const ChromeEvent& event, int64_t time, size_t at);
  void add_metrics(const ChromeEvent& event, int64_t time);
  void take_begin(const ChromeEvent& event, int64_t time);
  void take_end(const ChromeEvent& event, int64_t time, size_t at);
  void close(const Open& open, int64_t end);
  void take_async(const ChromeEvent& event, int64_t time, size_t at);
  void take_counter(const ChromeEvent& event, int64_t time);
  void take_flow(const ChromeEvent& event, int64_t time);
  FlowKind flow_kind(std::string_view kind, std::string_view name);
  void add_flow(TrackId track, int64_t time, FlowKind kind, std::string_view id, char phase,
                bool encloses);
  uint64_t flow_id(std::string_view id);
  void take_metadata(const ChromeEvent& event);
  // --- arguments ---
  void add_args();
  trace::KeyId key_of(std::string_view key, size_t place);
  void add_arg(trace::KeyId key, const JsonValue& value);
  // --- the end ---
  void set_origin();
  void connect_flows();

  trace::Builder& builder_;
  std::span<const ChromeArg> args_;  // of the event being taken
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

}  // namespace sonde::imports
