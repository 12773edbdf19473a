#include "whatif/files/examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "base/crc32c.h"
#include "codec/wire.h"
#include "log/record/frames.h"

namespace sonde::whatif {
namespace {

constexpr size_t kWindowFrames = 4096;
constexpr size_t kMaxListElements = 1 << 24;

struct Entry {
  std::string_view name;
  Bytes value;
};

std::optional<Entry> entry_of(Bytes message) {
  Entry entry;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 1 && f.is_bytes()) entry.name = f.text();
    if (f.number == 2 && f.is_bytes()) entry.value = f.bytes;
  }
  if (!cursor.ok()) return std::nullopt;
  return entry;
}

// The values of one Feature; fn_number(double, bool is_integer), fn_text(string_view).
template <class Number, class Text>
bool feature_values(Bytes feature, Number&& number, Text&& text) {
  size_t count = 0;
  const auto counted = [&](double value, bool is_integer) {
    if (++count <= kMaxListElements) number(value, is_integer);
  };
  wire::Cursor cursor(feature);
  for (wire::Field f; cursor.next(f);) {
    if (!f.is_bytes() || f.number < 1 || f.number > 3) continue;
    wire::Cursor list(f.bytes);
    for (wire::Field e; list.next(e);) {
      if (e.number != 1) continue;
      if (f.number == 1) {
        if (!e.is_bytes()) return false;
        if (++count <= kMaxListElements) text(e.text());
      } else if (f.number == 2) {
        // A float is printed by its shortest text, so that 0.1f shows as 0.1.
        if (!wire::for_each_fixed<float>(e, [&](float v) { counted(v, false); })) return false;
      } else if (!wire::for_each_varint(e, [&](uint64_t v) {
                   counted(static_cast<double>(static_cast<int64_t>(v)), true);
                 })) {
        return false;
      }
    }
    if (!list.ok()) return false;
  }
  return cursor.ok() && count <= kMaxListElements;
}

bool is_readable(Bytes feature) {
  return feature_values(feature, [](double, bool) {}, [](std::string_view) {});
}

// Calls fn(name, value) for each entry of the map in a Features or FeatureLists message.
template <class Fn>
bool for_each_entry(Bytes map, Fn&& fn) {
  wire::Cursor cursor(map);
  for (wire::Field f; cursor.next(f);) {
    if (f.number != 1 || !f.is_bytes()) continue;
    const auto entry = entry_of(f.bytes);
    if (!entry || !fn(*entry)) return false;
  }
  return cursor.ok();
}

template <class Fn>
bool for_each_feature(Bytes message, Message kind, Fn&& fn) {
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (!f.is_bytes()) return false;
    if (f.number == 1 && !for_each_entry(f.bytes, [&](const Entry& e) { return fn(e, false); }))
      return false;
    if (f.number == 2 && kind == Message::kSequenceExample &&
        !for_each_entry(f.bytes, [&](const Entry& e) { return fn(e, true); }))
      return false;
  }
  return cursor.ok();
}

// The features of a FeatureList one behind the other: steps are told apart by the element count.
template <class Number, class Text>
bool list_values(Bytes list, Number&& number, Text&& text) {
  wire::Cursor cursor(list);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 1 && f.is_bytes() && !feature_values(f.bytes, number, text)) return false;
  }
  return cursor.ok();
}

void append_frame(std::string& out, std::string_view payload) {
  const uint64_t length = payload.size();
  std::string head(reinterpret_cast<const char*>(&length), 8);
  const auto put = [&](uint32_t crc) { out.append(reinterpret_cast<const char*>(&crc), 4); };
  out += head;
  put(masked_crc32c(as_bytes(head)));
  out += payload;
  put(masked_crc32c(as_bytes(payload)));
}

}  // namespace

Added add_example(Bytes message, Message kind, DatasetBuilder& into) {
  // Looked at whole before anything is added: half a row would shift the columns.
  const bool readable = for_each_feature(message, kind, [&](const Entry& e, bool is_list) {
    return is_list ? list_values(
                         e.value, [](double, bool) {}, [](std::string_view) {})
                   : is_readable(e.value);
  });
  if (!readable) return Added::kCorrupt;
  bool fits = true;
  for_each_feature(message, kind, [&](const Entry& e, bool is_list) {
    ColumnBuilder* column = into.column(e.name);
    if (!column) return fits = false;
    const auto number = [&](double v, bool i) { column->number(v, i); };
    const auto text = [&](std::string_view v) { column->text(v); };
    is_list ? list_values(e.value, number, text) : feature_values(e.value, number, text);
    column->end_row(into.rows());
    return true;
  });
  if (!fits || !into.end_row()) return Added::kTooMany;
  return Added::kYes;
}

