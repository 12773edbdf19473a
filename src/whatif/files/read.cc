#include "whatif/files/read.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/strings.h"
#include "embed/files/npy.h"
#include "io/mapped_file.h"
#include "log/record/frames.h"
#include "whatif/files/examples.h"
#include "whatif/files/json_rows.h"
#include "whatif/files/npz.h"
#include "whatif/files/parquet.h"

namespace sonde::whatif {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{4} << 30;
constexpr size_t kMaxFiles = 10'000;

std::string base_name(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  std::string name = slash == path.npos ? path : path.substr(slash + 1);
  for (const std::string_view ending : {".gz", ".csv", ".tsv", ".jsonl", ".json", ".npz", ".npy",
                                        ".tfrecord", ".tfrecords", ".parquet"})
    if (name.size() > ending.size() && name.ends_with(ending))
      name.erase(name.size() - ending.size());
  return name;
}

std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  std::ranges::sort(paths, [](const auto& a, const auto& b) { return natural_compare(a, b) < 0; });
  return paths;
}

void append_rows(const Dataset& data, size_t most, DatasetBuilder& into) {
  for (size_t row = 0; row < data.rows && into.rows() < most; ++row) {
    for (const Column& column : data.columns) {
      ColumnBuilder* target = into.column(column.name);
      if (!target) continue;
      for (size_t i = column.begin(row); i < column.end(row); ++i) {
        if (column.is_numeric())
          target->number(column.numbers[i], column.is_integer);
        else if (column.codes[i] != kMissing)
          target->text(column.words[column.codes[i]]);
        else
          target->number(kNaN, true);
      }
      target->end_row(into.rows());
    }
    if (!into.end_row()) return;
  }
}

// May have no rows: one of many files may be empty.
Result<Dataset> read_any(Bytes bytes, const std::string& name, const ReadOptions& options) {
  const std::string_view text = as_text(bytes);
  const std::string_view start = text.substr(0, std::min<size_t>(text.size(), 4096));
  const size_t first = start.find_first_not_of(" \t\r\n");
  const auto read = [&]() -> Result<Dataset> {
    if (bytes.empty()) return fail(Code::kInvalid, "the file is empty");
    if (text.starts_with("PK\x03\x04")) return read_npz(bytes, options);
    if (embed::is_npy(text)) return read_npy(text, base_name(name), options);
    if (text.starts_with("PAR1")) return read_parquet(bytes, options);
    if (text.starts_with("ARROW1"))
      return fail(Code::kUnsupported,
                  "Arrow files are read through the Python package: sonde.whatif(path)");
    if (record::header_at(bytes, 0)) return read_examples(bytes, options);
    if (first != start.npos && (start[first] == '{' || start[first] == '['))
      return read_json_rows(text, options);
    return read_csv(text, options);
  };
  auto data = read();
  if (!data) return fail(std::move(data).error().in(name));
  data->name = base_name(name);
  return data;
}

Result<void> has_rows(const Dataset& data, const std::string& name) {
  if (data.rows > 0) return {};
  return fail(Error{Code::kInvalid, "there are columns and not a single example"}.in(name));
}

Result<Dataset> read_one(const std::string& path, const ReadOptions& options) {
  SONDE_TRY(const content, io::read_content(path, kMaxFileBytes));
  return read_any(content.bytes(), path, options);
}

}  // namespace

Result<Dataset> read_bytes(Bytes bytes, const std::string& name, const ReadOptions& options) {
  SONDE_TRY(data, read_any(bytes, name, options));
  if (auto rows = has_rows(data, name); !rows) return fail(std::move(rows).error());
  return data;
}

Result<Dataset> read_dataset(const std::string& path, const ReadOptions& options) {
  const auto alone = [&](const std::string& one) -> Result<Dataset> {
    SONDE_TRY(data, read_one(one, options));
    if (auto rows = has_rows(data, one); !rows) return fail(std::move(rows).error());
    return data;
  };
  if (path.find_first_of("*?") == path.npos) return alone(path);
  const std::vector<std::string> paths = matches(path);
  if (paths.empty()) return fail(Code::kNotFound, fmt::format("no file matches '{}'", path));
  if (paths.size() > kMaxFiles)
    return fail(Code::kTooLarge, fmt::format("'{}' matches {} files; at most {} are read", path,
                                             paths.size(), kMaxFiles));
  if (paths.size() == 1) return alone(paths[0]);
  DatasetBuilder builder;
  std::string note;
  for (const std::string& one : paths) {
    if (builder.rows() >= options.max_examples) {
      note = fmt::format("only the first {} examples were read", builder.rows());
      break;
    }
    SONDE_TRY(data, read_one(one, options));
    append_rows(data, options.max_examples, builder);
    if (!data.note.empty()) note = fmt::format("{}: {}", one, data.note);
  }
  SONDE_TRY(all, std::move(builder).finish(base_name(path)));
  if (auto rows = has_rows(all, path); !rows) return fail(std::move(rows).error());
  all.note = std::move(note);
  return all;
}

}  // namespace sonde::whatif
