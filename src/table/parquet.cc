#include "table/parquet.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/bytes.h"
#include "sonde/version.h"
#include "table/thrift.h"

namespace sonde::table {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr int kZstdLevel = 3;

enum : int { kInt64Type = 2, kDoubleType = 5, kByteArrayType = 6 };  // physical types
enum : int { kPlain = 0, kRle = 3, kRleDictionary = 8 };             // encodings
enum : int { kRequired = 0, kOptional = 1 };                         // repetition
enum : int { kDataPage = 0, kDictionaryPage = 2, kUtf8 = 0, kZstdCodec = 6 };

int type_of(Kind kind) {
  return kind == Kind::kInt64 ? kInt64Type : kind == Kind::kDouble ? kDoubleType : kByteArrayType;
}

void append_u32(std::string& out, uint32_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// Parquet's hybrid of repeated and packed numbers. Equal neighbours (a series is written as a
// whole) are runs; the rest is packed in groups of eight.
template <class T>
void append_hybrid(std::string& out, const std::vector<T>& values, int bits) {
  constexpr size_t kWorthARun = 16;
  const auto run_at = [&](size_t at) {
    size_t end = at + 1;
    while (end < values.size() && values[end] == values[at]) ++end;
    return end - at;
  };
  for (size_t at = 0; at < values.size();) {
    if (const size_t run = run_at(at); run >= kWorthARun || at + run == values.size()) {
      append_varint(out, run << 1);
      for (int shift = 0; shift < bits; shift += 8)
        out.push_back(static_cast<char>(static_cast<uint64_t>(values[at]) >> shift));
      at += run;
      continue;
    }
    // Packed until a long run begins at a multiple of eight from here, or the end.
    size_t end = at;
    while (end < values.size()) {
      end = std::min(end + 8, values.size());
      if (end < values.size() && run_at(end) >= kWorthARun) break;
    }
    const size_t groups = (end - at + 7) / 8;
    append_varint(out, groups << 1 | 1);
    uint64_t buffer = 0;
    int held = 0;
    for (size_t i = 0; i < groups * 8; ++i) {
      const uint64_t value = at + i < values.size() && at + i < end ? values[at + i] : 0;
      buffer |= value << held;
      held += bits;
      for (; held >= 8; held -= 8, buffer >>= 8) out.push_back(static_cast<char>(buffer));
    }
    at = end;
  }
}

// Where a column's bytes of one row group are.
struct Chunk {
  int64_t offset = 0, data_offset = 0, compressed = 0, uncompressed = 0;
  std::string min, max;  // plain; empty: not known
};
struct RowGroup {
  int64_t rows = 0;
  std::vector<Chunk> chunks;
};

class Parquet final : public Writer {
 public:
  Parquet(std::vector<Column> columns, Sink sink)
      : columns_(std::move(columns)),
        sink_(std::move(sink)),
        compressor_(ZSTD_createCCtx(), ZSTD_freeCCtx) {
    put(kMagic);
  }

  Result<void> add(const Batch& batch) override {
    if (batch.rows == 0) return {};
    RowGroup group;
    group.rows = static_cast<int64_t>(batch.rows);
    for (size_t i = 0; i < columns_.size(); ++i)
      group.chunks.push_back(chunk(columns_[i], batch.columns[i], batch.rows));
    groups_.push_back(std::move(group));
    return state();
  }

  Result<void> finish() override {
    std::string footer;
    Thrift meta(footer);
    meta.i32(1, 2);
    meta.objects(2, columns_.size() + 1, [&](Thrift& element, size_t i) { schema(element, i); });
    int64_t rows = 0;
    for (const RowGroup& group : groups_) rows += group.rows;
    meta.i64(3, rows);
    meta.objects(4, groups_.size(),
                 [&](Thrift& element, size_t i) { describe(element, groups_[i]); });
    meta.text(6, "sonde version " SONDE_VERSION);
    // Minimum and maximum count only where their order is said: the type's own.
    meta.objects(7, columns_.size(),
                 [](Thrift& order, size_t) { order.object(1, [](Thrift&) {}); });
    meta.end();
    put(footer);
    std::string tail;
    append_u32(tail, static_cast<uint32_t>(footer.size()));
    put(tail.append(kMagic));
    return state();
  }

 private:
  Result<void> state() const {
    if (!ok_) return fail(Code::kIo, "the output cannot be written");
    return {};
  }

  void put(std::string_view bytes) {
    ok_ = ok_ && sink_(bytes);
    written_ += static_cast<int64_t>(bytes.size());
  }

  void schema(Thrift& element, size_t i) const {
    if (i == 0) {
      element.text(4, "schema");
      element.i32(5, static_cast<int64_t>(columns_.size()));
      return;
    }
    const Column& column = columns_[i - 1];
    element.i32(1, type_of(column.kind));
    element.i32(3, column.is_nullable ? kOptional : kRequired);
    element.text(4, column.name);
    if (type_of(column.kind) != kByteArrayType) return;
    element.i32(6, kUtf8);
    element.object(10, [](Thrift& logical) { logical.object(1, [](Thrift&) {}); });
  }

  void describe(Thrift& element, const RowGroup& group) const {
    int64_t bytes = 0;
    for (const Chunk& chunk : group.chunks) bytes += chunk.uncompressed;
    element.objects(1, columns_.size(), [&](Thrift& column, size_t i) {
      const Chunk& chunk = group.chunks[i];
      const bool has_words = columns_[i].kind == Kind::kWord;
      column.i64(2, chunk.offset);
      column.object(3, [&](Thrift& meta) {
        meta.i32(1, type_of(columns_[i].kind));
        meta.numbers(2, has_words ? std::vector<int>{kPlain, kRle, kRleDictionary}
                                  : std::vector<int>{kPlain, kRle});
        meta.texts(3, {columns_[i].name});
        meta.i32(4, kZstdCodec);
        meta.i64(5, group.rows);
        meta.i64(6, chunk.uncompressed);
        meta.i64(7, chunk.compressed);
        meta.i64(9, chunk.data_offset);
        if (has_words) meta.i64(11, chunk.offset);
        if (chunk.min.empty()) return;
        meta.object(12, [&](Thrift& statistics) {
          statistics.text(5, chunk.max);
          statistics.text(6, chunk.min);
        });
      });
    });
    element.i64(2, bytes);
    element.i64(3, group.rows);
  }

  // One page: its header, then its bytes compressed.
  template <class Header>
  void page(Chunk& chunk, int type, const std::string& bytes, Header&& header) {
    compressed_.resize(ZSTD_compressBound(bytes.size()));
    const size_t size = ZSTD_compressCCtx(compressor_.get(), compressed_.data(), compressed_.size(),
                                          bytes.data(), bytes.size(), kZstdLevel);
    ok_ = ok_ && !ZSTD_isError(size);
    if (!ok_) return;
    std::string head;
    Thrift thrift(head);
    thrift.i32(1, type);
    thrift.i32(2, static_cast<int64_t>(bytes.size()));
    thrift.i32(3, static_cast<int64_t>(size));
    header(thrift);
    thrift.end();
    put(head);
    put(std::string_view(compressed_).substr(0, size));
    chunk.uncompressed += static_cast<int64_t>(head.size() + bytes.size());
    chunk.compressed += static_cast<int64_t>(head.size() + size);
  }

  Chunk chunk(const Column& column, const Values& values, size_t rows) {
    Chunk chunk;
    chunk.offset = written_;
    if (column.kind == Kind::kWord) {
      std::string words;
      for (const std::string& word : column.words) {
        append_u32(words, static_cast<uint32_t>(word.size()));
        words += word;
      }
      page(chunk, kDictionaryPage, words, [&](Thrift& header) {
        header.object(7, [&](Thrift& dictionary) {
          dictionary.i32(1, static_cast<int64_t>(column.words.size()));
          dictionary.i32(2, kPlain);
        });
      });
      const auto [low, high] = std::ranges::minmax_element(
          values.indices, {}, [&](uint32_t i) -> const std::string& { return column.words[i]; });
      chunk.min = column.words[*low];
      chunk.max = column.words[*high];
    }
    chunk.data_offset = written_;
    std::string bytes;
    if (column.is_nullable) {
      std::string levels;
      append_hybrid(levels, values.is_there, 1);
      append_u32(bytes, static_cast<uint32_t>(levels.size()));
      bytes += levels;
    }
    append_values(bytes, column, values, rows);
    if (column.kind == Kind::kInt64 && !column.is_nullable) {
      const auto [low, high] = std::ranges::minmax(values.integers);
      chunk.min.assign(reinterpret_cast<const char*>(&low), sizeof low);
      chunk.max.assign(reinterpret_cast<const char*>(&high), sizeof high);
    }
    page(chunk, kDataPage, bytes, [&](Thrift& header) {
      header.object(5, [&](Thrift& data) {
        data.i32(1, static_cast<int64_t>(rows));
        data.i32(2, column.kind == Kind::kWord ? kRleDictionary : kPlain);
        data.i32(3, kRle);
        data.i32(4, kRle);
      });
    });
    return chunk;
  }

  static void append_values(std::string& bytes, const Column& column, const Values& values,
                            size_t rows) {
    const auto is_there = [&](size_t i) { return !column.is_nullable || values.is_there[i] != 0; };
    const auto plain = [&](const auto& numbers) {
      if (!column.is_nullable) {
        bytes.append(reinterpret_cast<const char*>(numbers.data()), rows * sizeof numbers[0]);
        return;
      }
      for (size_t i = 0; i < rows; ++i) {
        if (is_there(i))
          bytes.append(reinterpret_cast<const char*>(&numbers[i]), sizeof numbers[i]);
      }
    };
    switch (column.kind) {
      case Kind::kInt64:
        return plain(values.integers);
      case Kind::kDouble:
        return plain(values.reals);
      case Kind::kWord: {
        const auto bits = std::max(1, static_cast<int>(std::bit_width(column.words.size() - 1)));
        bytes.push_back(static_cast<char>(bits));
        return append_hybrid(bytes, values.indices, bits);
      }
      case Kind::kText:
        for (size_t i = 0; i < rows; ++i) {
          if (!is_there(i)) continue;
          append_u32(bytes, static_cast<uint32_t>(values.texts[i].size()));
          bytes += values.texts[i];
        }
    }
  }

  const std::vector<Column> columns_;
  const Sink sink_;
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> compressor_;
  std::string compressed_;
  std::vector<RowGroup> groups_;
  int64_t written_ = 0;
  bool ok_ = true;
};

}  // namespace

std::unique_ptr<Writer> parquet_writer(std::vector<Column> columns, Sink sink) {
  return std::make_unique<Parquet>(std::move(columns), std::move(sink));
}

}  // namespace sonde::table
