#include "log/trackers/databases.h"

#include <charconv>

#include "log/trackers/readers.h"
#include "log/trackers/values.h"
#include "table/sqlite_file.h"

namespace sonde::trackers {
namespace {

std::string stem_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string name = path.substr(slash == path.npos ? 0 : slash + 1);
  return name.substr(0, name.rfind('.'));
}

}  // namespace

Result<DatabaseRuns> runs_in(const std::string& path) {
  SONDE_TRY(file, table::SqliteFile::open(path));
  SONDE_TRY(tables, file.tables());
  const auto has = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
      if (!tables.contains(name)) return false;
    return true;
  };
  DatabaseRuns found;
  std::string sql, prefix;
  if (has({"experiments", "runs", "metrics", "params"})) {
    found.kind = Database::kMlflow;
    sql =
        "SELECT r.run_uuid, e.name, coalesce(nullif(r.name, ''), r.run_uuid) FROM runs r "
        "JOIN experiments e ON e.experiment_id = r.experiment_id "
        "WHERE coalesce(r.lifecycle_stage, 'active') = 'active' ORDER BY r.start_time, r.run_uuid";
  } else if (has({"metrics", "configs"})) {
    found.kind = Database::kTrackio;
    SONDE_TRY(columns, file.columns("metrics"));
    if (!columns.contains("run_name")) return DatabaseRuns();
    const std::string key = columns.contains("run_id") ? "run_id" : "run_name";
    sql = "SELECT " + key + ", '', run_name, min(id) FROM metrics GROUP BY " + key +
          " ORDER BY min(id)";
    prefix = stem_of(path) + "/";
  } else if (has({"studies", "trials", "trial_params", "trial_values"})) {
    found.kind = Database::kOptuna;
    sql =
        "SELECT t.trial_id, s.study_name, 'trial-' || t.number FROM trials t "
        "JOIN studies s ON s.study_id = t.study_id ORDER BY t.trial_id";
  } else {
    return found;
  }
  SONDE_TRY(rows, file.query(sql));
  while (found.runs.size() < kMaxDatabaseRuns && rows.next()) {
    std::string name = prefix + std::string(rows.text(1));
    if (!name.empty() && name.back() != '/') name += '/';
    name += rows.text(2);
    found.runs.push_back({std::string(rows.text(0)), run_name_part(name)});
  }
  if (!rows.error().empty()) return fail(Code::kCorrupt, rows.error());
  return found;
}

std::unique_ptr<RunReader> read_database_run(Database kind, const std::string& path,
                                             const std::string& key) {
  switch (kind) {
    case Database::kMlflow:
      return read_mlflow(path, key);
    case Database::kTrackio:
      return read_trackio(path, key);
    case Database::kOptuna: {
      int64_t trial = 0;
      std::from_chars(key.data(), key.data() + key.size(), trial);
      return read_optuna(path, trial);
    }
    case Database::kOther:
      break;
  }
  return nullptr;
}

}  // namespace sonde::trackers
