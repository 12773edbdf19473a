// What Nsight Systems exports with `nsys export --type sqlite`: kernels, copies, runtime calls, NVTX
// ranges and sampled GPU metrics. Tables exist only where something was recorded, and columns come
// and go between versions: a query names those that are there.
#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "capture/import/registry.h"
#include "table/sqlite_file.h"

namespace sonde::imports {
namespace {

using table::Rows;
using table::SqliteFile;
using trace::Builder;
using trace::TrackId;
using trace::TrackKind;

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr int64_t kMostRows = 100'000'000;  // of one table
constexpr size_t kMostTracks = 100'000;
constexpr int64_t kPsInNs = 1000;
constexpr std::string_view kKernels = "CUPTI_ACTIVITY_KIND_KERNEL",
                           kRuntime = "CUPTI_ACTIVITY_KIND_RUNTIME",
                           kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY",
                           kSets = "CUPTI_ACTIVITY_KIND_MEMSET",
                           kSyncs = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", kNvtx = "NVTX_EVENTS",
                           kMetrics = "GPU_METRICS", kMetricNames = "TARGET_INFO_GPU_METRICS";

// The schema stands on the first page, or on pages it points to: a name of a table is near the front.
bool sniff(std::string_view name, Bytes head) {
  const std::string_view text = as_text(head);
  if (!text.starts_with(kMagic)) return false;
  return text.find("StringIds") != text.npos || text.find("CUPTI_ACTIVITY") != text.npos ||
         text.find("NVTX_EVENTS") != text.npos || text.find("TARGET_INFO_GPU") != text.npos ||
         name.find("nsys") != name.npos;
}

int64_t picos(int64_t ns) {
  return trace::clamped_begin(
      std::clamp(ns, -trace::kTimeLimit / kPsInNs, trace::kTimeLimit / kPsInNs) * kPsInNs);
}

class Reader {
 public:
  Reader(SqliteFile& file, Builder& builder) : file_(file), builder_(builder) {}

  Result<void> run() {
    SONDE_TRY(tables, file_.tables());
    tables_ = std::move(tables);
    if (auto strings = read_strings(); !strings) return strings;
    read_names();
    for (const auto part :
         {&Reader::read_runtime, &Reader::read_nvtx, &Reader::read_kernels, &Reader::read_copies,
          &Reader::read_sets, &Reader::read_syncs, &Reader::read_metrics}) {
      if (auto read = (this->*part)(); !read) return read;
    }
    if (builder_.slice_count() == 0 && !has_points_)
      return fail(Code::kUnsupported,
                  "the database has none of the tables of an export of Nsight Systems "
                  "(CUPTI_ACTIVITY_KIND_KERNEL, NVTX_EVENTS, GPU_METRICS …)");
    connect();
    if (first_ns_ != INT64_MAX) builder_.set_origin({picos(first_ns_)});
    read_start();
    return {};
  }

 private:
  bool has(std::string_view table) const { return tables_.contains(table); }

  // The rows of a table; a column that this version lacks is NULL.
  Result<Rows> rows_of(std::string_view table, std::initializer_list<std::string_view> wanted) {
    SONDE_TRY(columns, file_.columns(table));
    std::string sql = "SELECT ";
    bool is_first = true;
    for (const std::string_view column : wanted) {
      if (!is_first) sql += ", ";
      is_first = false;
      sql += columns.contains(column) ? fmt::format("\"{}\"", column) : "NULL";
    }
    sql += fmt::format(" FROM {} LIMIT {}", table, kMostRows);
    return file_.query(sql);
  }
  // What could be read is kept; the table that is damaged is named.
  void end_of(std::string_view table, const Rows& rows) {
    if (!rows.error().empty())
      builder_.diagnose(
          trace::Diagnostic::Severity::kWarning,
          fmt::format("table {}: {}; what stands before is shown", table, rows.error()));
  }

  Result<void> read_strings() {
    if (!has("StringIds")) return {};
    SONDE_TRY(rows, rows_of("StringIds", {"id", "value"}));
    while (rows.next()) strings_.emplace(rows.integer(0), builder_.string(rows.text(1)));
    end_of("StringIds", rows);
    return {};
  }
  std::string_view string(const Rows& rows, int column) const {
    if (rows.is_null(column)) return {};
    const auto found = strings_.find(rows.integer(column));
    return found == strings_.end() ? std::string_view() : builder_.text(found->second);
  }

