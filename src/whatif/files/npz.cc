#include "whatif/files/npz.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "embed/files/npy.h"
#include "io/zip.h"

namespace sonde::whatif {
namespace {

constexpr uint64_t kMaxMemberBytes = uint64_t{2} << 30;
constexpr uint64_t kMaxSpread = 4096;  // a wider second axis is a list

struct Array {
  std::string name;
  std::string_view bytes;
  embed::NpyHeader header;
  uint64_t rows = 0, width = 1;

  const char* at(uint64_t row, uint64_t i) const {
    const uint64_t index = header.is_fortran ? i * rows + row : row * width + i;
    return bytes.data() + header.end + index * header.width;
  }
};

Result<Array> array_of(std::string name, std::string_view bytes) {
  if (!embed::is_npy(bytes))
    return fail(Code::kInvalid, fmt::format("'{}' is no NumPy array", name));
  auto header = embed::read_npy_header(bytes, embed::NpyTexts::kAllow);
  if (!header) return fail(std::move(header).error().in(name));
  auto count = embed::npy_count(*header, bytes);
  if (!count) return fail(std::move(count).error().in(name));
  if (header->shape.empty() || header->shape[0] == 0)
    return fail(Code::kInvalid, fmt::format("'{}' has no rows", name));
  if (header->is_fortran && header->shape.size() > 2)
    return fail(Code::kUnsupported,
                fmt::format("'{}' has more than two axes in Fortran order", name));
  Array array{std::move(name), bytes, *header, header->shape[0], *count / header->shape[0]};
  return array;
}

void put(ColumnBuilder& column, const Array& array, uint64_t row, uint64_t i) {
  const char* at = array.at(row, i);
  if (array.header.is_text()) return column.text(embed::npy_text(array.header, at));
  column.number(embed::npy_number(array.header, at), array.header.kind != 'f');
}

Result<Dataset> dataset_of(const std::vector<Array>& arrays, const ReadOptions& options) {
  if (arrays.empty()) return fail(Code::kInvalid, "the file holds no array");
  uint64_t columns = 0;
  for (const Array& array : arrays) {
    if (array.rows != arrays[0].rows)
      return fail(Code::kInvalid, fmt::format("'{}' has {} rows, '{}' has {}", array.name,
                                              array.rows, arrays[0].name, arrays[0].rows));
    columns += array.width <= kMaxSpread ? array.width : 1;
  }
  if (columns > kMaxColumns)
    return fail(Code::kTooLarge,
                fmt::format("{} columns; at most {} are read", columns, kMaxColumns));
  Sampler sampler(options);
  std::vector<uint64_t> rows;
  for (uint64_t row = 0; row < arrays[0].rows && rows.size() < options.max_examples; ++row)
    if (sampler.keeps()) rows.push_back(row);
  uint64_t cells = 0;
  for (const Array& array : arrays) cells += array.width * rows.size();
  if (cells > kMaxCells)
    return fail(Code::kTooLarge, fmt::format("{} values; at most {} are read", cells, kMaxCells));
  Dataset data;
  data.rows = rows.size();
  for (const Array& array : arrays) {
    const bool is_list = array.width > kMaxSpread || array.header.shape.size() > 2;
    for (uint64_t i = 0; i < (is_list ? 1 : array.width); ++i) {
      ColumnBuilder column(array.width == 1 || is_list ? array.name
                                                       : fmt::format("{}.{}", array.name, i));
      for (size_t at = 0; at < rows.size(); ++at) {
        if (is_list) {
          for (uint64_t k = 0; k < array.width; ++k) put(column, array, rows[at], k);
        } else {
          put(column, array, rows[at], i);
        }
        column.end_row(at);
      }
      data.columns.push_back(std::move(column).finish(rows.size()));
    }
  }
  if (rows.size() >= options.max_examples && rows.back() + 1 < arrays[0].rows)
    data.note = fmt::format("only the first {} examples were read", rows.size());
  return data;
}

}  // namespace

Result<Dataset> read_npy(std::string_view file, std::string_view name, const ReadOptions& options) {
  SONDE_TRY(array, array_of(std::string(name), file));
  return dataset_of({array}, options);
}

Result<Dataset> read_npz(Bytes file, const ReadOptions& options) {
  SONDE_TRY(const members, io::zip_members(file));
  if (members.size() > kMaxColumns)
    return fail(Code::kTooLarge,
                fmt::format("{} arrays; at most {} are read", members.size(), kMaxColumns));
  std::vector<std::string> unpacked;
  unpacked.reserve(members.size());  // the arrays point into it
  std::vector<Array> arrays;
  uint64_t left = kMaxMemberBytes;
  for (const io::ZipMember& member : members) {
    SONDE_TRY(bytes, io::unzipped(member, left));
    left -= bytes.size();
    unpacked.push_back(std::move(bytes));
    std::string name = to_utf8(member.name.substr(0, 1000));
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    SONDE_TRY(array, array_of(std::move(name), unpacked.back()));
    arrays.push_back(std::move(array));
  }
  return dataset_of(arrays, options);
}

}  // namespace sonde::whatif
