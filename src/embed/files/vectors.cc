#include "embed/files/vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/strings.h"
#include "embed/files/npy.h"

namespace sonde::embed {
namespace {

using projector::Matrix;

std::optional<double> number_of(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.starts_with('+')) cell.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (cell.empty() || error == std::errc::invalid_argument || stop != cell.data() + cell.size())
    return std::nullopt;
  return error == std::errc::result_out_of_range ? std::copysign(INFINITY, value) : value;
}

std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> cells = split(line, separator);
  if (separator == ' ') std::erase_if(cells, [](std::string_view c) { return c.empty(); });
  while (!cells.empty() && trimmed(cells.back()).empty()) cells.pop_back();
  return cells;
}

// Adds one line; whether its first cell is a label is decided by the first line.
Result<void> add_line(std::string_view line, char separator, LabelledVectors& out) {
  Matrix& matrix = out.matrix;
  std::vector<std::string_view> cells = cells_of(line, separator);
  const size_t row = matrix.rows + 1;
  const bool has_label = row == 1 ? !cells.empty() && !number_of(cells[0]) : !out.labels.empty();
  if (has_label && !cells.empty()) {
    out.labels.emplace_back(trimmed(cells[0]));
    cells.erase(cells.begin());
  }
  if (row == 1) matrix.columns = cells.size();
  if (cells.size() != matrix.columns) {
    return fail(Code::kInvalid, fmt::format("row {} has {} numbers, the rows before have {}", row,
                                            cells.size(), matrix.columns));
  }
  for (const std::string_view cell : cells) {
    const auto value = number_of(cell);
    if (!value) {
      return fail(Code::kInvalid, fmt::format("row {} holds \"{}\", which is no number", row,
                                              to_utf8(trimmed(cell).substr(0, 40))));
    }
    matrix.values.push_back(static_cast<float>(*value));
  }
  ++matrix.rows;
  return {};
}

Result<LabelledVectors> parse_text(std::string_view text) {
  LabelledVectors out;
  char separator = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (trimmed(line).empty()) continue;
    if (separator == 0) {
      separator = line.find('\t') != line.npos ? '\t' : line.find(',') != line.npos ? ',' : ' ';
    }
    SONDE_TRY(added, add_line(separator == ' ' ? trimmed(line) : line, separator, out).map([] {
      return 1;
    }));
    (void)added;
  }
  return out;
}

}  // namespace

Result<Matrix> parse_npy(std::string_view bytes, uint64_t rows) {
  SONDE_TRY(const header, read_npy_header(bytes));
  if (header.shape.size() < 2) {
    return fail(Code::kInvalid, fmt::format("the .npy file has {} axis; vectors need rows and "
                                            "columns",
                                            header.shape.size()));
  }
  SONDE_TRY(const count, npy_count(header, bytes));
  Matrix matrix;
  matrix.rows = header.shape[0];
  matrix.columns = 1;
  if (matrix.rows > 0) {
    matrix.columns = count / matrix.rows;
  } else {
    for (size_t i = 1; i < header.shape.size(); ++i) matrix.columns *= header.shape[i];
  }
  if (header.is_fortran && header.shape.size() > 2)
    return fail(Code::kUnsupported, "the .npy file has more than two axes in Fortran order");
  const uint64_t all_rows = matrix.rows;
  if (rows > 0) matrix.rows = std::min(matrix.rows, rows);
  matrix.values.resize(matrix.rows * matrix.columns);
  const char* first = bytes.data() + header.end;
  for (uint64_t i = 0; i < matrix.rows; ++i) {
    for (uint64_t k = 0; k < matrix.columns; ++k) {
      const uint64_t at = header.is_fortran ? k * all_rows + i : i * matrix.columns + k;
      matrix.values[i * matrix.columns + k] =
          static_cast<float>(npy_number(header, first + at * header.width));
    }
  }
  return matrix;
}

Result<Matrix> parse_raw_floats(std::string_view bytes, uint64_t dims) {
  if (dims == 0 || dims > bytes.size() / sizeof(float) ||
      bytes.size() % (dims * sizeof(float)) != 0) {
    return fail(Code::kInvalid, fmt::format("{} bytes are no whole rows of {} float32 numbers",
                                            bytes.size(), dims));
  }
  Matrix matrix;
  matrix.columns = dims;
  matrix.rows = bytes.size() / (dims * sizeof(float));
  matrix.values.resize(matrix.rows * dims);
  std::memcpy(matrix.values.data(), bytes.data(), bytes.size());
  return matrix;
}

Result<LabelledVectors> parse_vectors(std::string_view bytes, uint64_t dims) {
  LabelledVectors out;
  if (is_npy(bytes)) {
    SONDE_TRY(matrix, parse_npy(bytes));
    out.matrix = std::move(matrix);
  } else if (dims > 0) {
    SONDE_TRY(matrix, parse_raw_floats(bytes, dims));
    out.matrix = std::move(matrix);
  } else if (bytes.find('\0') != bytes.npos) {
    return fail(Code::kInvalid,
                "the file is neither text nor .npy; raw float32 numbers need their row length, "
                "?dims=");
  } else {
    SONDE_TRY(parsed, parse_text(bytes));
    out = std::move(parsed);
  }
  if (out.matrix.rows == 0) return fail(Code::kInvalid, "the file holds no vectors");
  if (out.matrix.rows == 1)
    return fail(Code::kInvalid, "the file holds one vector; a picture needs two");
  if (out.matrix.columns < 2) {
    return fail(Code::kInvalid, fmt::format("the vectors have {} dimension; a projection needs two",
                                            out.matrix.columns));
  }
  return out;
}

}  // namespace sonde::embed
