// Finds capture sessions on disk and loads them. A session is a folder
// <run>/plugins/profile/<session>/ with a file for each host, or, for captures that lie about
// loosely, the captures of one folder, or a single file. Nothing is ever written there.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "capture/trace/trace.h"

namespace sonde::imports {

enum class FileKind : uint8_t {
  kXplane,       // <host>.xplane.pb[.gz]
  kTraceJson,    // *.trace.json[.gz], *.pt.trace.json[.gz], Chrome JSON
  kRunMetadata,  // RunMetadata / StepStats protobuf
  kEventFile,    // event file of a run with tagged run metadata
  kToolData,     // output of an old plug-in, shown as recorded
  kNsys,         // export of Nsight Systems: *.sqlite
  kMemory,       // snapshot of device memory: *.pickle of PyTorch, *.prof of JAX
};

struct CaptureFile {
  std::string path;
  std::string host;  // from the file name; empty when it names none
  FileKind kind = FileKind::kXplane;
  std::string tool;  // of tool data: overview_page, input_pipeline …
  std::string span;  // number in the name of a PyTorch capture: when it was written
  uint64_t bytes = 0;
  int64_t modified_ns = 0;
};

struct SessionFiles {
  std::string run;   // folder below the root that holds plugins/profile, "" for the root itself
  std::string name;  // the session folder's name, or the file's
  std::string path;
  std::vector<CaptureFile> files;  // sorted by host, then name

  std::string id() const { return run.empty() ? name : run + "/" + name; }
  // The files that make the trace: xplane if there is one, else trace JSON, else run metadata, else
  // event files, else an export of Nsight Systems, else snapshots of memory.
  std::vector<const CaptureFile*> captures() const;
};

// Every session below `root`, in descending order of id as xprof lists them. A folder of PyTorch
// captures is a session; where the profiler ran several times, one session a time. An export of
// Nsight Systems and a snapshot of memory are sessions of their own wherever they lie.
std::vector<SessionFiles> find_sessions(const std::string& root);

// The capture files that lie directly in a folder.
SessionFiles session_in(const std::string& folder);

// Name of the session that the run metadata of a run's event files make.
inline constexpr std::string_view kRunMetadataSession = "run_metadata";
// Whether an event's payload, or the beginning of one, is run metadata with step statistics.
bool holds_step_stats(Bytes event_head);

// What a user means by a path: a capture file, a session folder, a folder of captures, a log
// directory (its newest session), or one whose event files hold run metadata. `span` picks one of
// several times that a PyTorch profiler ran, counted from 1; 0 is the last.
Result<SessionFiles> session_at(const std::string& path, uint32_t span = 0);

// How far load_session is; read by others while it runs.
struct LoadProgress {
  std::atomic<size_t> files{0};
  std::atomic<uint64_t> bytes{0};
};

// Reads and imports all captures of a session, or only the given host's. A file that cannot be read
// becomes a diagnostic; an error means no host could be loaded.
Result<trace::Session> load_session(const SessionFiles& files, ThreadPool* pool = nullptr,
                                    std::string_view only_host = {},
                                    LoadProgress* progress = nullptr);
Result<trace::Host> load_capture(const CaptureFile& file, ThreadPool* pool = nullptr);

}  // namespace sonde::imports
