// A team's tables in ClickHouse: what `sonde push` writes and `sonde --store` reads. One row a run,
// a series, a point and a reference; everything belongs to a project.
//
// The order of writing is the promise: points and references first, then the row of their series,
// which says how many count. A pusher that dies in between leaves points that nobody sees, and the
// next one sends them again under the same numbers.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/remote/clickhouse.h"
#include "log/model/snapshot.h"

namespace sonde::team {

// One end of a scalar series: known without reading its points.
struct EndPoint {
  Step step = 0;
  double wall_time = 0, value = 0;
};

struct SeriesRow {
  std::string run, tag;
  uint32_t position = 0;  // among the run's series
  store::Metadata metadata;
  bool is_scalar = false;
  store::ValueType type = store::ValueType::kFloat32;
  uint64_t points = 0, unreadable = 0, mistyped = 0;
  EndPoint first, last;
  uint64_t layout = 0;   // counts how often the series was replaced
  uint64_t version = 0;  // of two rows the larger one counts
};

struct RunRow {
  std::string run, folder;
  double first_wall_time = 0, min_wall_time = 0, last_wall_time = 0;
  uint64_t points = 0, bytes = 0, segments = 1, meta_graphs = 0;
  bool has_events = false;
  uint64_t version = 0;
};

enum class BlobKind : uint8_t { kValue = 0, kMetaGraph = 1, kMistyped = 2 };

// A reference: the file it is in stands in the row, local to the pusher or in an object store.
struct BlobRow {
  uint64_t n = 0;
  store::BlobPoint point;  // without its file
  std::string file;
  uint64_t position = 0;  // of a mistyped value
};

class Tables {
 public:
  Tables(io::ClickHouse server, std::string project);

  // Makes what is not there yet. With a cluster each table is a Distributed one over local tables
  // of the same name with "_local" behind it; every node of the cluster has to be told once.
  Result<void> make(const std::string& cluster) const;

  // Numbers that change whenever anybody pushed something.
  Result<std::string> fingerprint() const;
  Result<std::vector<RunRow>> runs() const;
  Result<std::vector<SeriesRow>> series() const;
  // References of a series (or a run's meta graphs, with an empty tag), by number.
  Result<std::vector<BlobRow>> blobs(std::string_view run, std::string_view tag,
                                     BlobKind kind) const;

  // Calls take(run, n, step, wall time, value) for the points [from, to) of one tag in some runs,
  // by run and number. kCorrupt when the answer is cut.
  using TakePoint = std::function<void(std::string_view run, uint64_t n, const EndPoint& point)>;
  Result<void> points(std::string_view tag, const std::vector<std::string_view>& runs,
                      uint64_t from, uint64_t to, const TakePoint& take) const;

  Result<void> insert(std::string_view table, std::string_view rows) const;
  void put(std::string& rows, const RunRow& row) const;
  void put(std::string& rows, const SeriesRow& row) const;
  void put_point(std::string& rows, std::string_view run, std::string_view tag, uint64_t n,
                 const EndPoint& point) const;
  void put_blob(std::string& rows, std::string_view run, std::string_view tag, BlobKind kind,
                const BlobRow& row) const;

  // Removes the points and references of a series; waits until they are gone.
  Result<void> remove_points(std::string_view run, std::string_view tag) const;

  const io::ClickHouse& server() const { return server_; }
  const std::string& project() const { return project_; }

 private:
  std::string table(std::string_view name) const;

  io::ClickHouse server_;
  std::string project_, where_;
};

}  // namespace sonde::team
