#include "table/parquet_read.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "base/intern.h"
#include "base/strings.h"
#include "io/inflate.h"
#include "table/parquet_nested.h"
#include "table/snappy.h"
#include "table/thrift_read.h"

namespace sonde::table {
namespace {

enum : int64_t { kBoolean = 0, kInt32 = 1, kInt64 = 2, kFloat = 4, kDouble = 5, kByteArray = 6 };
enum : int64_t { kPlain = 0, kPlainDictionary = 2, kRle = 3, kRleDictionary = 8 };
enum : int64_t { kDataPage = 0, kDictionaryPage = 2, kDataPageV2 = 3 };
enum : int64_t { kNoCodec = 0, kSnappy = 1, kZstd = 6 };
enum : int64_t { kDecimal = 5, kUint8 = 11, kUint64 = 14 };  // converted types

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Leaf = ParquetLeaf;
struct Chunk {
  std::string path;
  int64_t codec = 0, values = 0, compressed = 0, data_at = -1, dictionary_at = -1;
  size_t path_parts = 0;
};
struct Group {
  int64_t rows = 0;
  std::vector<Chunk> chunks;
};
struct Footer {
  std::vector<Leaf> schema;
  std::vector<Group> groups;
  int64_t rows = 0;
};
struct Page {
  int64_t type = -1, unpacked = -1, packed = -1, values = -1, encoding = -1;
  int64_t level_bytes = 0;  // version 2: definition levels before the values
  int64_t repeat_bytes = 0;
  bool is_packed = true;
};

Leaf leaf_of(ThriftReader& in) {
  Leaf leaf;
  in.members([&](int id, ThriftReader::Type) {
    if (id == 1) leaf.type = in.number();
    if (id == 3) leaf.repetition = in.number();
    if (id == 4) leaf.name = to_utf8(in.text().substr(0, 1000));
    if (id == 5) leaf.children = in.number();
    if (id == 6) leaf.converted = in.number();
    if (id == 7) leaf.scale = in.number();
  });
  return leaf;
}

Chunk chunk_of(ThriftReader& in) {
  Chunk chunk;
  in.members([&](int id, ThriftReader::Type) {
    if (id != 3) return;
    in.members([&](int inner, ThriftReader::Type) {
      if (inner == 3)
        in.items([&] {
          chunk.path += (chunk.path.empty() ? "" : ".") + to_utf8(in.text().substr(0, 1000));
          ++chunk.path_parts;
        });
      if (inner == 4) chunk.codec = in.number();
      if (inner == 5) chunk.values = in.number();
      if (inner == 7) chunk.compressed = in.number();
      if (inner == 9) chunk.data_at = in.number();
      if (inner == 11) chunk.dictionary_at = in.number();
    });
  });
  return chunk;
}

Result<Footer> footer_of(std::string_view file) {
  if (file.size() < 12 || !file.ends_with("PAR1"))
    return fail(Code::kCorrupt, file.ends_with("PARE")
                                    ? "the Parquet file is encrypted"
                                    : "the Parquet file has no end: it is cut off");
  const auto size = load<uint32_t>(as_bytes(file), file.size() - 8);
  if (size > file.size() - 12)
    return fail(Code::kCorrupt, "the Parquet footer is larger than the file");
  ThriftReader in(file.substr(file.size() - 8 - size, size));
  Footer footer;
  in.members([&](int id, ThriftReader::Type) {
    if (id == 2) in.items([&] { footer.schema.push_back(leaf_of(in)); });
    if (id == 3) footer.rows = in.number();
    if (id == 4)
      in.items([&] {
        Group& group = footer.groups.emplace_back();
        in.members([&](int inner, ThriftReader::Type) {
          if (inner == 1) in.items([&] { group.chunks.push_back(chunk_of(in)); });
          if (inner == 3) group.rows = in.number();
        });
      });
  });
  if (!in.ok() || footer.schema.empty() || footer.rows < 0)
    return fail(Code::kCorrupt, "the Parquet footer makes no sense");
  return footer;
}

Page page_of(ThriftReader& in) {
  Page page;
  in.members([&](int id, ThriftReader::Type) {
    if (id == 1) page.type = in.number();
    if (id == 2) page.unpacked = in.number();
    if (id == 3) page.packed = in.number();
    if (id == 5 || id == 7)
      in.members([&](int inner, ThriftReader::Type) {
        if (inner == 1) page.values = in.number();
        if (inner == 2) page.encoding = in.number();
      });
    if (id == 8)
      in.members([&](int inner, ThriftReader::Type type) {
        if (inner == 1) page.values = in.number();
        if (inner == 4) page.encoding = in.number();
        if (inner == 5) page.level_bytes = in.number();
        if (inner == 6) page.repeat_bytes = in.number();
        if (inner == 7) page.is_packed = type == ThriftReader::kTrue;
      });
  });
  return page;
}

// One a thread: making one takes longer than unpacking the pages of a small file.
ZSTD_DCtx* zstd_of_thread() {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  return context.get();
}

Result<std::string> unpacked(std::string_view bytes, int64_t codec, size_t size) {
  if (codec == kNoCodec) {
    if (bytes.size() != size) return fail(Code::kCorrupt, "a page has another size than it says");
    return std::string(bytes);
  }
  if (codec == kSnappy) return unsnapped(bytes, size);
  if (codec != kZstd)
    return fail(
        Code::kUnsupported,
        fmt::format("pages are compressed by codec {}; plain, Snappy and zstd are read", codec));
  std::string out(size, '\0');
  const size_t made =
      ZSTD_decompressDCtx(zstd_of_thread(), out.data(), size, bytes.data(), bytes.size());
  if (ZSTD_isError(made) || made != size) return fail(Code::kCorrupt, "a page is no zstd block");
  return out;
}

// Parquet's hybrid of repeated and packed numbers: exactly `count` of them.
bool hybrid(std::string_view in, int bits, size_t count, std::vector<uint32_t>& out) {
  out.clear();
  if (bits < 0 || bits > 32) return false;
  out.reserve(count);
  if (bits == 0 && in.empty()) out.resize(count);
  size_t at = 0;
  const uint64_t mask = bits == 32 ? 0xffffffffu : (uint64_t{1} << bits) - 1;
  while (out.size() < count) {
    uint64_t head = 0;
    for (int shift = 0;; shift += 7) {
      if (at >= in.size() || shift > 28) return false;
      const uint64_t b = static_cast<uint8_t>(in[at++]);
      head |= (b & 127) << shift;
      if (b < 128) break;
    }
    if (head & 1) {
      const uint64_t bytes = (head >> 1) * static_cast<uint64_t>(bits);
      const uint64_t values = std::min<uint64_t>((head >> 1) * 8, count - out.size());
      // The last group may be cut after the bytes that hold values.
      if ((values * static_cast<uint64_t>(bits) + 7) / 8 > in.size() - at) return false;
      uint64_t held = 0;
      int have = 0;
      size_t from = at;
      for (uint64_t i = 0; i < values; ++i) {
        for (; have < bits; have += 8)
          held |= static_cast<uint64_t>(static_cast<uint8_t>(in[from++])) << have;
        out.push_back(static_cast<uint32_t>(held & mask));
        held >>= bits;
        have -= bits;
      }
      at += std::min<uint64_t>(bytes, in.size() - at);
    } else {
      const auto width = static_cast<size_t>((bits + 7) / 8);
      if (width > in.size() - at) return false;
      uint64_t value = 0;
      for (size_t i = 0; i < width; ++i)
        value |= static_cast<uint64_t>(static_cast<uint8_t>(in[at++])) << (8 * i);
      const uint64_t run = std::min<uint64_t>(head >> 1, count - out.size());
      if (run == 0) return false;
      out.insert(out.end(), run, static_cast<uint32_t>(value & mask));
    }
  }
  return true;
}

// The values of one column, chunk after chunk.
class ColumnReader {
 public:
  // `budget`: bytes that pages may still become when they are unpacked, of all columns.
  ColumnReader(const NestedLeaf& place, uint64_t& budget)
      : leaf_(*place.leaf), place_(place), budget_(budget) {
    const Leaf& leaf = leaf_;
    column_.name = leaf.name;
    column_.is_text = leaf.type == kByteArray;
    column_.is_integer = leaf.type == kInt32 || leaf.type == kInt64
                             ? leaf.converted != kDecimal || leaf.scale == 0
                             : leaf.type == kBoolean;
    column_.is_bool = leaf.type == kBoolean;
  }

