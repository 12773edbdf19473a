// A dump of tfdbg V2 in memory: graphs, ops, sources and stack frames whole, executions and traces
// as rows of a few bytes with the place of their record; tensors are read when somebody asks.
// Grows with its files. Thread-safe: readers take a View, which holds a shared lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/intern.h"
#include "numerics/debug_event.h"
#include "numerics/find.h"
#include "numerics/health.h"
#include "numerics/record_file.h"

namespace sonde::numerics {

struct Source {
  std::string host, path;
  uint64_t offset = 0;  // of its record, for the lines
};

struct Frame {
  uint32_t source = UINT32_MAX;  // UINT32_MAX: its file is not known (yet)
  int64_t file_index = 0, line = 0;
  std::string function;
};

struct Consumer {
  int64_t source_slot = 0;
  uint32_t op = 0;  // into Data::ops
  int64_t input_slot = 0;
};

struct Op {
  uint32_t type = 0;   // into Data::texts
  uint32_t graph = 0;  // into Data::graphs
  std::string name;
  double wall_time = 0;
  std::vector<int64_t> output_ids;
  std::vector<std::pair<std::string, int64_t>> inputs;  // op and slot
  uint32_t host = 0;                                    // into Data::texts
  std::vector<uint32_t> frame_ids;                      // into Data::texts, as written
};

struct Graph {
  std::string id, name, outer_id;
  std::vector<std::string> inner_ids;
  std::unordered_map<std::string, uint32_t> ops;                     // by name, into Data::ops
  std::unordered_map<std::string, std::vector<Consumer>> consumers;  // by the source op's name
};

// What is traced: one output of one op on one host.
struct Traced {
  uint32_t context = 0, op_name = 0;  // into Data::texts
  int64_t slot = 0;
  uint32_t file = 0;
  uint32_t count = 0;  // rows so far
};

struct TraceRow {
  double wall_time;
  uint64_t offset : 48;  // of the payload in its file
  uint64_t bad : 8;      // Bad bits
  uint64_t mode_number : 8;
  uint32_t step;    // sonde.debug's step, otherwise how often this output was traced before
  uint32_t traced;  // into Data::traced
  float rms;        // NaN: not known
  float zeros;      // share of zeros; NaN: not known
  float wrong;      // share of NaN and infinities; NaN: not known
  float saturated;  // largest value, as a share of what the type can hold; NaN: not known

  DebugMode mode() const { return static_cast<DebugMode>(mode_number); }
};
static_assert(sizeof(TraceRow) == 40);

struct ExecutionRow {
  double wall_time;
  uint64_t offset;
  int64_t step;  // sonde.debug's; -1 otherwise
  uint32_t op_type;
  uint32_t device_list;  // into Data::device_lists
  uint8_t bad;           // of all outputs together
  DebugMode mode;
};

// TensorBoard's alert, one an output with values that are no numbers.
struct InfNanAlert {
  uint32_t op_type = 0;  // into Data::texts; of a trace: see index
  int64_t slot = 0;
  double size = -1, neg_inf = -1, pos_inf = -1, nan = -1;
  bool is_whole = false;  // counted in the tensor itself
  int64_t execution = -1, trace = -1;
};
inline constexpr size_t kMostAlerts = 1000;

struct Data {
  StringTable texts;
  std::vector<Source> sources;
  std::map<std::pair<std::string, std::string>, uint32_t> source_by_name;  // host and path
  std::unordered_map<std::string, Frame> frames;
  std::vector<Graph> graphs;
  std::unordered_map<std::string, uint32_t> graph_by_id;
  std::vector<Op> ops;
  std::map<int64_t, std::string> devices;
  std::vector<Traced> traced;
  std::deque<TraceRow> traces;
  std::vector<std::vector<int64_t>> device_lists;
  std::vector<ExecutionRow> executions;
  std::vector<InfNanAlert> alerts;  // the first kMostAlerts, as TensorBoard keeps them
  uint64_t bad_traces = 0, bad_executions = 0;

  const Graph* graph(std::string_view id) const;
  const Op* op(std::string_view graph_id, std::string_view name) const;
  const Op* op(const Traced& traced) const {
    return op(texts.text(traced.context), texts.text(traced.op_name));
  }
  // The graph and those around it, outermost first.
  std::vector<std::string_view> graph_path(std::string_view id) const;
};

class Dump {
 public:
  explicit Dump(DumpFiles files);

