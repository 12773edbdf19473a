// TensorBoard's images and audio plug-ins.
#include "api/tensorboard/areas.h"
#include "api/tensorboard/blobs.h"
#include "api/tensorboard/shared.h"
#include "base/strings.h"
#include "codec/wire.h"

namespace sonde::api::tensorboard {
namespace {

constexpr auto kSequence = store::DataClass::kBlobSequence;

Answer image_tags(const Context& context, const Request&) {
  return tag_listing(
      context, kSequence, "images",
      [&](JsonWriter& json, const store::RunSnapshot& run, const store::Series& series) {
        const uint32_t most = query::longest(series, *lengths_of(context, run, series));
        json.key("samples").number(static_cast<int64_t>(most) - kImageSizes);
      });
}

Answer audio_tags(const Context& context, const Request&) {
  return tag_listing(
      context, kSequence, "audio",
      [&](JsonWriter& json, const store::RunSnapshot& run, const store::Series& series) {
        json.key("samples").number(
            static_cast<int64_t>(query::longest(series, *lengths_of(context, run, series))));
      });
}

// What a request for a list of images or clips names.
struct Wanted {
  std::string run, tag;
  int64_t sample = 0;
  const store::RunSnapshot* found_run = nullptr;
  const store::Series* series = nullptr;
};

// An answer when the request is wrong or names nothing.
std::optional<Answer> resolve(const Request& request, const store::Snapshot& snapshot,
                              std::string_view plugin, std::string_view noun, Wanted& wanted) {
  const auto run = request.param("run");
  const auto tag = request.param("tag");
  const auto sample = integer_of(request.param("sample").value_or("0"));
  if (!run || !tag) return invalid("both run and tag must be given");
  if (!sample) return invalid("sample must be a whole number");
  wanted = {std::string(*run), std::string(*tag), *sample, snapshot.find(*run), nullptr};
  wanted.series = find_series(snapshot, *run, *tag, kSequence, plugin);
  if (wanted.series) return std::nullopt;
  return not_found("No " + std::string(noun) + " data for run=" + python_name(run) +
                   ", tag=" + python_name(tag));
}

// Calls fn(point, key) for each step that has the wanted sample.
template <class Fn>
void for_each_sample(const Context& context, const Wanted& wanted, std::string_view plugin,
                     uint32_t before, Fn&& fn) {
  const auto lengths = lengths_of(context, *wanted.found_run, *wanted.series);
  const uint64_t limit = samples(context, plugin, query::kAllSamples);
  for (const query::SequencePoint& step : query::sequence_points(*wanted.series, *lengths, limit)) {
    const auto index = element_index(wanted.sample, before, step.length);
    if (!index) continue;
    fn(step.point, encode({std::string(plugin), wanted.run, wanted.tag, step.point.step, *index}));
  }
}

Answer image_list(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  Wanted wanted;
  if (auto wrong = resolve(request, *snapshot, "images", "image", wanted)) return std::move(*wrong);
  std::string out;
  JsonWriter json(out);
  json.array([&] {
    for_each_sample(context, wanted, "images", kImageSizes,
                    [&](const store::BlobPoint& point, const std::string& key) {
                      json.object([&] {
                        json.key("wall_time").number(point.wall_time);
                        json.key("step").number(point.step);
                        json.key("query").string("blob_key=" + key);
                      });
                    });
  });
  return Answer::json(std::move(out));
}

// The plug-in's encoding: WAV, or unknown.
std::string audio_type(const store::Metadata& metadata) {
  constexpr uint64_t kWav = 11;
  wire::Cursor cursor(as_bytes(metadata.content));
  uint64_t encoding = metadata.from_v1 ? kWav : 0;
  for (wire::Field field; cursor.next(field);) {
    if (field.number == 2) encoding = field.bits;
  }
  return encoding == kWav ? "audio/wav" : "application/octet-stream";
}

Answer audio_list(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  Wanted wanted;
  if (auto wrong = resolve(request, *snapshot, "audio", "audio", wanted)) return std::move(*wrong);
  const std::string type = audio_type(wanted.series->metadata());
  std::string out;
  JsonWriter json(out);
  json.array([&] {
    for_each_sample(
        context, wanted, "audio", 0, [&](const store::BlobPoint& point, const std::string& key) {
          json.object([&] {
            json.key("wall_time").number(point.wall_time);
            json.key("label").string("");
            json.key("step").number(point.step);
            json.key("contentType").string(type);
            json.key("query").string("blob_key=" + key + "&content_type=" + percent_encoded(type));
          });
        });
  });
  return Answer::json(std::move(out));
}

Answer blob_error(const Error& error) {
  if (error.code == Code::kNotFound) return not_found(error.text);
  if (error.code == Code::kInvalid) return invalid(error.text);
  return failed(error);
}

Answer one_image(const Context& context, const Request& request) {
  const auto key = request.param("blob_key");
  if (!key) return bad_request("Invalid run, tag, index, or sample");
  auto bytes = read_blob(context, *key);
  if (!bytes) return blob_error(bytes.error());
  std::string type = image_type(*bytes);
  return blob(std::move(*bytes), std::move(type));
}

Answer one_clip(const Context& context, const Request& request) {
  const auto key = request.param("blob_key");
  const auto type = request.param("content_type");
  if (!key || !type) return invalid("blob_key and content_type must be given");
  if (*type != "audio/wav" && *type != "application/octet-stream") {
    return invalid("Illegal mime type " + python_name(type));
  }
  auto bytes = read_blob(context, *key);
  if (!bytes) return blob_error(bytes.error());
  return blob(std::move(*bytes), std::string(*type));
}

// The Time Series dashboard's name for individualImage.
Answer image_data(const Context& context, const Request& request) {
  const auto key = request.param("imageId");
  if (!key) return invalid("Missing imageId");
  auto bytes = read_blob(context, *key);
  if (!bytes) return blob_error(bytes.error());
  std::string type = image_type(*bytes);
  return blob(std::move(*bytes), std::move(type));
}

uint64_t version_by_blob_key(const Context& context, const Request& request) {
  return blob_version(context, request.param("blob_key"));
}

uint64_t version_by_image_id(const Context& context, const Request& request) {
  return blob_version(context, request.param("imageId"));
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/images/tags", image_tags},
    {"*", "/data/plugin/images/images", image_list},
    {"*", "/data/plugin/images/individualImage", one_image, kMaxBodyBytes, nullptr,
     version_by_blob_key},
    {"*", "/data/plugin/audio/tags", audio_tags},
    {"*", "/data/plugin/audio/audio", audio_list},
    {"*", "/data/plugin/audio/individualAudio", one_clip, kMaxBodyBytes, nullptr,
     version_by_blob_key},
    {"*", "/data/plugin/timeseries/imageData", image_data, kMaxBodyBytes, nullptr,
     version_by_image_id},
};

}  // namespace

std::span<const Route> media_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