  Result<void> add(std::string_view file, const Chunk& chunk, int64_t rows) {
    const auto wrong = [&](std::string_view what) {
      return fail(Code::kCorrupt, fmt::format("column '{}': {}", leaf_.name, what));
    };
    dictionary_.clear();
    numbers_.clear();
    // Writers name a dictionary at 0 when there is none.
    const int64_t begin =
        chunk.dictionary_at > 0 ? std::min(chunk.dictionary_at, chunk.data_at) : chunk.data_at;
    if (begin < 4 || chunk.compressed < 0 || static_cast<uint64_t>(begin) > file.size() ||
        static_cast<uint64_t>(chunk.compressed) > file.size() - static_cast<uint64_t>(begin))
      return wrong("its bytes lie outside the file");
    std::string_view bytes =
        file.substr(static_cast<size_t>(begin), static_cast<size_t>(chunk.compressed));
    // A row of a list has an entry for each of its elements.
    for (int64_t left = place_.most_repeated > 0 ? chunk.values : rows; left > 0;) {
      ThriftReader in(bytes);
      const Page page = page_of(in);
      if (!in.ok() || page.packed < 0 || page.unpacked < 0 ||
          static_cast<uint64_t>(page.packed) > bytes.size() - in.position())
        return wrong("a page header makes no sense");
      if (static_cast<uint64_t>(page.unpacked) > budget_)
        return fail(Code::kTooLarge,
                    fmt::format("column '{}': its pages grow to more than {} times "
                                "the file's size",
                                leaf_.name, io::kMaxRatio));
      budget_ -= static_cast<uint64_t>(page.unpacked);
      const std::string_view body = bytes.substr(in.position(), static_cast<size_t>(page.packed));
      bytes.remove_prefix(in.position() + static_cast<size_t>(page.packed));
      if (page.type != kDictionaryPage && page.type != kDataPage && page.type != kDataPageV2)
        continue;  // an index page
      if (page.values < 0) return wrong("a page does not say how many values it holds");
      if (page.type == kDictionaryPage) {
        auto plain = unpacked(body, chunk.codec, static_cast<size_t>(page.unpacked));
        if (!plain) return fail(std::move(plain).error().in(leaf_.name));
        if (!read_dictionary(*plain, static_cast<size_t>(page.values)))
          return wrong("its dictionary makes no sense");
        continue;
      }
      if (page.values > left || page.values == 0)
        return wrong(page.values == 0 ? "a page is empty" : "it holds more values than rows");
      auto added = add_page(body, page, chunk.codec);
      if (!added) return fail(std::move(added).error().in(leaf_.name));
      left -= page.values;
    }
    return {};
  }
  LeafEntries finish() && {
    for (uint32_t i = 0; i < words_.size(); ++i) column_.words.emplace_back(words_.text(i));
    return {std::move(column_), std::move(all_repeated_), std::move(all_defined_)};
  }