  void read_names() {
    if (has("ThreadNames")) {
      if (auto rows = rows_of("ThreadNames", {"globalTid", "nameId"}); rows) {
        while (rows->next()) thread_names_[rows->integer(0)] = string(*rows, 1);
      }
    }
    if (has("PROCESSES")) {
      if (auto rows = rows_of("PROCESSES", {"globalPid", "pid", "name"}); rows) {
        while (rows->next()) {
          const int64_t pid = rows->is_null(1) ? pid_of(rows->integer(0)) : rows->integer(1);
          process_names_[pid] = rows->text(2);
        }
      }
    }
    read_gpus();
  }

  // Only those that ran something: a machine has eight of which the program used one.
  std::set<int64_t> used_gpus() {
    std::set<int64_t> used;
    for (const std::string_view table : {kKernels, kCopies, kSets}) {
      if (!has(table)) continue;
      const auto columns = file_.columns(table);
      if (!columns || !columns->contains("deviceId")) continue;
      auto rows =
          file_.query(fmt::format("SELECT DISTINCT deviceId FROM {} LIMIT {}", table, kMostTracks));
      while (rows && rows->next()) used.insert(rows->integer(0));
    }
    return used;
  }
  // What the tools ask of a device, by the names that other captures have for it.
  void read_gpus() {
    if (!has("TARGET_INFO_GPU")) return;
    static constexpr std::string_view kKeys[] = {"compute_cap_major", "compute_cap_minor",
                                                 "core_count",        "clock_rate",
                                                 "memory_size",       "memory_bandwidth"};
    constexpr size_t kFirst = 3, kClock = 3;
    auto rows =
        rows_of("TARGET_INFO_GPU", {"id", "name", "cuDevice", "computeMajor", "computeMinor",
                                    "smCount", "clockRate", "totalMemory", "memoryBandwidth"});
    if (!rows) return;
    const std::set<int64_t> used = used_gpus();
    while (rows->next() && gpu_names_.size() < kMostTracks) {
      // Kernels name CUDA's number of a device, metrics that of Nsight.
      const int64_t id = rows->is_null(2) ? rows->integer(0) : rows->integer(2);
      gpu_names_[id] = rows->text(1);
      if (!used.contains(id)) continue;
      std::vector<trace::Arg> args{
          {builder_.key("device_vendor"), {trace::ArgType::kText, builder_.string("Nvidia")}},
          {builder_.key("gpu_device_name"),
           {trace::ArgType::kText, builder_.string(rows->text(1))}}};
      for (size_t i = 0; i < std::size(kKeys); ++i) {
        const auto column = static_cast<int>(kFirst + i);
        int64_t value = rows->is_null(column) ? 0 : rows->integer(column);
        if (i == kClock) value /= 1000;  // Hz; elsewhere it is kHz
        if (!rows->is_null(column) && value >= 0)
          args.push_back(
              {builder_.key(kKeys[i]), {trace::ArgType::kInt, static_cast<uint64_t>(value)}});
      }
      builder_.edit(gpu(id)).args = builder_.add_args(args);
    }
  }
  void read_start() {
    if (!has("TARGET_INFO_SESSION_START_TIME") || first_ns_ == INT64_MAX) return;
    auto rows = rows_of("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"});
    if (!rows || !rows->next() || rows->is_null(0)) return;
    const int64_t epoch = rows->integer(0);
    if (epoch > 0 && epoch < INT64_MAX / 2 && first_ns_ < INT64_MAX / 2)
      builder_.set_start_ns(epoch + first_ns_);
  }

  static int64_t pid_of(int64_t global) { return (global >> 24) & 0xffffff; }
  static int64_t tid_of(int64_t global) { return global & 0xffffff; }

