// A trial of an Optuna study: its parameters are the hyperparameters, its values the metrics. A
// trial is small and changes in place, so it is read whole each time and handed on when it differs.
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "log/trackers/readers.h"
#include "log/trackers/values.h"
#include "table/sqlite_file.h"

namespace sonde::trackers {
namespace {

struct Trial {
  struct Point {
    std::string tag;
    Step step = 0;
    double value = 0;
    friend bool operator==(const Point& a, const Point& b) {  // NaN equals itself here
      return a.tag == b.tag && a.step == b.step &&
             std::bit_cast<uint64_t>(a.value) == std::bit_cast<uint64_t>(b.value);
    }
  };
  std::string state;
  double start = 0, end = 0;
  std::vector<Point> points;
  friend bool operator==(const Trial&, const Trial&) = default;
};

// INF_POS and INF_NEG stand in a column of their own: SQL has no infinity.
double value_of(const table::Rows& rows, int value, int kind) {
  const std::string_view type = rows.text(kind);
  if (type == "INF_POS") return HUGE_VAL;
  if (type == "INF_NEG") return -HUGE_VAL;
  return rows.is_null(value) ? std::nan("") : rows.real(value);
}

// What a parameter was: the choice itself, not its number.
ConfigValue param_of(double value, std::string_view distribution) {
  const auto made = read_python_json(distribution);
  const JsonValue* attributes = made ? made->find("attributes") : nullptr;
  const JsonValue* choices = attributes ? attributes->find("choices") : nullptr;
  if (!choices || !choices->is_array()) return value;
  if (!(value >= 0) || value >= static_cast<double>(choices->items.size())) return value;
  const JsonValue& choice = choices->items[static_cast<size_t>(value)];
  if (choice.is_bool()) return choice.boolean;
  if (const auto number = number_of(choice)) return *number;
  return choice.is_string() ? choice.text : to_text(choice);
}

class OptunaReader final : public RunReader {
 public:
  OptunaReader(std::string path, int64_t trial) : path_(std::move(path)), trial_(trial) {}

  Result<bool> read(RunSink& sink) override {
    SONDE_TRY(file, table::SqliteFile::open(path_));
    Trial trial;
    if (auto head = read_head(file, trial); !head) return fail(head.error());
    if (auto params = read_params(file); !params) return fail(params.error());
    if (auto points = read_points(file, trial); !points) return fail(points.error());
    if (handed_on_ && trial == seen_) return false;
    if (handed_on_) sink.restart();
    sink.started(trial.start);
    for (const Trial::Point& point : trial.points)
      sink.number(point.tag, point.step, trial.end != 0 ? trial.end : trial.start, point.value);
    if (trial.state == "COMPLETE" || trial.state == "PRUNED") {
      sink.ended(RunSink::End::kFinished, trial.end);
    } else if (trial.state == "FAIL") {
      sink.ended(RunSink::End::kFailed, trial.end);
    }
    seen_ = std::move(trial);
    handed_on_ = true;
    return false;
  }

  void rewind() override { handed_on_ = false; }
  Result<io::FileStat> stat() const override { return table::SqliteFile::stat(path_); }

 private:
  Result<void> read_head(table::SqliteFile& file, Trial& trial) const {
    SONDE_TRY(rows, file.query("SELECT state, datetime_start, datetime_complete FROM trials "
                               "WHERE trial_id = ?"));
    rows.bind(1, trial_);
    if (!rows.next()) {
      if (!rows.error().empty()) return fail(Code::kCorrupt, rows.error());
      return fail(Code::kNotFound, path_ + ": a trial was removed");
    }
    trial.state = rows.text(0);
    trial.start = seconds_of(rows.text(1));
    trial.end = seconds_of(rows.text(2));
    return {};
  }

  Result<void> read_params(table::SqliteFile& file) {
    SONDE_TRY(rows, file.query("SELECT param_name, param_value, distribution_json "
                               "FROM trial_params WHERE trial_id = ? ORDER BY param_id"));
    rows.bind(1, trial_);
    Config config;
    while (rows.next()) add_config(config, rows.text(0), param_of(rows.real(1), rows.text(2)));
    if (!rows.error().empty()) return fail(Code::kCorrupt, rows.error());
    config_ = std::move(config);
    return {};
  }

  Result<void> read_points(table::SqliteFile& file, Trial& trial) const {
    SONDE_TRY(columns, file.columns("trial_intermediate_values"));
    // Before Optuna 3 there was no column for infinities.
    if (columns.contains("intermediate_value")) {
      const std::string kind =
          columns.contains("intermediate_value_type") ? "intermediate_value_type" : "''";
      SONDE_TRY(rows, file.query("SELECT step, intermediate_value, " + kind +
                                 " FROM trial_intermediate_values WHERE trial_id = ? "
                                 "ORDER BY step"));
      rows.bind(1, trial_);
      while (rows.next())
        trial.points.push_back({"intermediate_value", rows.integer(0), value_of(rows, 1, 2)});
      if (!rows.error().empty()) return fail(Code::kCorrupt, rows.error());
    }
    SONDE_TRY(value_columns, file.columns("trial_values"));
    const std::string kind = value_columns.contains("value_type") ? "value_type" : "''";
    const std::string order = value_columns.contains("objective") ? "objective" : "0";
    SONDE_TRY(rows, file.query("SELECT " + order + ", value, " + kind +
                               " FROM trial_values WHERE trial_id = ? ORDER BY 1"));
    rows.bind(1, trial_);
    while (rows.next()) {
      const int64_t objective = rows.integer(0);
      std::string tag = objective == 0 ? "value" : "value_" + std::to_string(objective);
      trial.points.push_back({std::move(tag), 0, value_of(rows, 1, 2)});
    }
    if (!rows.error().empty()) return fail(Code::kCorrupt, rows.error());
    return {};
  }

  const std::string path_;
  const int64_t trial_;
  Trial seen_;
  bool handed_on_ = false;
};

}  // namespace

std::unique_ptr<RunReader> read_optuna(std::string path, int64_t trial_id) {
  return std::make_unique<OptunaReader>(std::move(path), trial_id);
}

}  // namespace sonde::trackers