 private:
  Result<void> add_page(std::string_view body, const Page& page, int64_t codec) {
    const auto broken = [] { return fail(Code::kCorrupt, "a page makes no sense"); };
    const auto count = static_cast<size_t>(page.values);
    std::string plain;
    std::string_view repeats, levels, values;
    if (page.type == kDataPageV2) {
      const auto before = static_cast<uint64_t>(page.level_bytes + page.repeat_bytes);
      if (page.level_bytes < 0 || page.repeat_bytes < 0 || before > body.size() ||
          before > static_cast<uint64_t>(page.unpacked))
        return broken();
      repeats = body.substr(0, static_cast<size_t>(page.repeat_bytes));
      levels = body.substr(static_cast<size_t>(page.repeat_bytes),
                           static_cast<size_t>(page.level_bytes));
      const size_t size = static_cast<size_t>(page.unpacked) - before;
      SONDE_TRY(made, unpacked(body.substr(before), page.is_packed ? codec : kNoCodec, size));
      plain = std::move(made);
      values = plain;
    } else {
      SONDE_TRY(made, unpacked(body, codec, static_cast<size_t>(page.unpacked)));
      plain = std::move(made);
      values = plain;
      for (const auto& [most, part] :
           {std::pair{place_.most_repeated, &repeats}, std::pair{place_.most_defined, &levels}}) {
        if (most == 0) continue;
        if (values.size() < 4) return broken();
        const auto size = load<uint32_t>(as_bytes(values), 0);
        if (size > values.size() - 4) return broken();
        *part = values.substr(4, size);
        values.remove_prefix(4 + size);
      }
    }
    if (!add_levels(repeats, levels, count)) return broken();
    const auto present = static_cast<size_t>(std::ranges::count(there_, 1u));
    if (page.encoding == kPlainDictionary || page.encoding == kRleDictionary)
      return add_indices(values, present) ? Result<void>() : broken();
    if (page.encoding == kRle && leaf_.type == kBoolean) {
      if (values.size() < 4 || !hybrid(values.substr(4), 1, present, indices_)) return broken();
      size_t next = 0;
      for (const uint32_t is : there_)
        column_.numbers.push_back(is ? static_cast<double>(indices_[next++]) : kNaN);
      return {};
    }
    if (page.encoding != kPlain)
      return fail(
          Code::kUnsupported,
          fmt::format("encoding {} is not read; plain values and dictionaries are", page.encoding));
    return add_plain(values) ? Result<void>() : broken();
  }