  TrackId process(int64_t pid) {
    const auto [found, is_new] = processes_.emplace(pid, trace::kNone);
    if (is_new) {
      const auto name = process_names_.find(pid);
      const std::string text =
          name == process_names_.end() || name->second.empty() ? "process" : name->second;
      found->second = builder_.process(fmt::format("{} {}", text, pid), pid);
    }
    return found->second;
  }
  TrackId thread(int64_t global) {
    const auto found = threads_.find(global);
    if (found != threads_.end()) return found->second;
    if (threads_.size() >= kMostTracks) return threads_.begin()->second;
    const TrackId parent = process(pid_of(global));
    const auto name = thread_names_.find(global);
    const std::string text = name == thread_names_.end() || name->second.empty()
                                 ? fmt::format("thread {}", tid_of(global))
                                 : fmt::format("{} {}", name->second, tid_of(global));
    return threads_
        .emplace(global, builder_.track(TrackKind::kThread, parent, text, tid_of(global)))
        .first->second;
  }
  TrackId gpu(int64_t device) {
    const auto [found, is_new] = gpus_.emplace(device, trace::kNone);
    if (is_new) {
      // Named as every device is, so that all tools know it for one; people see its own name.
      const auto name = gpu_names_.find(device);
      found->second = builder_.process(fmt::format("/device:GPU:{}", device), device);
      builder_.edit(found->second).display_name = builder_.string(
          name == gpu_names_.end() ? fmt::format("GPU {}", device)
                                   : fmt::format("GPU {} {}", device, name->second));
    }
    return found->second;
  }
  TrackId stream(int64_t device, int64_t stream) {
    const auto found = streams_.find({device, stream});
    if (found != streams_.end()) return found->second;
    if (streams_.size() >= kMostTracks) return streams_.begin()->second;
    return streams_
        .emplace(std::pair{device, stream},
                 builder_.track(TrackKind::kStream, gpu(device), fmt::format("stream {}", stream),
                                stream))
        .first->second;
  }

  // False for a row without a time.
  bool begin_end(const Rows& rows, int64_t& begin, int64_t& length) {
    if (rows.is_null(0)) return false;
    const int64_t start = rows.integer(0), end = rows.is_null(1) ? start : rows.integer(1);
    first_ns_ = std::min(first_ns_, start);
    begin = picos(start);
    length = trace::clamped_duration(std::max(picos(end), begin) - begin);
    return true;
  }
  void add(std::string_view key, const Rows& rows, int column) {
    if (!rows.is_null(column)) builder_.arg(key, rows.integer(column));
  }

  Result<void> read_runtime() {
    if (!has(kRuntime)) return {};
    SONDE_TRY(rows, rows_of(kRuntime, {"start", "end", "globalTid", "correlationId", "nameId"}));
    for (int64_t begin = 0, length = 0; rows.next();) {
      if (!begin_end(rows, begin, length)) continue;
      std::string_view name = string(rows, 4);
      if (const size_t at = name.rfind("_v");
          at != name.npos && at + 2 < name.size() &&
          name.find_first_not_of("0123456789", at + 2) == name.npos)
        name = name.substr(0, at);  // cudaLaunchKernel_v7000
      const trace::SliceId s =
          builder_.slice(thread(rows.integer(2)), {begin}, {length},
                         builder_.label(name.empty() ? "call" : name, "cuda_runtime"));
      add("correlation", rows, 3);
      if (!rows.is_null(3)) launches_[{pid_of(rows.integer(2)), rows.integer(3)}] = s;
    }
    end_of(kRuntime, rows);
    return {};
  }

  Result<void> read_nvtx() {
    if (!has(kNvtx)) return {};
    SONDE_TRY(rows, rows_of(kNvtx, {"start", "end", "globalTid", "eventType", "text", "textId"}));
    for (int64_t begin = 0, length = 0; rows.next();) {
      constexpr int64_t kMark = 34, kPushPop = 59, kStartEnd = 60;
      const int64_t type = rows.integer(3);
      if (type != kMark && type != kPushPop && type != kStartEnd) continue;
      if (rows.is_null(2) || !begin_end(rows, begin, length)) continue;
      std::string_view name = rows.text(4);
      if (name.empty()) name = string(rows, 5);
      if (name.empty()) name = "range";
      TrackId track = thread(rows.integer(2));
      if (type == kStartEnd) {  // may overlap what the thread does
        const auto [found, is_new] = ranges_.emplace(pid_of(rows.integer(2)), trace::kNone);
        if (is_new)
          found->second =
              builder_.track(TrackKind::kAsync, process(pid_of(rows.integer(2))), "NVTX ranges", 0);
        track = found->second;
      }
      builder_.slice(track, {begin}, {length}, builder_.label(name, "nvtx"));
    }
    end_of(kNvtx, rows);
    return {};
  }

