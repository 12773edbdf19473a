// A run of MLflow's SQLite store. Metrics are rows that are only ever added, so reading goes on
// behind the last row seen.
#include <limits>
#include <utility>

#include "base/strings.h"
#include "log/trackers/readers.h"
#include "log/trackers/values.h"
#include "table/sqlite_file.h"

namespace sonde::trackers {
namespace {

class MlflowReader final : public RunReader {
 public:
  MlflowReader(std::string path, std::string run) : path_(std::move(path)), run_(std::move(run)) {}

  Result<bool> read(RunSink& sink) override {
    SONDE_TRY(now, io::stat_of(path_));
    if (inode_ != 0 && inode_ != now.inode) {
      sink.restart();
      last_row_ = 0;
    }
    inode_ = now.inode;
    SONDE_TRY(file, table::SqliteFile::open(path_));
    if (auto head = read_head(file, sink); !head) return fail(head.error());
    SONDE_TRY(rows, file.query("SELECT rowid, key, value, timestamp, step, is_nan FROM metrics "
                               "WHERE run_uuid = ? AND rowid > ? ORDER BY rowid"));
    rows.bind(1, run_).bind(2, last_row_);
    while (rows.next()) {
      last_row_ = rows.integer(0);
      const double value =
          rows.integer(5) != 0 ? std::numeric_limits<double>::quiet_NaN() : rows.real(2);
      sink.number(to_utf8(rows.text(1)), rows.integer(4),
                  static_cast<double>(rows.integer(3)) / 1000, value);
      if (sink.full()) return true;
    }
    if (!rows.error().empty()) return fail(Code::kCorrupt, rows.error());
    if (end_ != 0)
      sink.ended(status_ == "FINISHED" ? RunSink::End::kFinished : RunSink::End::kFailed, end_);
    return false;
  }

  void rewind() override { last_row_ = 0; }
  Result<io::FileStat> stat() const override { return table::SqliteFile::stat(path_); }

 private:
  Result<void> read_head(table::SqliteFile& file, RunSink& sink) {
    SONDE_TRY(run, file.query("SELECT start_time, end_time, status FROM runs WHERE run_uuid = ?"));
    run.bind(1, run_);
    if (!run.next()) {
      if (!run.error().empty()) return fail(Code::kCorrupt, run.error());
      return fail(Code::kNotFound, path_ + ": the run " + run_ + " was removed");
    }
    sink.started(static_cast<double>(run.integer(0)) / 1000);
    end_ = static_cast<double>(run.integer(1)) / 1000;
    status_ = run.text(2);
    if (status_ == "RUNNING" || status_ == "SCHEDULED") end_ = 0;
    SONDE_TRY(params, file.query("SELECT key, value FROM params WHERE run_uuid = ?"));
    params.bind(1, run_);
    Config config;
    while (params.next()) add_config(config, params.text(0), config_value(params.text(1)));
    if (!params.error().empty()) return fail(Code::kCorrupt, params.error());
    config_ = std::move(config);
    return {};
  }

  const std::string path_, run_;
  uint64_t inode_ = 0;
  int64_t last_row_ = 0;
  double end_ = 0;
  std::string status_;
};

}  // namespace

std::unique_ptr<RunReader> read_mlflow(std::string path, std::string run_uuid) {
  return std::make_unique<MlflowReader>(std::move(path), std::move(run_uuid));
}

}  // namespace sonde::trackers