  // Which entries of the page hold a value: there_.
  bool add_levels(std::string_view repeats, std::string_view levels, size_t count) {
    const auto bits = [](uint32_t most) { return static_cast<int>(std::bit_width(most)); };
    there_.assign(count, 1);
    if (place_.most_defined > 0) {
      if (!hybrid(levels, bits(place_.most_defined), count, there_)) return false;
      // The bits of a level may say more than there are: such an entry has no value.
      if (std::ranges::any_of(there_, [&](uint32_t l) { return l > place_.most_defined; }))
        return false;
      if (place_.most_repeated > 0 || place_.most_defined > 1)
        all_defined_.insert(all_defined_.end(), there_.begin(), there_.end());
      for (uint32_t& level : there_) level = level == place_.most_defined ? 1 : 0;
    }
    if (place_.most_repeated > 0) {
      if (!hybrid(repeats, bits(place_.most_repeated), count, indices_)) return false;
      if (std::ranges::any_of(indices_, [&](uint32_t l) { return l > place_.most_repeated; }))
        return false;
      all_repeated_.insert(all_repeated_.end(), indices_.begin(), indices_.end());
    }
    return true;
  }

  bool add_indices(std::string_view values, size_t present) {
    indices_.clear();
    if (present > 0 && (values.empty() || !hybrid(values.substr(1), static_cast<uint8_t>(values[0]),
                                                  present, indices_)))
      return false;
    const size_t known = column_.is_text ? dictionary_.size() : numbers_.size();
    if (std::ranges::any_of(indices_, [&](uint32_t i) { return i >= known; })) return false;
    size_t next = 0;
    for (const uint32_t is : there_) {
      if (column_.is_text)
        column_.codes.push_back(is ? dictionary_[indices_[next++]] : ParquetColumn::kNull);
      else
        column_.numbers.push_back(is ? numbers_[indices_[next++]] : kNaN);
    }
    return true;
  }

