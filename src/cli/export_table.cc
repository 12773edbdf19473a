#include "cli/export_table.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/strings.h"
#include "cli/export_value.h"
#include "table/arrow.h"
#include "table/parquet.h"

namespace sonde::cli {
namespace {

constexpr size_t kBatchRows = 1 << 20;
constexpr size_t kBatchTextBytes = size_t{64} << 20;
enum : size_t { kRun, kTag, kPlugin, kStep, kWallTime, kValue, kJson, kColumnCount };

// Names and the numbers that stand for them.
class Words {
 public:
  uint32_t of(const std::string& word) {
    const auto [found, is_new] =
        numbers_.try_emplace(to_utf8(word), static_cast<uint32_t>(numbers_.size()));
    if (is_new) list_.push_back(found->first);
    return found->second;
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> list_;
};

struct Rows {
  table::Writer& writer;
  table::Batch batch{0, std::vector<table::Values>(kColumnCount)};
  size_t text_bytes = 0;
  uint32_t run = 0, tag = 0, plugin = 0;
  Result<void> state = {};

  void begin(Step step, double wall_time) {
    auto& columns = batch.columns;
    columns[kRun].indices.push_back(run);
    columns[kTag].indices.push_back(tag);
    columns[kPlugin].indices.push_back(plugin);
    columns[kStep].integers.push_back(step);
    columns[kWallTime].reals.push_back(wall_time);
  }
  void number(Step step, double wall_time, double value) {
    begin(step, wall_time);
    end(value, true, "");
  }
  void json(Step step, double wall_time, std::string text) {
    begin(step, wall_time);
    end(0, false, std::move(text));
  }
  void end(double value, bool is_number, std::string text) {
    auto& columns = batch.columns;
    columns[kValue].reals.push_back(value);
    columns[kValue].is_there.push_back(is_number ? 1 : 0);
    text_bytes += text.size();
    columns[kJson].is_there.push_back(is_number ? 0 : 1);
    columns[kJson].texts.push_back(std::move(text));
    ++batch.rows;
    if (batch.rows >= kBatchRows || text_bytes >= kBatchTextBytes) flush();
  }
  void flush() {
    if (state) state = writer.add(batch);
    batch = {0, std::vector<table::Values>(kColumnCount)};
    text_bytes = 0;
  }
};

void add_reference(Rows& rows, store::BlobReader::Sequence& reader, const store::BlobPoint& point,
                   const store::Series& series) {
  std::string text = "null";
  if (const auto payload = reader.event(point.where)) {
    if (const auto value = event::find_value(as_bytes(*payload), point.where.value)) {
      text.clear();
      append_value_json(text, *value, series);
    }
  }
  rows.json(point.step, point.wall_time, std::move(text));
}

void add_series(Rows& rows, store::BlobReader::Sequence& reader, const store::Series& series) {
  size_t stray = 0;
  const auto strays = series.strays();
  for (const store::Range range : series.ranges(store::View::kNewest)) {
    if (!series.is_scalar()) {
      for (const store::BlobPoint& point : series.points(range))
        add_reference(rows, reader, point, series);
      continue;
    }
    uint64_t at = range.begin;
    series.blocks(range, [&](const store::ScalarBlock& block) {
      for (size_t i = 0; i < block.size() && rows.state; ++i, ++at) {
        for (; stray < strays.size() && strays[stray].position <= at; ++stray)
          add_reference(rows, reader, strays[stray].point, series);
        rows.number(block.steps[i], block.wall_times[i], block.value(i));
      }
    });
  }
  for (; stray < strays.size(); ++stray) add_reference(rows, reader, strays[stray].point, series);
}

}  // namespace

Result<void> export_table(const store::Store& store, const TableExport& wanted, std::FILE* file) {
  const auto snapshot = store.snapshot();
  Words runs, tags, plugins;
  const auto for_each = [&](const auto& fn) {
    for (const auto& run : snapshot->runs) {
      if (!wanted.wants_run(run->name)) continue;
      for (const auto& series : run->series) {
        if (wanted.wants_tag(series->tag())) fn(*run, *series);
      }
    }
  };
  for_each([&](const store::RunSnapshot& run, const store::Series& series) {
    runs.of(run.name);
    tags.of(series.tag());
    plugins.of(series.metadata().plugin);
  });
  using table::Kind;
  std::vector<table::Column> columns = {
      {"run", Kind::kWord, false, runs.list()},
      {"tag", Kind::kWord, false, tags.list()},
      {"plugin", Kind::kWord, false, plugins.list()},
      {"step", Kind::kInt64, false, {}},
      {"wall_time", Kind::kDouble, false, {}},
      {"value", Kind::kDouble, true, {}},
      {"json", Kind::kText, true, {}},
  };
  const table::Sink sink = [file](std::string_view bytes) {
    return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  };
  const auto writer = wanted.is_parquet ? table::parquet_writer(std::move(columns), sink)
                                        : table::arrow_writer(std::move(columns), sink);
  Rows rows{*writer};
  const auto reader = store.blobs().sequence();
  for_each([&](const store::RunSnapshot& run, const store::Series& series) {
    rows.run = runs.of(run.name);
    rows.tag = tags.of(series.tag());
    rows.plugin = plugins.of(series.metadata().plugin);
    if (rows.state) add_series(rows, *reader, series);
  });
  rows.flush();
  if (!rows.state) return rows.state;
  if (auto finished = writer->finish(); !finished) return finished;
  if (std::fflush(file) != 0) return fail(Code::kIo, "the output cannot be written");
  return {};
}

}  // namespace sonde::cli
