// Keys of images and clips, the bytes behind them, and how many each step of a series holds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/routes.h"
#include "log/query/media/sequences.h"

namespace sonde::api::tensorboard {

// What a key names. Written as TensorBoard's Python loader does: base64 of a JSON list.
struct BlobKey {
  std::string plugin, run, tag;
  Step step = 0;
  uint64_t index = 0;
};
std::string encode(const BlobKey& key);
Result<BlobKey> decode_blob_key(std::string_view text);

// The bytes behind a key. kInvalid: not a key; kNotFound: no such step or element.
Result<std::string> read_blob(const Context& context, std::string_view key);
// Route::version of an answer that holds nothing but such bytes.
uint64_t blob_version(const Context& context, std::optional<std::string_view> key);

std::shared_ptr<const query::SequenceLengths> lengths_of(const Context& context,
                                                         const store::RunSnapshot& run,
                                                         const store::Series& series);

inline constexpr uint32_t kImageSizes = 2;  // width and height come before the images

// The element that a request's `sample` means in a sequence of `length` whose first `before`
// elements are no samples. Negative numbers count as Python's indices do, as in TensorBoard's
// answers.
std::optional<uint64_t> element_index(int64_t sample, uint32_t before, uint32_t length);

// image/png, image/jpeg, image/gif, image/bmp by the first bytes, else application/octet-stream.
std::string image_type(std::string_view bytes);

}  // namespace sonde::api::tensorboard
