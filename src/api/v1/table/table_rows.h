// Rows and columns of the run table and of the hparams table: what a column's name means and what
// stands in a cell. A row is a run, a session (runs that share a configuration) or a group of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "codec/json_read.h"
#include "log/model/snapshot.h"
#include "log/query/hparams/cell.h"
#include "log/query/hparams/metric.h"
#include "log/query/hparams/params.h"
#include "log/query/table/table.h"

namespace sonde::api::v1 {

struct TableColumn {
  enum class Kind : uint8_t {
    kName,
    kStart,
    kLast,
    kDuration,
    kState,
    kPoints,
    kBytes,
    kSegments,
    kDamage,
    kSlot,
    kAlias,
    kNote,
    kTags,
    kHidden,
    kColour,
    kStatus,
    kGroup,
    kParam,
    kMetric,
  };
  std::string id;
  Kind kind = Kind::kName;
  uint32_t param = UINT32_MAX;
  query::MetricSpec metric;
};

struct TableRow {
  std::string name;
  std::vector<std::vector<size_t>> sessions;  // indices of runs; one entry for a run or a session
  std::vector<std::string_view> folders;      // names of the sessions, parallel; empty for runs
  const query::ParamSession* params = nullptr;
};

enum class RowKind : uint8_t { kRuns, kSessions, kGroups };

// The rows of a snapshot in the order of their names: sorting ten thousand names costs more than
// most questions about them.
struct RowList {
  std::shared_ptr<const query::ParamIndex> params;  // keeps what the rows point to alive
  std::vector<TableRow> rows;
};
enum class Aggregate : uint8_t { kMean, kMedian, kMin, kMax };

// What the writer of an experiment said about a column.
struct Declared {
  std::string display_name, description;
  uint32_t place = 0;  // among all that were declared
};

class TableRows {
 public:
  TableRows(const Context& context, std::shared_ptr<const store::Snapshot> snapshot, RowKind kind,
            const std::vector<std::string>& statuses);

  size_t size() const { return list_->rows.size(); }
  const TableRow& row(size_t i) const { return list_->rows[i]; }
  const query::ParamIndex& params() const { return *params_; }
  const store::Snapshot& snapshot() const { return *snapshot_; }

  Result<TableColumn> column(std::string_view id) const;
  // Name, every hyper-parameter, the last value of every scalar tag and of every declared metric. A
  // tag that several runs of a session have is a column a run, "metric:validation.loss:last" (the
  // run's path below the session, as TensorBoard names it).
  std::vector<TableColumn> all_columns() const;
  // By column id, for the columns that a writer declared.
  std::map<std::string, Declared> declared(const std::vector<TableColumn>& shown) const;
  query::Cell cell(size_t row, const TableColumn& column) const;

  void aggregate_by(Aggregate aggregate, std::optional<query::MetricSpec> chooser);

  // Ids of all runs of a row, the first its main one.
  std::vector<uint32_t> run_ids(size_t row) const;

 private:
  query::Cell metric_of(const TableRow& row, size_t session, const query::MetricSpec& spec) const;
  // The run's path below the session's folder; empty for the session's own.
  std::string_view path_below(const TableRow& row, size_t session, size_t run) const;
  query::Cell group_metric(const TableRow& row, const query::MetricSpec& spec) const;
  query::Cell note_of(const TableRow& row, TableColumn::Kind kind) const;

  std::shared_ptr<const store::Snapshot> snapshot_;
  std::shared_ptr<const query::ParamIndex> params_;
  std::shared_ptr<const RowList> list_;
  std::vector<int64_t> slots_;
  JsonValue sidecar_;
  uint64_t source_ = 0;
  double now_s_ = 0;
  Aggregate aggregate_ = Aggregate::kMean;
  std::optional<query::MetricSpec> chooser_;
};

// Filter, sort, offset and limit of a body over the given rows; unknown columns are kInvalid.
// `extra` receives the columns that filters and sort keys name.
Result<query::TableQuery> table_query(const JsonValue& body, const TableRows& rows,
                                      std::vector<TableColumn>& extra);

// "string", "number", "integer", "bool", "time", "list".
std::string_view type_of(const TableColumn& column, const std::vector<query::Cell>& cells);

// Everything between reading the body and writing the answer.
Answer table_answer(const Context& context, const TableRows& rows, const JsonValue& body,
                    bool describes_params);

// The hyper-parameters of the snapshot, kept until its next revision.
std::shared_ptr<const query::ParamIndex> params_of(const Context& context,
                                                   const store::Snapshot& snapshot);

}  // namespace sonde::api::v1
