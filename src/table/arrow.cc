#include "table/arrow.h"

#include <algorithm>

#include "table/flat.h"

namespace sonde::table {
namespace {

constexpr std::string_view kMagic = "ARROW1";
constexpr int64_t kVersion = 4;                                          // V5
enum : int64_t { kSchema = 1, kDictionaryBatch = 2, kRecordBatch = 3 };  // MessageHeader
enum : int64_t { kInt = 2, kFloatingPoint = 3, kUtf8 = 5 };              // Type
constexpr int64_t kDoublePrecision = 2;

struct Block {
  int64_t offset, metadata_length, body_length;
};

// The buffers of a record batch, each at a multiple of eight.
struct Body {
  std::string bytes, nodes, buffers;
  size_t node_count = 0, buffer_count = 0;

  static void append(std::string& out, int64_t value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void node(size_t rows, size_t nulls) {
    append(nodes, static_cast<int64_t>(rows));
    append(nodes, static_cast<int64_t>(nulls));
    ++node_count;
  }
  void buffer(std::string_view content) {
    append(buffers, static_cast<int64_t>(bytes.size()));
    append(buffers, static_cast<int64_t>(content.size()));
    ++buffer_count;
    bytes += content;
    bytes.resize((bytes.size() + 7) / 8 * 8, '\0');
  }
  template <class T>
  void buffer(const std::vector<T>& values) {
    buffer(
        std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
  }
  template <class Texts>
  void texts(const Texts& values) {
    std::vector<int32_t> offsets = {0};
    std::string all;
    for (const std::string& text : values) {
      all += text;
      offsets.push_back(static_cast<int32_t>(all.size()));
    }
    buffer(offsets);
    buffer(std::string_view(all));
  }
};

class Arrow final : public Writer {
 public:
  Arrow(std::vector<Column> columns, Sink sink)
      : columns_(std::move(columns)), sink_(std::move(sink)) {
    put(std::string(kMagic) + std::string(2, '\0'));
    Flat flat;
    const Flat::Table message = this->message(flat, kSchema, 0);
    flat.point(message.members[2], schema(flat));
    put_message(flat.take(), "");
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].kind == Kind::kWord) dictionary(i);
    }
  }

  Result<void> add(const Batch& batch) override {
    if (batch.rows == 0) return {};
    Body body;
    for (size_t i = 0; i < columns_.size(); ++i)
      column(body, columns_[i], batch.columns[i], batch.rows);
    Flat flat;
    const Flat::Table message =
        this->message(flat, kRecordBatch, static_cast<int64_t>(body.bytes.size()));
    flat.point(message.members[2], record_batch(flat, body, batch.rows));
    batches_.push_back(put_message(flat.take(), body.bytes));
    return state();
  }