  const DumpFiles& files() const { return files_; }
  // Reads what the files gained. One caller works, others wait.
  void update();
  // Counted up whenever something was read.
  uint64_t revision() const { return revision_; }

  // What was read, unchanged while this is held.
  class View {
   public:
    explicit View(const Dump& dump) : lock_(dump.mutex_), data_(dump.data_) {}
    const Data* operator->() const { return &data_; }
    const Data& operator*() const { return data_; }

   private:
    std::shared_lock<std::shared_mutex> lock_;
    const Data& data_;
  };
  View view() const { return View(*this); }

  // Paths of the record files that rows refer to.
  const std::string& trace_path(uint32_t file) const { return trace_files_[file]->path(); }
  const std::string& execution_path() const { return execution_file_->path(); }
  const std::string& source_path() const { return source_file_->path(); }

  struct FileState {
    std::string path, kind;
    uint64_t bytes = 0, records = 0, damages = 0;
    bool has_torn_tail = false;
  };
  std::vector<FileState> file_states() const;
  std::vector<RecordDamage> damages() const;

 private:
  struct File : RecordFile {
    using RecordFile::RecordFile;
    uint64_t records = 0;
    std::string kind;
  };
  void open_files();
  bool read_all();
  template <class Take>
  bool read_file(File& file, Take&& take);
  Result<void> take_source(const DebugEvent& event, uint64_t offset);
  Result<void> take_frame(const DebugEvent& event);
  Result<void> take_graph(const DebugEvent& event);
  Result<void> take_trace(const DebugEvent& event, uint64_t offset, uint32_t file);
  Result<void> take_execution(const DebugEvent& event, uint64_t offset);
  Graph& graph_of(std::string_view id);
  void resolve_frames();
  void note_alert(const Health& health, bool is_whole, InfNanAlert alert);

  DumpFiles files_;
  mutable std::mutex update_mutex_;  // guards: the files
  std::unique_ptr<File> source_file_, frame_file_, graph_file_, execution_file_;
  std::vector<std::unique_ptr<File>> trace_files_;
  StringTable traced_ids_;
  std::vector<std::string> unresolved_;  // frames whose source file was not there
  std::map<std::vector<int64_t>, uint32_t> device_list_ids_;
  mutable std::shared_mutex mutex_;  // guards: data_
  Data data_;
  std::atomic<uint64_t> revision_ = 0;
};

// Of several dumps at once, locked in one order so that no two callers wait for each other.
template <class Dumps>
std::map<const Dump*, Dump::View> views_of(const Dumps& dumps) {
  std::map<const Dump*, Dump::View> views;
  std::set<const Dump*> sorted;
  for (const auto& dump : dumps) sorted.insert(&*dump);
  for (const Dump* dump : sorted) views.emplace(dump, dump->view());
  return views;
}

// One trace or execution in full, read from its record.
struct TraceDetail {
  std::string device_name;
  DebugMode mode = DebugMode::kUnspecified;
  std::optional<std::vector<double>> values;  // not in FULL_TENSOR
  Health health;
  std::optional<Numbers> numbers;
  std::vector<uint32_t> histogram;  // counts by binary exponent from kFirstExponent on
};
inline constexpr int kFirstExponent = -32;  // the first of sonde.debug's buckets

struct ExecutionDetail {
  std::string host, graph_id;
  std::vector<std::string> frame_ids;
  std::vector<int64_t> input_ids, output_ids;
  DebugMode mode = DebugMode::kUnspecified;
  std::vector<std::optional<std::vector<double>>> values;  // an output each
  std::vector<Health> health;
};

// Reads records of one dump again; for one thread.
class DetailReader {
 public:
  explicit DetailReader(const Dump& dump) : dump_(dump) {}
  Result<TraceDetail> trace(uint32_t file, uint64_t offset);
  Result<ExecutionDetail> execution(uint64_t offset);
  Result<std::vector<std::string>> source_lines(uint64_t offset);

 private:
  RecordReads& reads(const std::string& path);
  const Dump& dump_;
  std::map<std::string, RecordReads> reads_;
};

}  // namespace sonde::numerics