namespace {

// A SequenceExample has feature lists in field 2; an Example has no field 2.
Message message_of(Bytes first) {
  wire::Cursor cursor(first);
  for (wire::Field f; cursor.next(f);)
    if (f.number == 2) return Message::kSequenceExample;
  return Message::kExample;
}

// Calls fn(payload) for each intact record until it returns false; the number of damaged places.
template <class Fn>
size_t for_each_record(Bytes file, Fn&& fn) {
  std::vector<record::Frame> frames;
  size_t at = 0, damaged = 0;
  while (at < file.size()) {
    const record::Walk walk =
        record::walk_frames(file, at, record::kMaxPayload, kWindowFrames, frames);
    for (const record::Frame& frame : frames)
      if (!fn(file.subspan(frame.at, frame.length))) return damaged;
    if (walk.stop == record::Stop::kFull) {
      at = walk.end;
      continue;
    }
    if (walk.stop == record::Stop::kNeedMore) return damaged + (walk.end < file.size());
    ++damaged;
    const auto next = record::find_header(file, walk.end + 1, record::kMaxPayload);
    if (!next) return damaged;
    at = *next;
  }
  return damaged;
}

// Whether all elements can stand in an int64_list: a missing one of a list cannot.
bool are_whole(const Column& column, size_t row) {
  const auto begin = column.numbers.begin();
  return column.is_integer && std::all_of(begin + static_cast<int64_t>(column.begin(row)),
                                          begin + static_cast<int64_t>(column.end(row)),
                                          [](double v) { return v >= -0x1p63 && v < 0x1p63; });
}

}  // namespace

std::vector<std::string> read_messages(Bytes file, const ReadOptions& options) {
  std::vector<std::string> out;
  Sampler sampler(options);
  (void)for_each_record(file, [&](Bytes payload) {
    if (out.size() >= options.max_examples) return false;
    if (sampler.keeps()) out.emplace_back(as_text(payload));
    return true;
  });
  return out;
}

Result<Dataset> read_examples(Bytes file, const ReadOptions& options) {
  DatasetBuilder builder;
  Sampler sampler(options);
  std::optional<Message> kind;
  size_t corrupt = 0;
  uint64_t too_many_at = 0;
  bool cut = false;
  const size_t damaged = for_each_record(file, [&](Bytes payload) {
    if (!kind) kind = message_of(payload);
    if ((cut = builder.rows() >= options.max_examples)) return false;
    if (!sampler.keeps()) return true;
    const Added added = add_example(payload, *kind, builder);
    corrupt += added == Added::kCorrupt;
    if (added == Added::kTooMany) too_many_at = static_cast<uint64_t>(payload.data() - file.data());
    return added != Added::kTooMany;
  });
  if (too_many_at > 0)
    return fail(Code::kTooLarge,
                fmt::format("the record at byte {} brings more than {} features or {} values",
                            too_many_at, kMaxColumns, kMaxCells));
  if (builder.rows() == 0)
    return fail(Code::kInvalid, damaged + corrupt > 0
                                    ? "no record of this file is a tf.train.Example"
                                    : "the file holds no records");
  SONDE_TRY(data, std::move(builder).finish(""));
  std::vector<std::string> notes;
  if (cut) notes.push_back(fmt::format("only the first {} examples were read", data.rows));
  if (damaged + corrupt > 0)
    notes.push_back(fmt::format("{} damaged records were skipped", damaged + corrupt));
  data.note = fmt::format("{}", fmt::join(notes, "; "));
  return data;
}

std::string write_example(const Dataset& data, size_t row) {
  std::string out;
  wire::Encoder(out).message(1, [&](wire::Encoder& features) {
    for (const Column& column : data.columns) {
      if (column.is_missing(row)) continue;
      features.message(1, [&](wire::Encoder& entry) {
        entry.bytes(1, column.name);
        entry.message(2, [&](wire::Encoder& feature) {
          const uint32_t which = !column.is_numeric() ? 1 : are_whole(column, row) ? 3 : 2;
          feature.message(which, [&](wire::Encoder& list) {
            for (size_t i = column.begin(row); i < column.end(row); ++i) {
              if (which == 1)
                list.bytes(1, column.codes[i] == kMissing ? "" : column.words[column.codes[i]]);
              if (which == 2) list.real32(1, static_cast<float>(column.numbers[i]));
              if (which == 3)
                list.varint(1, std::bit_cast<uint64_t>(static_cast<int64_t>(column.numbers[i])));
            }
          });
        });
      });
    }
  });
  return out;
}

std::string write_records(const Dataset& data) {
  std::string out;
  for (size_t row = 0; row < data.rows; ++row) append_frame(out, write_example(data, row));
  return out;
}

}  // namespace sonde::whatif
