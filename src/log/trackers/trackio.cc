// A run of a Trackio project: rows of JSON objects, one a call of log(), and machine metrics.
#include <utility>

#include "base/strings.h"
#include "log/trackers/readers.h"
#include "log/trackers/values.h"
#include "table/sqlite_file.h"

namespace sonde::trackers {
namespace {

class TrackioReader final : public RunReader {
 public:
  TrackioReader(std::string path, std::string run) : path_(std::move(path)), run_(std::move(run)) {}

  Result<bool> read(RunSink& sink) override {
    SONDE_TRY(now, io::stat_of(path_));
    if (inode_ != 0 && inode_ != now.inode) {
      sink.restart();
      rewind();
    }
    inode_ = now.inode;
    SONDE_TRY(file, table::SqliteFile::open(path_));
    SONDE_TRY(columns, file.columns("metrics"));
    // Before 0.10 a run was known by its name alone.
    const std::string key = columns.contains("run_id") ? "run_id" : "run_name";
    if (auto config = read_config(file, key); !config) return fail(config.error());
    SONDE_TRY(more, read_rows(file, sink, "metrics", key, last_metric_));
    if (more) return true;
    SONDE_TRY(tables, file.tables());
    if (!tables.contains("system_metrics")) return false;
    SONDE_TRY(system, file.columns("system_metrics"));
    if (!system.contains(key)) return false;
    return read_rows(file, sink, "system_metrics", key, last_system_);
  }

  void rewind() override {
    last_metric_ = last_system_ = 0;
    system_begin_ = 0;
  }
  Result<io::FileStat> stat() const override { return table::SqliteFile::stat(path_); }

 private:
  Result<bool> read_rows(table::SqliteFile& file, RunSink& sink, const std::string& table,
                         const std::string& key, int64_t& last) {
    const bool is_system = table != "metrics";
    SONDE_TRY(rows,
              file.query("SELECT id, timestamp, metrics, " + std::string(is_system ? "0" : "step") +
                         " FROM " + table + " WHERE " + key + " = ? AND id > ? ORDER BY id"));
    rows.bind(1, run_).bind(2, last);
    while (rows.next()) {
      last = rows.integer(0);
      const double time = seconds_of(rows.text(1));
      const auto values = read_python_json(rows.text(2));
      if (!values || !values->is_object()) continue;
      if (is_system && system_begin_ == 0) system_begin_ = time;
      const Step step = is_system ? step_of(time - system_begin_) : rows.integer(3);
      for (const JsonMember& member : values->members) {
        const std::string tag = (is_system ? "system/" : "") + member.first;
        hand_on(sink, tag, member.second, step, time);
      }
      if (sink.full()) return true;
    }
    if (!rows.error().empty()) return fail(Code::kCorrupt, rows.error());
    return false;
  }

  Result<void> read_config(table::SqliteFile& file, const std::string& key) {
    SONDE_TRY(columns, file.columns("configs"));
    if (!columns.contains(key)) return {};
    SONDE_TRY(rows, file.query("SELECT config FROM configs WHERE " + key + " = ?"));
    rows.bind(1, run_);
    Config config;
    while (rows.next()) {
      const auto values = read_python_json(rows.text(0));
      if (!values || !values->is_object()) continue;
      for (const JsonMember& member : values->members)
        if (!member.first.starts_with('_')) add_config(config, member.first, member.second);
    }
    if (!rows.error().empty()) return fail(Code::kCorrupt, rows.error());
    config_ = std::move(config);
    return {};
  }

  const std::string path_, run_;
  uint64_t inode_ = 0;
  int64_t last_metric_ = 0, last_system_ = 0;
  double system_begin_ = 0;
};

}  // namespace

std::unique_ptr<RunReader> read_trackio(std::string path, std::string run) {
  return std::make_unique<TrackioReader>(std::move(path), std::move(run));
}

}  // namespace sonde::trackers