  bool add_plain(std::string_view values) {
    size_t at = 0, bit = 0;
    for (const uint32_t is : there_) {
      if (!is) {
        column_.is_text ? column_.codes.push_back(ParquetColumn::kNull)
                        : column_.numbers.push_back(kNaN);
        continue;
      }
      if (column_.is_text) {
        std::string_view word;
        if (!next_word(values, at, word)) return false;
        column_.codes.push_back(words_.id(word));
        continue;
      }
      double number = 0;
      if (leaf_.type == kBoolean) {
        if (bit / 8 >= values.size()) return false;
        number = static_cast<uint8_t>(values[bit / 8]) >> (bit % 8) & 1;
        ++bit;
      } else if (!next_number(values, at, number)) {
        return false;
      }
      column_.numbers.push_back(number);
    }
    return true;
  }

  bool read_dictionary(std::string_view values, size_t count) {
    size_t at = 0;
    for (size_t i = 0; i < count; ++i) {
      if (column_.is_text) {
        std::string_view word;
        if (!next_word(values, at, word)) return false;
        dictionary_.push_back(words_.id(word));
      } else {
        double number = 0;
        if (!next_number(values, at, number)) return false;
        numbers_.push_back(number);
      }
    }
    return true;
  }

  static bool next_word(std::string_view values, size_t& at, std::string_view& word) {
    if (values.size() - at < 4) return false;
    const auto size = load<uint32_t>(as_bytes(values), at);
    if (size > values.size() - at - 4) return false;
    word = values.substr(at + 4, size);
    at += 4 + size;
    return true;
  }

  bool next_number(std::string_view values, size_t& at, double& number) const {
    const size_t width = leaf_.type == kInt32 || leaf_.type == kFloat ? 4 : 8;
    if (values.size() - at < width) return false;
    const Bytes bytes = as_bytes(values);
    const bool is_unsigned = leaf_.converted >= kUint8 && leaf_.converted <= kUint64;
    switch (leaf_.type) {
      case kInt32:
        number = is_unsigned ? static_cast<double>(load<uint32_t>(bytes, at))
                             : static_cast<double>(load<int32_t>(bytes, at));
        break;
      case kInt64:
        number = is_unsigned ? static_cast<double>(load<uint64_t>(bytes, at))
                             : static_cast<double>(load<int64_t>(bytes, at));
        break;
      case kFloat:
        number = static_cast<double>(load<float>(bytes, at));
        break;
      default:
        number = load<double>(bytes, at);
    }
    if (leaf_.converted == kDecimal) number /= std::pow(10.0, static_cast<double>(leaf_.scale));
    at += width;
    return true;
  }

