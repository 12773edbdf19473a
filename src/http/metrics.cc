#include "http/metrics.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "io/remote/http.h"
#include "io/remote/remote.h"
#include "sonde/version.h"

namespace sonde::http {
namespace {

class Text {
 public:
  template <class T>
  void one(std::string_view name, std::string_view type, std::string_view help, T value) {
    about(name, type, help);
    fmt::format_to(std::back_inserter(out_), "{} {}\n", name, value);
  }
  void about(std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(out_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                   type);
  }
  std::string& out() { return out_; }

 private:
  std::string out_;
};

uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t open_files() {
  uint64_t count = 0;
  if (DIR* folder = opendir("/proc/self/fd")) {
    while (readdir(folder)) ++count;
    closedir(folder);
  }
  return count > 3 ? count - 3 : 0;  // ".", ".." and the folder itself
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

void Metrics::answered(int status, std::chrono::nanoseconds took) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  by_class_[static_cast<size_t>(std::clamp(status / 100, 0, 5))].fetch_add(1, kRelaxed);
  const double seconds = std::chrono::duration<double>(took).count();
  const auto bucket = std::ranges::lower_bound(kBounds, seconds) - kBounds.begin();
  buckets_[static_cast<size_t>(bucket)].fetch_add(1, kRelaxed);
  total_ns_.fetch_add(static_cast<uint64_t>(took.count()), kRelaxed);
}

std::string Metrics::prometheus(const store::Store& store) const {
  Text text;
  text.about("sonde_info", "gauge", "The running program.");
  fmt::format_to(std::back_inserter(text.out()), "sonde_info{{version=\"{}\"}} 1\n", SONDE_VERSION);

  text.about("sonde_http_requests_total", "counter", "Requests answered, by class of status.");
  for (size_t i = 1; i < by_class_.size(); ++i) {
    fmt::format_to(std::back_inserter(text.out()),
                   "sonde_http_requests_total{{code=\"{}xx\"}} {}\n", i, by_class_[i].load());
  }
  text.about("sonde_http_request_seconds", "histogram", "From the whole request to its answer.");
  uint64_t below = 0;
  for (size_t i = 0; i < kBounds.size(); ++i) {
    below += buckets_[i].load();
    fmt::format_to(std::back_inserter(text.out()),
                   "sonde_http_request_seconds_bucket{{le=\"{}\"}} {}\n", kBounds[i], below);
  }
  below += buckets_.back().load();
  fmt::format_to(std::back_inserter(text.out()),
                 "sonde_http_request_seconds_bucket{{le=\"+Inf\"}} {}\n"
                 "sonde_http_request_seconds_sum {}\nsonde_http_request_seconds_count {}\n",
                 below, static_cast<double>(total_ns_.load()) * 1e-9, below);
  text.one("sonde_http_connections_total", "counter", "Connections accepted.", connections.load());
  text.one("sonde_http_connections", "gauge", "Open connections.", open_connections.load());
  text.one("sonde_http_event_streams", "gauge", "Open event streams.", open_streams.load());
  text.one("sonde_http_refused_total", "counter", "Connections refused at the limit.",
           refused_connections.load());
  text.one("sonde_http_timeouts_total", "counter", "Connections closed for slowness.",
           timeouts.load());
  text.one("sonde_http_sent_bytes_total", "counter", "Bytes sent.", sent_bytes.load());
  text.one("sonde_http_received_bytes_total", "counter", "Bytes received.", received_bytes.load());
  text.one("sonde_http_jobs", "gauge", "Answers that worker threads compute or will.", jobs.load());
  text.one("sonde_http_kept_answers_total", "counter", "Answers that were sent again.",
           response_cache.load());
  text.one("sonde_http_kept_bytes", "gauge", "Bytes of answers that may be sent again.",
           kept_bytes.load());
  text.one("sonde_http_held_bytes", "gauge", "Bytes of requests and answers in memory.",
           held_bytes.load());

  const auto snapshot = store.snapshot();
  const store::Diagnosis diagnosis = store.diagnosis();
  uint64_t series = 0, points = 0, damaged = 0;
  for (const auto& run : snapshot->runs) {
    series += run->series.size();
    points += run->points;
    damaged += run->damage.size();
  }
  text.one("sonde_runs", "gauge", "Runs.", snapshot->runs.size());
  text.one("sonde_series", "gauge", "Series, a run and a tag each.", series);
  text.one("sonde_points", "gauge", "Points of all series.", points);
  text.one("sonde_damaged_places", "gauge", "Places in event files that could not be read.",
           damaged);
  text.one("sonde_revision", "counter", "Snapshots published.", snapshot->revision);
  text.one("sonde_files", "gauge", "Event files.", snapshot->progress.files);
  text.one("sonde_file_bytes", "gauge", "Bytes of the event files.", snapshot->progress.bytes);
  text.one("sonde_read_bytes", "gauge", "Bytes of them read.", snapshot->progress.bytes_done);
  text.one("sonde_loading", "gauge", "1 during the first pass over the files.",
           snapshot->progress.loading ? 1 : 0);
  text.one("sonde_store_bytes", "gauge", "Memory of the columns.", diagnosis.memory_used_bytes);

  const io::HttpCounts remote = io::http_counts();
  if (remote.requests > 0) {
    const io::CacheCounts cache = io::remote_cache_counts();
    text.one("sonde_remote_requests_total", "counter", "Requests to object stores.",
             remote.requests);
    text.one("sonde_remote_failures_total", "counter", "Of them failed or answered with 5xx.",
             remote.failures);
    text.one("sonde_remote_retries_total", "counter", "Requests made again.", remote.retries);
    text.one("sonde_remote_bytes_total", "counter", "Bytes received from object stores.",
             remote.bytes);
    text.one("sonde_remote_blocks_missed_total", "counter", "Blocks fetched from a store.",
             cache.misses);
    text.one("sonde_remote_blocks_from_memory_total", "counter", "Blocks found in memory.",
             cache.memory_hits);
    text.one("sonde_remote_blocks_from_disk_total", "counter", "Blocks found in the disk cache.",
             cache.disk_hits);
  }

  text.one("process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
  text.one("process_cpu_seconds_total", "counter", "Processor time.", cpu_seconds());
  text.one("process_open_fds", "gauge", "Open file descriptors.", open_files());
  return std::move(text.out());
}

}  // namespace sonde::http