  Result<void> finish() override {
    put(std::string("\xff\xff\xff\xff\0\0\0\0", 8));  // the end of the stream inside
    Flat flat;
    const Flat::Table footer = flat.table(
        {Flat::number(0, 2, kVersion), Flat::reference(1), Flat::reference(2), Flat::reference(3)});
    flat.root(footer);
    flat.point(footer.members[1], schema(flat));
    flat.point(footer.members[2], blocks(flat, dictionaries_));
    flat.point(footer.members[3], blocks(flat, batches_));
    const std::string bytes = flat.take();
    put(bytes);
    const auto size = static_cast<int32_t>(bytes.size());
    put(std::string(reinterpret_cast<const char*>(&size), sizeof size) + std::string(kMagic));
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

  Block put_message(const std::string& metadata, std::string_view body) {
    const Block block{written_, static_cast<int64_t>(metadata.size()) + 8,
                      static_cast<int64_t>(body.size())};
    const int32_t head[] = {-1, static_cast<int32_t>(metadata.size())};
    put({reinterpret_cast<const char*>(head), sizeof head});
    put(metadata);
    put(body);
    return block;
  }

  static Flat::Table message(Flat& flat, int64_t kind, int64_t body_length) {
    const Flat::Table message = flat.table({Flat::number(0, 2, kVersion), Flat::number(1, 1, kind),
                                            Flat::reference(2), Flat::number(3, 8, body_length)});
    flat.root(message);
    return message;
  }

  static size_t blocks(Flat& flat, const std::vector<Block>& list) {
    std::string bytes;
    for (const Block& block : list) {
      for (const int64_t number : {block.offset, block.metadata_length, block.body_length})
        Body::append(bytes, number);  // the length is 32 bits and four bytes of nothing
    }
    return flat.structs(list.size(), bytes);
  }

  size_t schema(Flat& flat) const {
    const Flat::Table schema = flat.table({Flat::number(0, 2, 0), Flat::reference(1)});
    const Flat::Table fields = flat.references(columns_.size());
    flat.point(schema.members[1], fields.position);
    for (size_t i = 0; i < columns_.size(); ++i)
      flat.point(fields.members[i], field(flat, columns_[i], static_cast<int64_t>(i)));
    return schema.position;
  }

  static size_t field(Flat& flat, const Column& column, int64_t id) {
    const int64_t type = column.kind == Kind::kInt64    ? kInt
                         : column.kind == Kind::kDouble ? kFloatingPoint
                                                        : kUtf8;
    std::vector<Flat::Member> members = {
        Flat::reference(0), Flat::number(1, 1, column.is_nullable ? 1 : 0),
        Flat::number(2, 1, type), Flat::reference(3), Flat::reference(5)};
    const bool has_words = column.kind == Kind::kWord;
    if (has_words) members.push_back(Flat::reference(4));
    const Flat::Table field = flat.table(members);
    flat.point(field.members[0], flat.text(column.name));
    const auto integer = [&](int64_t bits) {
      return flat.table({Flat::number(0, 4, bits), Flat::number(1, 1, 1)}).position;
    };
    flat.point(field.members[3], type == kInt ? integer(64)
                                 : type == kFloatingPoint
                                     ? flat.table({Flat::number(0, 2, kDoublePrecision)}).position
                                     : flat.table({}).position);
    flat.point(field.members[4], flat.references(0).position);
    if (has_words) {
      const Flat::Table encoding = flat.table({Flat::number(0, 8, id), Flat::reference(1)});
      flat.point(field.members[5], encoding.position);
      flat.point(encoding.members[1], integer(32));
    }
    return field.position;
  }

  static size_t record_batch(Flat& flat, const Body& body, size_t rows) {
    const Flat::Table batch = flat.table(
        {Flat::number(0, 8, static_cast<int64_t>(rows)), Flat::reference(1), Flat::reference(2)});
    flat.point(batch.members[1], flat.structs(body.node_count, body.nodes));
    flat.point(batch.members[2], flat.structs(body.buffer_count, body.buffers));
    return batch.position;
  }

  void dictionary(size_t i) {
    Body body;
    body.node(columns_[i].words.size(), 0);
    body.buffer(std::string_view());  // nothing is null
    body.texts(columns_[i].words);
    Flat flat;
    const Flat::Table message =
        this->message(flat, kDictionaryBatch, static_cast<int64_t>(body.bytes.size()));
    const Flat::Table batch =
        flat.table({Flat::number(0, 8, static_cast<int64_t>(i)), Flat::reference(1)});
    flat.point(message.members[2], batch.position);
    flat.point(batch.members[1], record_batch(flat, body, columns_[i].words.size()));
    dictionaries_.push_back(put_message(flat.take(), body.bytes));
  }

  static void column(Body& body, const Column& column, const Values& values, size_t rows) {
    std::string bits;
    size_t nulls = 0;
    if (column.is_nullable) {
      bits.resize((rows + 7) / 8, '\0');
      for (size_t i = 0; i < rows; ++i) {
        if (values.is_there[i] != 0)
          bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << i % 8);
        else
          ++nulls;
      }
    }
    body.node(rows, nulls);
    body.buffer(std::string_view(bits));
    switch (column.kind) {
      case Kind::kInt64:
        return body.buffer(values.integers);
      case Kind::kDouble:
        return body.buffer(values.reals);
      case Kind::kWord:
        return body.buffer(values.indices);
      case Kind::kText:
        return body.texts(values.texts);
    }
  }

  const std::vector<Column> columns_;
  const Sink sink_;
  std::vector<Block> dictionaries_, batches_;
  int64_t written_ = 0;
  bool ok_ = true;
};

}  // namespace

std::unique_ptr<Writer> arrow_writer(std::vector<Column> columns, Sink sink) {
  return std::make_unique<Arrow>(std::move(columns), std::move(sink));
}

}  // namespace sonde::table
