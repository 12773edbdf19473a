#include "api/v1/series/media_ref.h"

#include <fmt/format.h>

#include <charconv>

#include "api/v1/support.h"
#include "base/strings.h"
#include "image/sniff.h"
#include "log/event/blob.h"
#include "log/event/tensor.h"
#include "log/event/value.h"

namespace sonde::api::v1 {
namespace {

std::string numbers_of(const MediaRef& ref) {
  return fmt::format("{}{:x}-{:x}-{:x}-{:x}-{:x}", ref.kind, static_cast<uint32_t>(ref.where.file),
                     ref.where.offset, ref.where.length, ref.where.value, ref.sample);
}

uint32_t check_of(const Context& context, std::string_view numbers) {
  return static_cast<uint32_t>(hash_of(context.settings.boot + "/" + std::string(numbers)));
}

template <class T>
bool read_hex(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size();
}

std::string audio_mime(const event::ValueView& value, std::string_view bytes) {
  if (bytes.starts_with("RIFF")) return "audio/wav";
  if (bytes.starts_with("OggS")) return "audio/ogg";
  if (bytes.starts_with("fLaC")) return "audio/flac";
  if (bytes.starts_with("ID3")) return "audio/mpeg";
  // What the writer says is believed only if it is some sort of sound.
  const std::string stated = event::audio_info(value).content_type;
  const bool plain =
      stated.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789/+.-") == std::string::npos;
  return stated.starts_with("audio/") && plain ? stated : "application/octet-stream";
}

// Audio tensors are [clip, label] rows where the writer gave labels.
std::string label_of(const event::ValueView& value, uint32_t sample) {
  if (value.kind != event::ValueKind::kTensor) return {};
  const auto tensor = event::parse_tensor(value.body);
  if (!tensor || tensor->dims.size() != 2 || tensor->dims[1] != 2) return {};
  const auto strings = event::decode_strings(*tensor);
  const size_t at = size_t{sample} * 2 + 1;
  return strings && at < strings->size() ? to_utf8((*strings)[at]) : std::string();
}

}  // namespace

std::string text_of(const Context& context, const MediaRef& ref) {
  const std::string numbers = numbers_of(ref);
  return fmt::format("{}-{:08x}", numbers, check_of(context, numbers));
}

std::optional<MediaRef> media_ref(const Context& context, std::string_view text) {
  const size_t last = text.rfind('-');
  uint32_t check = 0;
  if (last == text.npos || !read_hex(text.substr(last + 1), check)) return std::nullopt;
  const std::string_view numbers = text.substr(0, last);
  if (check != check_of(context, numbers)) return std::nullopt;
  const auto parts = split(numbers, '-');
  if (parts.size() != 5 || parts[0].empty()) return std::nullopt;
  MediaRef ref;
  ref.kind = parts[0][0];
  uint32_t file = 0;
  const bool ok = read_hex(parts[0].substr(1), file) && read_hex(parts[1], ref.where.offset) &&
                  read_hex(parts[2], ref.where.length) && read_hex(parts[3], ref.where.value) &&
                  read_hex(parts[4], ref.sample);
  ref.where.file = static_cast<store::FileId>(file);
  if (!ok || (ref.kind != 'i' && ref.kind != 'a')) return std::nullopt;
  return ref;
}

Result<Blob> read_blob(const Context& context, const MediaRef& ref) {
  SONDE_TRY(const payload, context.store.blobs().event(ref.where));
  SONDE_TRY(const value, event::find_value(as_bytes(payload), ref.where.value));
  SONDE_TRY(const sequence, event::blob_sequence(value, ref.plugin()));
  const size_t at = ref.sample + (ref.kind == 'i' ? 2u : 0u);
  if (at >= sequence.items.size())
    return fail(Code::kNotFound, fmt::format("the step has no sample {}", ref.sample));
  Blob blob;
  blob.bytes = sequence.items[at];
  if (ref.kind == 'i') {
    const auto header = image::sniff(as_bytes(blob.bytes));
    blob.mime = header ? header->mime : "application/octet-stream";
  } else {
    blob.mime = audio_mime(value, blob.bytes);
    blob.label = label_of(value, ref.sample);
  }
  return blob;
}

}  // namespace sonde::api::v1