  // Kernels go by their short name; the whole one is what a tooltip shows.
  trace::LabelId kernel_label(std::string_view whole, std::string_view brief) {
    if (whole.empty()) whole = brief.empty() ? "kernel" : brief;
    if (brief.empty()) brief = whole;
    const trace::StringId name = builder_.string(whole);
    const auto [found, is_new] = kernels_.emplace(name, trace::kNone);
    if (is_new)
      found->second =
          builder_.own_label(name, builder_.string(brief), {}, builder_.string("kernel"));
    return found->second;
  }
  void tie(const Rows& rows, int pid_column, int correlation_column, trace::SliceId s) {
    if (rows.is_null(correlation_column)) return;
    const int64_t pid = rows.is_null(pid_column) ? -1 : pid_of(rows.integer(pid_column));
    device_.push_back({pid, rows.integer(correlation_column), s});
  }

  Result<void> read_kernels() {
    if (!has(kKernels)) return {};
    SONDE_TRY(rows, rows_of(kKernels, {"start", "end", "deviceId", "streamId", "correlationId",
                                       "globalPid", "demangledName", "shortName", "gridX", "gridY",
                                       "gridZ", "blockX", "blockY", "blockZ", "registersPerThread",
                                       "staticSharedMemory", "dynamicSharedMemory"}));
    for (int64_t begin = 0, length = 0; rows.next();) {
      if (!begin_end(rows, begin, length)) continue;
      const trace::SliceId s =
          builder_.slice(stream(rows.integer(2), rows.integer(3)), {begin}, {length},
                         kernel_label(string(rows, 6), string(rows, 7)));
      add("correlation", rows, 4);
      if (!rows.is_null(8))
        builder_.arg("grid",
                     fmt::format("[{},{},{}]", rows.integer(8), rows.integer(9), rows.integer(10)));
      if (!rows.is_null(11))
        builder_.arg("block", fmt::format("[{},{},{}]", rows.integer(11), rows.integer(12),
                                          rows.integer(13)));
      add("registers per thread", rows, 14);
      if (!rows.is_null(15) || !rows.is_null(16))
        builder_.arg("shared memory",
                     static_cast<int64_t>(static_cast<uint64_t>(rows.integer(15)) +
                                          static_cast<uint64_t>(rows.integer(16))));
      if (!rows.is_null(8) && !rows.is_null(11))
        builder_.arg("kernel_details",
                     fmt::format("regs:{} static_shared:{} dynamic_shared:{} grid:{},{},{} "
                                 "block:{},{},{}",
                                 rows.integer(14), rows.integer(15), rows.integer(16),
                                 rows.integer(8), rows.integer(9), rows.integer(10),
                                 rows.integer(11), rows.integer(12), rows.integer(13)));
      tie(rows, 5, 4, s);
    }
    end_of(kKernels, rows);
    return {};
  }

  Result<void> read_copies() {
    if (!has(kCopies)) return {};
    SONDE_TRY(rows, rows_of(kCopies, {"start", "end", "deviceId", "streamId", "correlationId",
                                      "globalPid", "copyKind", "bytes"}));
    static constexpr std::string_view kKinds[] = {
        "Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA", "Memcpy AtoH", "Memcpy AtoA",
        "Memcpy AtoD", "Memcpy DtoA", "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP"};
    for (int64_t begin = 0, length = 0; rows.next();) {
      if (!begin_end(rows, begin, length)) continue;
      const int64_t kind = rows.integer(6);
      const std::string_view name =
          kind > 0 && kind < static_cast<int64_t>(std::size(kKinds)) ? kKinds[kind] : kKinds[0];
      const trace::SliceId s = builder_.slice(stream(rows.integer(2), rows.integer(3)), {begin},
                                              {length}, builder_.label(name, "gpu_memcpy"));
      add("correlation", rows, 4);
      add("bytes", rows, 7);
      tie(rows, 5, 4, s);
    }
    end_of(kCopies, rows);
    return {};
  }

  Result<void> read_sets() {
    if (!has(kSets)) return {};
    SONDE_TRY(rows, rows_of(kSets, {"start", "end", "deviceId", "streamId", "correlationId",
                                    "globalPid", "bytes"}));
    for (int64_t begin = 0, length = 0; rows.next();) {
      if (!begin_end(rows, begin, length)) continue;
      const trace::SliceId s = builder_.slice(stream(rows.integer(2), rows.integer(3)), {begin},
                                              {length}, builder_.label("Memset", "gpu_memset"));
      add("correlation", rows, 4);
      add("bytes", rows, 6);
      tie(rows, 5, 4, s);
    }
    end_of(kSets, rows);
    return {};
  }

