// The capture sessions of a log directory and those a user dropped, loaded when asked for and kept
// while they are looked at. Shared by xprof's routes, /api/v1/profile and /api/v1/trace.
// Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "capture/import/session.h"
#include "capture/report/tool.h"
#include "capture/tools/recorded.h"
#include "capture/trace/level_of_detail.h"

namespace sonde::api {

// One loaded session: the tools' view of it and, per host, what the trace viewer needs.
struct Capture {
  explicit Capture(trace::Session loaded, std::vector<capture::RecordedFile> results = {})
      : session(std::move(loaded)), recorded(std::move(results)) {
    for (const trace::Host& host : session.hosts())
      viewers.push_back(std::make_unique<trace::LevelOfDetail>(host.trace));
  }
  capture::Session session;
  // All hosts of the session on one axis, made when somebody first looks at it.
  struct Merged {
    explicit Merged(trace::Session loaded)
        : session(std::move(loaded)), viewer(session.hosts()[0].trace) {}
    capture::Session session;  // of one host
    trace::LevelOfDetail viewer;
  };
  const Merged& merged() const;
  double load_ms = 0;  // what reading and importing its files took
  // Of a session without a capture: the tools' results that its producer stored.
  std::vector<capture::RecordedFile> recorded;
  std::vector<std::unique_ptr<trace::LevelOfDetail>> viewers;  // by host

 private:
  mutable std::once_flag merged_once_;
  mutable std::unique_ptr<Merged> merged_;
};

// The stored results of a session that has no capture; empty when it has one. Files that cannot be
// read are left out.
std::vector<capture::RecordedFile> recorded_results(const imports::SessionFiles& files);

// What a tool lacks in a session; empty when it can run or its result is stored.
std::string why_not(const Capture& capture, const capture::Tool& tool);
// The tool's report: computed, or as recorded where the session holds stored results alone.
Result<capture::Report> report_of(const Capture& capture, const capture::Tool& tool,
                                  const capture::Options& options);
// Names of the session's hosts, of its captures or of its stored results, each once.
std::vector<std::string> host_names(const Capture& capture);

class Captures {
 public:
  // Every session, newest id first; looked for again every five seconds. The id is
  // SessionFiles::id(), with the root's name before it where --logdir_spec gave one.
  struct Entry {
    std::string id;
    imports::SessionFiles files;
  };
  std::shared_ptr<const std::vector<Entry>> list(const Context& context);
  // Counted up when something was just written: the next list() looks again. May outlive this.
  std::shared_ptr<std::atomic<uint64_t>> looks() const { return looks_; }

  // Loads the session on first use; a second asker waits for the first. kNotFound for an unknown
  // id.
  Result<std::shared_ptr<const Capture>> load(const Context& context, std::string_view id);

  // The session as it was last loaded, without a look at its files: what a viewer that shows it
  // asks about. Loads it when it is not in memory.
  Result<std::shared_ptr<const Capture>> shown(const Context& context, std::string_view id);
  bool is_loaded(std::string_view id);

  // The session as if it had been captured from `begin` to `end` only, on the clock of one of its
  // hosts (the first unless named). The last few parts are kept.
  struct Part {
    Picos begin, end;
    std::string host;
  };
  Result<std::shared_ptr<const Capture>> part(const Context& context, std::string_view id,
                                              const Part& part);

  // Makes a session of a capture that lies inside a log directory and is in no list (the trace of
  // one rank of a digest) and gives its id. kForbidden for any other place.
  Result<std::string> open(const Context& context, const std::string& path);

  // How far the loading of a session is.
  struct Progress {
    bool is_loading = false;
    size_t files = 0, files_done = 0;
    uint64_t bytes = 0, bytes_done = 0;
  };
  Progress progress(std::string_view id);

  // Keeps a dropped file's content as a session of its own and gives its id; with `into`, the id
  // of an earlier one, as a further host of that session.
  Result<std::string> keep_upload(const Context& context, std::string name, Bytes bytes,
                                  std::string_view into = {});
  void forget_uploads();

 private:
  std::shared_ptr<const Capture> in_memory(std::string_view id);

  struct Slot {
    std::string id, mark;
    bool is_loading = true;
    size_t files = 0;
    uint64_t bytes = 0;
    imports::LoadProgress done = {};
    Result<std::shared_ptr<const Capture>> capture = std::shared_ptr<const Capture>();
  };
  static constexpr size_t kKept = 4;  // sessions in memory; the least recently used goes first

  struct KeptPart {
    std::string key;  // session, its mark, range and host
    std::shared_ptr<const Capture> capture;
  };
  std::string mark_in_memory(std::string_view id);

  const std::shared_ptr<std::atomic<uint64_t>> looks_ = std::make_shared<std::atomic<uint64_t>>();
  std::mutex mutex_;  // guards: slots_, uploads_, parts_, opened_
  std::condition_variable loaded_;
  std::list<std::shared_ptr<Slot>> slots_;  // most recently used first
  std::vector<std::pair<std::string, std::shared_ptr<const Capture>>> uploads_;
  std::list<KeptPart> parts_;  // most recently used first
  std::vector<Entry> opened_;  // newest last
};

}  // namespace sonde::api
