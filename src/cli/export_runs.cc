#include <cmath>
#include <filesystem>
#include <memory>

#include "base/strings.h"
#include "cli/export_table.h"
#include "log/query/hparams/params.h"
#include "table/arrow.h"
#include "table/parquet.h"

namespace sonde::cli {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

using table::Kind;

struct Table {
  std::vector<table::Column> columns;
  table::Batch batch;

  table::Values& add(std::string name, Kind kind, bool is_nullable = false) {
    columns.push_back({std::move(name), kind, is_nullable, {}});
    return batch.columns.emplace_back();
  }
};

bool is_number(const query::Cell& cell) {
  return cell.kind == query::Cell::Kind::kNumber || cell.kind == query::Cell::Kind::kBool;
}

void add_param(Table& table, const query::ParamIndex& params, uint32_t name,
               const std::vector<const query::ParamSession*>& sessions) {
  bool all_numbers = true;
  for (const auto* session : sessions) {
    const query::Cell* cell = session ? session->find(name) : nullptr;
    all_numbers = all_numbers && (!cell || cell->is_missing() || is_number(*cell));
  }
  table::Values& values = table.add("hparam." + to_utf8(params.names[name].name),
                                    all_numbers ? Kind::kDouble : Kind::kText, true);
  for (const auto* session : sessions) {
    const query::Cell* cell = session ? session->find(name) : nullptr;
    const bool is_there = cell && !cell->is_missing();
    values.is_there.push_back(is_there ? 1 : 0);
    if (all_numbers) {
      values.reals.push_back(is_there ? cell->number : 0);
    } else {
      values.texts.push_back(is_there ? to_utf8(query::text_of(*cell)) : "");
    }
  }
}

}  // namespace

Result<void> export_runs(const store::Store& store, const TableExport& wanted, std::FILE* file) {
  const auto snapshot = store.snapshot();
  const query::ParamIndex params = query::index_params(*snapshot, nullptr);
  std::vector<size_t> rows;
  std::vector<const query::ParamSession*> sessions;
  for (size_t i = 0; i < snapshot->runs.size(); ++i) {
    if (!wanted.wants_run(snapshot->runs[i]->name)) continue;
    rows.push_back(i);
    const uint32_t session = params.session_of[i];
    sessions.push_back(session == UINT32_MAX ? nullptr : &params.sessions[session]);
  }
  Table table;
  table.batch.rows = rows.size();
  const auto each = [&](const auto& fn) {
    for (const size_t row : rows) fn(*snapshot->runs[row]);
  };
  const auto texts = [&](const char* name, const auto& text) {
    table::Values& values = table.add(name, Kind::kText);
    each([&](const store::RunSnapshot& run) { values.texts.push_back(text(run)); });
  };
  const auto times = [&](const char* name, const auto& time) {
    table::Values& values = table.add(name, Kind::kDouble, true);
    each([&](const store::RunSnapshot& run) {
      const double value = time(run);
      values.is_there.push_back(std::isfinite(value) ? 1 : 0);
      values.reals.push_back(value);
    });
  };
  const auto counts = [&](const char* name, const auto& count) {
    table::Values& values = table.add(name, Kind::kInt64);
    each([&](const store::RunSnapshot& run) {
      values.integers.push_back(static_cast<int64_t>(count(run)));
    });
  };
  using Run = store::RunSnapshot;
  texts("run", [](const Run& run) { return to_utf8(run.name); });
  texts("folder", [](const Run& run) { return to_utf8(run.folder); });
  times("started", [](const Run& run) { return run.min_wall_time; });
  times("ended", [](const Run& run) { return run.last_wall_time; });
  counts("points", [](const Run& run) { return run.points; });
  counts("tags", [](const Run& run) { return run.series.size(); });
  counts("bytes", [](const Run& run) { return run.bytes; });
  counts("damaged", [](const Run& run) { return run.damage.size(); });
  for (uint32_t name = 0; name < params.names.size(); ++name)
    add_param(table, params, name, sessions);

  const table::Sink sink = [file](std::string_view bytes) {
    return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  };
  const auto writer = wanted.is_parquet ? table::parquet_writer(std::move(table.columns), sink)
                                        : table::arrow_writer(std::move(table.columns), sink);
  if (auto added = writer->add(table.batch); !added) return added;
  if (auto finished = writer->finish(); !finished) return finished;
  if (std::fflush(file) != 0) return fail(Code::kIo, "the output cannot be written");
  return {};
}

Result<void> export_partitions(const store::Store& store, const TableExport& wanted,
                               const std::string& folder) {
  const auto snapshot = store.snapshot();
  for (const auto& run : snapshot->runs) {
    if (!wanted.wants_run(run->name)) continue;
    const std::string place = folder + "/run=" + percent_encoded(to_utf8(run->name));
    std::error_code error;
    std::filesystem::create_directories(place, error);
    const std::string path = place + (wanted.is_parquet ? "/points.parquet" : "/points.arrow");
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
    if (!file) return fail(Code::kIo, "cannot write " + path);
    TableExport one = wanted;
    one.wants_run = [&](std::string_view name) { return name == run->name; };
    if (auto written = export_table(store, one, file.get()); !written) return written;
  }
  return {};
}

}  // namespace sonde::cli
