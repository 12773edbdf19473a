#include "api/tensorboard/blobs.h"

#include "api/tensorboard/shared.h"
#include "codec/base64.h"
#include "codec/json_read.h"
#include "log/event/blob.h"

namespace sonde::api::tensorboard {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string base64url(std::string_view bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k) {
      word = word << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0);
    }
    for (size_t k = 0; k <= n; ++k) out.push_back(kAlphabet[word >> (18 - 6 * k) & 63]);
  }
  return out;
}

}  // namespace

std::string encode(const BlobKey& key) {
  std::string text = "[\"\",";
  append_json_string(text, key.plugin);
  text.push_back(',');
  append_json_string(text, key.run);
  text.push_back(',');
  append_json_string(text, key.tag);
  text += "," + std::to_string(key.step) + "," + std::to_string(key.index) + "]";
  return base64url(text);
}

Result<BlobKey> decode_blob_key(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return fail(Code::kInvalid, "failed to parse blob key: " + std::string(why) + ": " +
                                    std::string(text.substr(0, 100)));
  };
  const auto decoded = from_base64(text);
  if (!decoded) return bad("not base64");
  const auto json = read_json(*decoded);
  if (!json || !json->is_array()) return bad("not a list");
  // [experiment, plugin, run, tag, step, index]; the plug-in is absent in keys of the Rust loader.
  const std::vector<JsonValue>& items = json->items;
  if (items.size() != 5 && items.size() != 6) return bad("not a list of five or six");
  const size_t at = items.size() - 4;
  const auto step = items[at + 2].integer();
  const auto index = items[at + 3].integer();
  if (!items[at].is_string() || !items[at + 1].is_string() || !step || !index || *index < 0) {
    return bad("wrong kinds of values");
  }
  BlobKey key;
  if (items.size() == 6 && items[1].is_string()) key.plugin = items[1].text;
  key.run = items[at].text;
  key.tag = items[at + 1].text;
  key.step = *step;
  key.index = static_cast<uint64_t>(*index);
  return key;
}

Result<std::string> read_blob(const Context& context, std::string_view text) {
  SONDE_TRY(const key, decode_blob_key(text));
  const auto snapshot = context.store.snapshot();
  const store::RunSnapshot* run = snapshot->find(key.run);
  const store::Series* series = run ? run->find(key.tag) : nullptr;
  const std::string what = "run \"" + key.run + "\", tag \"" + key.tag + "\"";
  if (!series || series->metadata().data_class != store::DataClass::kBlobSequence) {
    return fail(Code::kNotFound, what + " has no blobs");
  }
  const store::BlobPoint* found = nullptr;
  for (const store::Range& range : series->ranges(store::View::kNewest)) {
    for (const store::BlobPoint& point : series->points(range)) {
      if (point.step == key.step && !found) found = &point;
    }
  }
  if (!found) return fail(Code::kNotFound, what + " has no step " + std::to_string(key.step));
  std::string payload;
  SONDE_TRY(const value, read_value(context, found->where, payload));
  SONDE_TRY(const sequence, event::blob_sequence(value, series->metadata().plugin));
  if (key.index >= sequence.items.size()) {
    return fail(Code::kNotFound, what + ", step " + std::to_string(key.step) + " has only " +
                                     std::to_string(sequence.items.size()) + " elements");
  }
  const std::string_view item = sequence.items[key.index];
  if (sequence.owned && item.data() >= sequence.owned->data() &&
      item.data() <= sequence.owned->data() + sequence.owned->size()) {
    return std::string(item);
  }
  // Cut out of the record where it lies: a copy of a large picture costs page faults.
  const auto begin = static_cast<size_t>(item.data() - payload.data());
  payload.resize(begin + item.size());
  payload.erase(0, begin);
  return payload;
}

uint64_t blob_version(const Context& context, std::optional<std::string_view> text) {
  if (!text) return 0;
  const auto key = decode_blob_key(*text);
  return key ? series_version(context, key->run, key->tag) : 0;
}

std::shared_ptr<const query::SequenceLengths> lengths_of(const Context& context,
                                                         const store::RunSnapshot& run,
                                                         const store::Series& series) {
  const std::string key = "lengths/" + run.name + std::string(1, '\0') + series.tag();
  return context.services.memo().get<query::SequenceLengths>(
      key, series.revision(), [&](const query::SequenceLengths* earlier) {
        return query::sequence_lengths(context.store.blobs(), series, earlier);
      });
}

std::optional<uint64_t> element_index(int64_t sample, uint32_t before, uint32_t length) {
  const int64_t wanted = sample > INT32_MAX ? INT32_MAX : sample + before;
  const int64_t index = wanted < 0 ? wanted + length : wanted;
  if (index < 0 || index >= length) return std::nullopt;
  return static_cast<uint64_t>(index);
}

std::string image_type(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xff\xd8")) return "image/jpeg";
  if (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) return "image/gif";
  if (bytes.starts_with("BM")) return "image/bmp";
  return "application/octet-stream";
}

}  // namespace sonde::api::tensorboard
