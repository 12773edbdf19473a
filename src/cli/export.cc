// `sonde export LOGDIR --format csv|jsonl|parquet|arrow`: every point, written as it is read.
// Numbers come from the columns, everything else from its file when its turn comes, so memory does
// not grow with the output; columns beyond a modest budget are on disk.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/regex.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/export_table.h"
#include "cli/export_value.h"
#include "cli/logdir.h"
#include "codec/json.h"
#include "log/event/value.h"

namespace sonde::cli {
namespace {

using store::BlobPoint;
using store::Series;

constexpr uint64_t kColumnsInMemory = 256 << 20;
constexpr size_t kFlushAt = 1 << 20;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

class Output {
 public:
  explicit Output(std::FILE* file) : file_(file) {}
  std::string& text() { return text_; }
  void line_done() {
    if (text_.size() >= kFlushAt) flush();
  }
  void flush() {
    ok_ = ok_ && std::fwrite(text_.data(), 1, text_.size(), file_) == text_.size();
    text_.clear();
  }
  bool finish() {
    flush();
    return std::fflush(file_) == 0 && ok_;
  }
  bool ok() const { return ok_; }

 private:
  std::FILE* file_;
  std::string text_;
  bool ok_ = true;
};

// A cell: quoted when it has to be.
void append_csv(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) {
    out.append(text);
    return;
  }
  out.push_back('"');
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

class Exporter {
 public:
  enum class Format : uint8_t { kCsv, kJsonLines };
  Exporter(Output& output, Format format, const store::BlobReader& blobs)
      : output_(output), format_(format), blobs_(blobs) {}

  void header() {
    if (format_ == Format::kCsv) output_.text() += "run,tag,plugin,step,wall_time,value\n";
  }

  void series(const std::string& run, const Series& series) {
    // The same beginning for every point of the series.
    prefix_.clear();
    if (format_ == Format::kCsv) {
      append_csv(prefix_, run);
      prefix_ += ',';
      append_csv(prefix_, to_utf8(series.tag()));
      prefix_ += ',';
      append_csv(prefix_, to_utf8(series.metadata().plugin));
      prefix_ += ',';
    } else {
      prefix_ += "{\"run\":";
      append_json_string(prefix_, run);
      prefix_ += ",\"tag\":";
      append_json_string(prefix_, to_utf8(series.tag()));
      prefix_ += ",\"plugin\":";
      append_json_string(prefix_, to_utf8(series.metadata().plugin));
      prefix_ += ",\"step\":";
    }
    size_t stray = 0;
    for (const store::Range range : series.ranges(store::View::kNewest)) {
      if (!series.is_scalar()) {
        for (const BlobPoint& point : series.points(range)) reference(point, series);
        continue;
      }
      uint64_t at = range.begin;
      series.blocks(range, [&](const store::ScalarBlock& block) {
        for (size_t i = 0; i < block.size() && output_.ok(); ++i, ++at) {
          for (; stray < series.strays().size() && series.strays()[stray].position <= at; ++stray)
            reference(series.strays()[stray].point, series);
          number(block, i);
        }
      });
    }
    for (; stray < series.strays().size(); ++stray) reference(series.strays()[stray].point, series);
  }

 private:
  void begin(Step step, double wall_time) {
    std::string& out = output_.text();
    out += prefix_;
    fmt::format_to(std::back_inserter(out), "{}", step);
    out += format_ == Format::kCsv ? "," : ",\"wall_time\":";
    number_text(wall_time);
    out += format_ == Format::kCsv ? "," : ",\"value\":";
  }
  void end() {
    output_.text() += format_ == Format::kCsv ? "\n" : "}\n";
    output_.line_done();
  }
  // CSV readers know nan and inf bare, JSON only as text.
  void number_text(double value) {
    if (format_ == Format::kCsv)
      fmt::format_to(std::back_inserter(output_.text()), "{}", value);
    else
      append_json_number(output_.text(), value);
  }
  void number(const store::ScalarBlock& block, size_t i) {
    begin(block.steps[i], block.wall_times[i]);
    std::string& out = output_.text();
    switch (block.type) {
      case store::ValueType::kInt64:
        fmt::format_to(std::back_inserter(out), "{}", static_cast<const int64_t*>(block.values)[i]);
        break;
      case store::ValueType::kUint64:
        fmt::format_to(std::back_inserter(out), "{}",
                       static_cast<const uint64_t*>(block.values)[i]);
        break;
      case store::ValueType::kBool:
        out += static_cast<const uint8_t*>(block.values)[i] ? "true" : "false";
        break;
      case store::ValueType::kFloat32: {
        // As a float: the shortest text that reads back to it, 0.1 and not 0.10000000149011612.
        const float value = static_cast<const float*>(block.values)[i];
        if (format_ == Format::kCsv)
          fmt::format_to(std::back_inserter(out), "{}", value);
        else
          JsonWriter(out).number(value);
        break;
      }
      default:
        number_text(block.value(i));
    }
    end();
  }
  void reference(const BlobPoint& point, const Series& series) {
    begin(point.step, point.wall_time);
    std::string value_text;
    const auto payload = blobs_.event(point.where);
    const auto value = payload ? event::find_value(as_bytes(*payload), point.where.value)
                               : Result<event::ValueView>(fail(payload.error()));
    if (value)
      append_value_json(value_text, *value, series);
    else
      value_text = "null";
    if (format_ == Format::kCsv)
      append_csv(output_.text(), value_text);
    else
      output_.text() += value_text;
    end();
  }

