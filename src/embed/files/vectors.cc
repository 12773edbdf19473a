#include "embed/files/vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/strings.h"
#include "log/event/tensor.h"

namespace sonde::query {
namespace {

using projector::Matrix;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kMaxHeader = 1 << 20;

struct Header {
  char kind = 'f';  // b, i, u, f
  size_t width = 4;
  bool is_big_endian = false, is_fortran = false;
  std::vector<uint64_t> shape;
  size_t end = 0;  // where the values begin
};

// The text after 'key': in the Python dictionary that heads the file.
std::string_view after_key(std::string_view dictionary, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = quote + std::string(key) + quote;
    const size_t at = dictionary.find(quoted);
    if (at == std::string_view::npos) continue;
    const size_t colon = dictionary.find(':', at + quoted.size());
    if (colon == std::string_view::npos) return {};
    return trimmed(dictionary.substr(colon + 1));
  }
  return {};
}

Result<void> read_type(std::string_view text, Header& header) {
  const size_t end = text.size() < 2 ? 0 : text.find(text[0], 1);
  const std::string_view type =
      end == 0 || end == std::string_view::npos ? std::string_view() : text.substr(1, end - 1);
  const bool known = type.size() == 3 && std::string_view("<>|=").find(type[0]) != type.npos &&
                     std::string_view("biuf").find(type[1]) != type.npos && type[2] >= '1' &&
                     type[2] <= '8';
  if (!known) {
    return fail(Code::kUnsupported,
                fmt::format("the .npy file holds values of type '{}'; numbers of up to 8 bytes are "
                            "read (float16/32/64, integers, booleans)",
                            type.substr(0, 20)));
  }
  header.is_big_endian = type[0] == '>';
  header.kind = type[1];
  header.width = static_cast<size_t>(type[2] - '0');
  const bool fits = header.kind == 'f' ? header.width == 2 || header.width == 4 || header.width == 8
                    : header.kind == 'b'
                        ? header.width == 1
                        : std::string_view("1248").find(type[2]) != std::string_view::npos;
  if (!fits) return fail(Code::kUnsupported, fmt::format("there is no .npy type '{}'", type));
  return {};
}

Result<void> read_shape(std::string_view text, Header& header) {
  if (!text.starts_with('(')) return fail(Code::kInvalid, "the .npy header has no shape");
  text.remove_prefix(1);
  while (true) {
    text = trimmed(text);
    if (text.starts_with(',')) {
      text.remove_prefix(1);
      continue;
    }
    if (text.starts_with(')')) return {};
    uint64_t size = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || header.shape.size() >= 32)
      return fail(Code::kInvalid, "the shape in the .npy header cannot be read");
    header.shape.push_back(size);
    text.remove_prefix(static_cast<size_t>(stop - text.data()));
  }
}

Result<Header> read_header(std::string_view bytes) {
  if (bytes.size() < 10) return fail(Code::kInvalid, "the .npy file ends inside its header");
  const auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])); };
  const bool is_wide = byte(6) >= 2;
  const size_t begin = is_wide ? 12 : 10;
  if (bytes.size() < begin) return fail(Code::kInvalid, "the .npy file ends inside its header");
  uint64_t size = byte(8) | byte(9) << 8;
  if (is_wide) size |= byte(10) << 16 | byte(11) << 24;
  if (size > kMaxHeader || size > bytes.size() - begin)
    return fail(Code::kInvalid, "the .npy file ends inside its header");
  const std::string_view text = bytes.substr(begin, size);
  Header header;
  header.end = begin + size;
  header.is_fortran = after_key(text, "fortran_order").starts_with("True");
  SONDE_TRY(typed, read_type(after_key(text, "descr"), header).map([] { return true; }));
  SONDE_TRY(shaped, read_shape(after_key(text, "shape"), header).map([] { return true; }));
  (void)typed, (void)shaped;
  return header;
}

template <class T>
float as_float(const uint8_t* raw) {
  T value;
  std::memcpy(&value, raw, sizeof(T));
  return static_cast<float>(value);
}

float number_at(const Header& header, const char* at) {
  uint8_t raw[8];
  std::memcpy(raw, at, header.width);
  if (header.is_big_endian) std::reverse(raw, raw + header.width);
  if (header.kind == 'f') {
    if (header.width == 2) {
      uint16_t bits;
      std::memcpy(&bits, raw, 2);
      return event::half_to_float(bits);
    }
    return header.width == 4 ? as_float<float>(raw) : as_float<double>(raw);
  }
  const bool is_signed = header.kind == 'i';
  switch (header.width) {
    case 1:
      return is_signed ? as_float<int8_t>(raw) : as_float<uint8_t>(raw);
    case 2:
      return is_signed ? as_float<int16_t>(raw) : as_float<uint16_t>(raw);
    case 4:
      return is_signed ? as_float<int32_t>(raw) : as_float<uint32_t>(raw);
    default:
      return is_signed ? as_float<int64_t>(raw) : as_float<uint64_t>(raw);
  }
}

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

bool is_npy(std::string_view bytes) { return bytes.starts_with(kMagic); }

Result<Matrix> parse_npy(std::string_view bytes, uint64_t rows) {
  SONDE_TRY(const header, read_header(bytes));
  if (header.shape.size() < 2) {
    return fail(Code::kInvalid, fmt::format("the .npy file has {} axis; vectors need rows and "
                                            "columns",
                                            header.shape.size()));
  }
  Matrix matrix;
  matrix.rows = header.shape[0];
  matrix.columns = 1;
  const uint64_t present = (bytes.size() - header.end) / header.width;
  for (size_t i = 1; i < header.shape.size(); ++i) {
    // Larger than the file in any case; also keeps the product from wrapping.
    if (header.shape[i] > present && matrix.rows > 0)
      return fail(Code::kInvalid, "the .npy file is shorter than its header says");
    matrix.columns *= header.shape[i];
    if (matrix.columns > present && matrix.rows > 0)
      return fail(Code::kInvalid, "the .npy file is shorter than its header says");
  }
  if (matrix.columns > 0 && matrix.rows > present / matrix.columns)
    return fail(Code::kInvalid, "the .npy file is shorter than its header says");
  if (header.is_fortran && header.shape.size() > 2)
    return fail(Code::kUnsupported, "the .npy file has more than two axes in Fortran order");
  const uint64_t all_rows = matrix.rows;
  if (rows > 0) matrix.rows = std::min(matrix.rows, rows);
  matrix.values.resize(matrix.rows * matrix.columns);
  const char* first = bytes.data() + header.end;
  for (uint64_t i = 0; i < matrix.rows; ++i) {
    for (uint64_t k = 0; k < matrix.columns; ++k) {
      const uint64_t at = header.is_fortran ? k * all_rows + i : i * matrix.columns + k;
      matrix.values[i * matrix.columns + k] = number_at(header, first + at * header.width);
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

}  // namespace sonde::query