  const Leaf& leaf_;
  const NestedLeaf& place_;
  uint64_t& budget_;
  ParquetColumn column_;
  StringTable words_;
  std::vector<uint32_t> dictionary_;  // of this chunk: which word
  std::vector<double> numbers_;       // of this chunk
  std::vector<uint32_t> there_, indices_;
  std::vector<uint32_t> all_repeated_, all_defined_;  // of a nested leaf, over all pages
};

// All chunks of a leaf; `groups` row groups of the file are read.
Result<LeafEntries> entries_of(std::string_view text, const Footer& footer, size_t groups,
                               const NestedLeaf& place, uint64_t most, uint64_t& budget) {
  ColumnReader reader(place, budget);
  uint64_t entries = 0;
  for (size_t g = 0; g < groups; ++g) {
    const Group& group = footer.groups[g];
    const auto chunk =
        std::ranges::find_if(group.chunks, [&](const Chunk& c) { return c.path == place.path; });
    if (chunk == group.chunks.end())
      return fail(Code::kCorrupt,
                  fmt::format("column '{}' is missing in row group {}", place.path, g));
    // A list says itself how many entries it has.
    const uint64_t more = static_cast<uint64_t>(std::max<int64_t>(0, chunk->values));
    if (place.most_repeated > 0 && more > most - entries)
      return fail(Code::kTooLarge,
                  fmt::format("column '{}' has more than {} values", place.path, most));
    entries += place.most_repeated > 0 ? more : 0;
    if (auto added = reader.add(text, *chunk, group.rows); !added)
      return fail(std::move(added).error());
  }
  return std::move(reader).finish();
}

// A flat column, or a nested one as JSON.
Result<ParquetColumn> column_of(std::string_view text, const Footer& footer, size_t groups,
                                const NestedGroup& wanted, uint64_t rows, uint64_t most,
                                uint64_t& budget) {
  std::vector<LeafEntries> leaves;
  for (const NestedLeaf& place : wanted.leaves) {
    SONDE_TRY(entries, entries_of(text, footer, groups, place, most, budget));
    LeafEntries& kept = leaves.emplace_back(std::move(entries));
    // A leaf of required structs has no levels: every entry is there.
    const size_t count =
        kept.column.is_text ? kept.column.codes.size() : kept.column.numbers.size();
    if (kept.repeated.empty()) kept.repeated.assign(count, 0);
    if (!kept.defined.empty()) continue;
    for (size_t i = 0; i < count; ++i) {
      const bool is_null = kept.column.is_text ? kept.column.codes[i] == ParquetColumn::kNull
                                               : std::isnan(kept.column.numbers[i]);
      kept.defined.push_back(is_null && place.most_defined > 0 ? place.most_defined - 1
                                                               : place.most_defined);
    }
  }
  SONDE_TRY(made, json_column(wanted, leaves, rows));
  made.is_json = true;
  return made;
}

}  // namespace

Result<ParquetTable> read_parquet(Bytes file, const ParquetLimits& limits) {
  const std::string_view text = as_text(file);
  SONDE_TRY(const footer, footer_of(text));
  ParquetTable table;
  table.rows_in_file = static_cast<uint64_t>(footer.rows);
  std::vector<NestedGroup> leaves;
  for (size_t i = 1; i < footer.schema.size();) {
    const Leaf& leaf = footer.schema[i];
    const bool is_flat = is_readable_leaf(leaf) && leaf.repetition != 2;
    NestedGroup wanted;
    if (is_flat || limits.nested) wanted = nested_group(footer.schema, i);
    if (wanted.leaves.empty() || wanted.is_left_out) table.skipped.push_back(leaf.name);
    if (!wanted.leaves.empty()) leaves.push_back(std::move(wanted));
    // A group's members follow it.
    for (int64_t open = 1; open > 0 && i < footer.schema.size(); ++i)
      open += std::max<int64_t>(0, footer.schema[i].children) - 1;
  }
  if (leaves.size() > limits.columns)
    return fail(Code::kTooLarge,
                fmt::format("{} columns; at most {} are read", leaves.size(), limits.columns));
  size_t groups = 0;
  for (; groups < footer.groups.size() && table.rows < limits.rows; ++groups) {
    const int64_t rows = footer.groups[groups].rows;
    if (rows < 0 || static_cast<uint64_t>(rows) > table.rows_in_file - table.rows)
      return fail(Code::kCorrupt, "a row group has more rows than the file");
    table.rows += static_cast<uint64_t>(rows);
    if (!leaves.empty() && table.rows > limits.values / leaves.size())
      return fail(Code::kTooLarge, fmt::format("{} rows of {} columns are more than {} values",
                                               table.rows, leaves.size(), limits.values));
  }
  uint64_t budget = io::most_unpacked_bytes(file.size());
  for (const NestedGroup& wanted : leaves) {
    const NestedLeaf& first = wanted.leaves.front();
    const bool is_flat = wanted.leaves.size() == 1 && first.path == wanted.name;
    if (is_flat && first.most_repeated == 0) {
      SONDE_TRY(entries, entries_of(text, footer, groups, first, limits.values, budget));
      table.columns.push_back(std::move(entries.column));
    } else {
      SONDE_TRY(column, column_of(text, footer, groups, wanted, table.rows, limits.values, budget));
      table.columns.push_back(std::move(column));
    }
  }
  return table;
}

}  // namespace sonde::table