  Output& output_;
  Format format_;
  const store::BlobReader& blobs_;
  std::string prefix_;
};

Result<std::optional<Regex>> pattern(const std::string& text) {
  if (text.empty()) return std::optional<Regex>();
  SONDE_TRY(compiled, Regex::compile(text));
  return std::optional<Regex>(std::move(compiled));
}

}  // namespace

int export_command(const Args& args) {
  if (asks_for_help(args)) {
    fmt::print(
        "sonde export LOGDIR [--format csv|jsonl|parquet|arrow] [--runs RE] [--tags RE] [-o FILE]\n"
        "\n"
        "Writes every point of a log directory: run, tag, plug-in, step, wall time, value.\n"
        "\n"
        "  --format csv|jsonl            one line a point; csv unless said otherwise\n"
        "  --format parquet|arrow        one row a point, for DuckDB, polars, pandas, Spark\n"
        "  --runs RE, --tags RE          only runs and tags in which the expression is found\n"
        "  --table points|runs           of parquet and arrow: every point, or one row a run with "
        "its\n"
        "                                hyperparameters\n"
        "  --partition                   of parquet and arrow: a file a run, in folders run=NAME "
        "of -o\n"
        "  -o, --output FILE             where to; standard output unless given\n"
        "{}",
        kLogdirHelp);
    return 0;
  }
  LogdirFlags logdir;
  logdir.max_memory = kColumnsInMemory;
  std::string format = "csv", runs, tags, path, table = "points";
  bool is_partitioned = false;
  Flags flags("sonde export");
  logdir.declare(flags);
  flags.choice("format", format, {"csv", "jsonl", "parquet", "arrow"});
  flags.text("runs", runs);
  flags.text("tags", tags);
  flags.choice("table", table, {"points", "runs"});
  flags.on("partition", is_partitioned);
  flags.text("output", path);
  flags.text("o", path);
  if (const auto parsed = flags.parse(args); !parsed) return failed(parsed.error().text, 2);
  const auto run_pattern = pattern(runs), tag_pattern = pattern(tags);
  if (!run_pattern) return failed("--runs: " + run_pattern.error().text, 2);
  if (!tag_pattern) return failed("--tags: " + tag_pattern.error().text, 2);

  const bool is_table = format == "parquet" || format == "arrow";
  if (!is_table && (table != "points" || is_partitioned))
    return failed("--table and --partition go with --format parquet or arrow", 2);
  if (is_partitioned && (path.empty() || path == "-" || table != "points"))
    return failed("--partition writes the points into folders: name one with -o", 2);

  const auto store = open_logdir(logdir);
  if (!store) return failed(store.error().text, store.error().code == Code::kInvalid ? 2 : 1);
  std::unique_ptr<std::FILE, CloseFile> file;
  if (!path.empty() && path != "-" && !is_partitioned) {
    file.reset(std::fopen(path.c_str(), "wb"));
    if (!file) return failed("cannot write " + path);
  }
  if (is_table) {
    const TableExport wanted{
        format == "parquet",
        [&](std::string_view run) { return !*run_pattern || (*run_pattern)->found_in(run); },
        [&](std::string_view tag) { return !*tag_pattern || (*tag_pattern)->found_in(tag); }};
    std::FILE* out = file ? file.get() : stdout;
    const auto written = is_partitioned    ? export_partitions(**store, wanted, path)
                         : table == "runs" ? export_runs(**store, wanted, out)
                                           : export_table(**store, wanted, out);
    return written ? 0 : failed(written.error().text);
  }
  Output output(file ? file.get() : stdout);
  Exporter exporter(output, format == "csv" ? Exporter::Format::kCsv : Exporter::Format::kJsonLines,
                    (*store)->blobs());
  exporter.header();
  const auto snapshot = (*store)->snapshot();
  for (const auto& run : snapshot->runs) {
    if (*run_pattern && !(*run_pattern)->found_in(run->name)) continue;
    for (const auto& series : run->series) {
      if (*tag_pattern && !(*tag_pattern)->found_in(series->tag())) continue;
      if (output.ok()) exporter.series(run->name, *series);
    }
  }
  return output.finish() ? 0 : failed("cannot write the output");
}

}  // namespace sonde::cli