  // Waiting of a stream for an event: not work, so on tracks of its own.
  Result<void> read_syncs() {
    if (!has(kSyncs)) return {};
    SONDE_TRY(rows, rows_of(kSyncs, {"start", "end", "deviceId", "streamId", "correlationId"}));
    for (int64_t begin = 0, length = 0; rows.next();) {
      if (!begin_end(rows, begin, length)) continue;
      const auto [found, is_new] = syncs_.emplace(rows.integer(2), trace::kNone);
      if (is_new)
        found->second =
            builder_.track(TrackKind::kAsync, gpu(rows.integer(2)), "synchronisation", 1 << 20);
      builder_.slice(found->second, {begin}, {length}, builder_.label("synchronise", "cuda_sync"));
      add("correlation", rows, 4);
    }
    end_of(kSyncs, rows);
    return {};
  }

  Result<void> read_metrics() {
    if (!has(kMetrics)) return {};
    std::map<std::pair<int64_t, int64_t>, std::string> names;
    if (has(kMetricNames)) {
      SONDE_TRY(rows, rows_of(kMetricNames, {"typeId", "metricId", "metricName"}));
      while (rows.next() && names.size() < kMostTracks)
        names[{rows.integer(0), rows.integer(1)}] = rows.text(2);
    }
    SONDE_TRY(rows, rows_of(kMetrics, {"timestamp", "typeId", "metricId", "value"}));
    std::map<std::pair<int64_t, int64_t>, TrackId> tracks;
    while (rows.next()) {
      if (rows.is_null(0) || rows.is_null(3)) continue;
      const std::pair key{rows.integer(1), rows.integer(2)};
      auto found = tracks.find(key);
      if (found == tracks.end()) {
        if (tracks.size() >= kMostTracks) continue;
        const auto name = names.find(key);
        // The low byte of the type is the device's number.
        found = tracks
                    .emplace(key, builder_.track(TrackKind::kCounter, gpu(key.first & 0xff),
                                                 name == names.end()
                                                     ? fmt::format("metric {}", key.second)
                                                     : name->second,
                                                 key.second))
                    .first;
      }
      first_ns_ = std::min(first_ns_, rows.integer(0));
      builder_.point(found->second, {picos(rows.integer(0))}, rows.real(3));
      has_points_ = true;
    }
    end_of(kMetrics, rows);
    return {};
  }

  void connect() {
    const trace::StringId kind = builder_.string("launch");
    for (const DeviceWork& work : device_) {
      auto found = launches_.find({work.pid, work.correlation});
      // Old exports do not say which process a kernel belongs to.
      if (found == launches_.end() && work.pid < 0 && processes_.size() == 1)
        found = launches_.find({processes_.begin()->first, work.correlation});
      if (found != launches_.end()) builder_.flow(found->second, work.slice, kind);
    }
  }

  struct DeviceWork {
    int64_t pid, correlation;
    trace::SliceId slice;
  };

  SqliteFile& file_;
  Builder& builder_;
  std::set<std::string, std::less<>> tables_;
  boost::unordered_flat_map<int64_t, trace::StringId> strings_;
  boost::unordered_flat_map<std::pair<int64_t, int64_t>, trace::SliceId> launches_;
  boost::unordered_flat_map<trace::StringId, trace::LabelId> kernels_;
  std::vector<DeviceWork> device_;
  std::map<int64_t, std::string> thread_names_, process_names_, gpu_names_;
  std::map<int64_t, TrackId> processes_, threads_, gpus_, ranges_, syncs_;
  std::map<std::pair<int64_t, int64_t>, TrackId> streams_;
  int64_t first_ns_ = INT64_MAX;
  bool has_points_ = false;
};

Result<void> read(const Input& input, Builder& builder) {
  SONDE_TRY(file, SqliteFile::over(input.bytes, std::string(input.name)));
  return Reader(file, builder).run();
}

}  // namespace

extern const Importer kNsys;
const Importer kNsys{"nsys", "export of Nsight Systems", sniff, read};

}  // namespace sonde::imports
