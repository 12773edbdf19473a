// GET media, blob/<ref>, peaks/<ref>: pictures and sound, every step of them.
#include <fmt/format.h>

#include <charconv>

#include "api/v1/area.h"
#include "api/v1/series/media_ref.h"
#include "api/v1/support.h"
#include "image/sniff.h"
#include "image/thumbnail.h"
#include "log/event/blob.h"
#include "log/event/value.h"
#include "log/query/media/wav.h"
#include "log/query/series/column_file.h"
#include "text/markdown.h"

namespace sonde::api::v1 {
namespace {

constexpr uint32_t kMaxThumbnail = 4096;

struct Sample {
  MediaRef ref;
  std::string mime, label;
  uint64_t bytes = 0;
  uint32_t width = 0, height = 0;
  std::optional<query::WavInfo> wav;
};

struct Item {
  std::vector<Sample> samples;
  std::string damage;  // why the samples cannot be had
};

// Sizes written beside the pictures stand in where the bytes do not say.
uint32_t decimal(std::string_view text) {
  uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Item read_item(const Context& context, char kind, const store::Reference& where) {
  Item item;
  const MediaRef base{kind, where, 0};
  const auto payload = context.store.blobs().event(where);
  if (!payload) return {{}, payload.error().text};
  const auto value = event::find_value(as_bytes(*payload), where.value);
  if (!value) return {{}, value.error().text};
  const auto sequence = event::blob_sequence(*value, base.plugin());
  if (!sequence) return {{}, sequence.error().text};
  const auto& items = sequence->items;
  const size_t first = kind == 'i' ? 2 : 0;
  for (size_t i = first; i < items.size(); ++i) {
    Sample sample;
    sample.ref = base;
    sample.ref.sample = static_cast<uint32_t>(i - first);
    sample.bytes = items[i].size();
    if (kind == 'i') {
      const auto header = image::sniff(as_bytes(items[i]));
      sample.mime = header ? header->mime : "application/octet-stream";
      sample.width = header && header->width ? header->width : decimal(items[0]);
      sample.height = header && header->height ? header->height : decimal(items[1]);
    } else {
      if (const auto wav = query::wav_info(as_bytes(items[i]), items[i].size())) sample.wav = *wav;
      if (auto blob = read_blob(context, sample.ref)) {
        sample.mime = std::move(blob->mime);
        sample.label = std::move(blob->label);
      }
    }
    item.samples.push_back(std::move(sample));
  }
  return item;
}

void write_sample(JsonWriter& json, const Context& context, const Sample& sample) {
  json.object([&] {
    json.key("ref").string(text_of(context, sample.ref));
    json.key("mime").string(sample.mime);
    json.key("bytes").number(sample.bytes);
    if (sample.ref.kind == 'i') {
      json.key("width").number(sample.width);
      json.key("height").number(sample.height);
      return;
    }
    if (sample.wav) {
      json.key("seconds").number(sample.wav->seconds());
      json.key("rate").number(sample.wav->rate);
      json.key("channels").number(sample.wav->channels);
    }
    json.key("label").string(sample.label);
    if (!sample.label.empty())
      json.key("label_html").string(text::markdown_to_safe_html(sample.label));
  });
}

Answer media(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  SONDE_ANSWER(const found, series_param(*snapshot, request, ""));
  const std::string_view sort = kind_of(*found.series);
  if (sort != "image" && sort != "audio")
    return error({Code::kUnsupported, fmt::format("tag '{}' holds {} data, not images or audio",
                                                  found.series->tag(), sort)});
  SONDE_ANSWER(const view, view_param(request));
  const auto points = points_of(*found.series, view);
  SONDE_ANSWER(const page, page_of(request, points.size()));
  const bool steps_only = request.param("steps").value_or("") == "1";
  const char kind = sort == "image" ? 'i' : 'a';
  std::vector<Item> items(steps_only ? 0 : page.end - page.begin);
  context.pool.for_each(items.size(), [&](size_t i) {
    items[i] = read_item(context, kind, points[page.begin + i].where);
  });
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("rev").number(snapshot->revision);
    json.key("total").number(static_cast<uint64_t>(points.size()));
    if (steps_only) return write_steps(json, points);
    json.key("from").number(static_cast<uint64_t>(page.begin));
    json.key("items").array([&] {
      for (size_t i = 0; i < items.size(); ++i) {
        const auto& point = points[page.begin + i];
        json.object([&] {
          json.key("step").safe_integer(point.step);
          json.key("wall").number(point.wall_time);
          json.key("samples").array([&] {
            for (const Sample& sample : items[i].samples) write_sample(json, context, sample);
          });
          if (!items[i].damage.empty()) json.key("damage").string(items[i].damage);
        });
      }
    });
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

Result<MediaRef> ref_in(const Context& context, const Request& request, std::string_view route) {
  const auto ref = media_ref(context, std::string_view(request.path).substr(route.size()));
  if (ref) return *ref;
  return fail(Code::kNotFound, "the reference is not of this server run; ask GET media again");
}

Answer blob(const Context& context, const Request& request) {
  SONDE_ANSWER(const ref, ref_in(context, request, "/api/v1/blob/"));
  SONDE_ANSWER(const width, integer_param(request, "w", 0));
  if (width < 0 || width > kMaxThumbnail)
    return error({Code::kInvalid, fmt::format("'w' is not in 0…{}", kMaxThumbnail)}, "w");
  auto read = read_blob(context, ref);
  if (!read) return error(read.error(), "blob");
  Answer answer;
  answer.content_type = read->mime;
  answer.body = std::move(read->bytes);
  const bool shrinks = answer.content_type == "image/png" || answer.content_type == "image/jpeg";
  const auto header = image::sniff(as_bytes(answer.text()));
  if (width > 0 && shrinks && header && header->width > static_cast<uint32_t>(width)) {
    auto small = image::thumbnail(as_bytes(answer.text()), static_cast<uint32_t>(width));
    if (small) {
      answer.body = std::move(*small);
      answer.content_type = "image/png";
    } else if (small.error().code != Code::kTooLarge) {
      return error(small.error(), "w");
    }
  }
  answer.cache = Cache::kImmutable;
  answer.allows_range = true;
  answer.csp = "sandbox";
  answer.etag = etag_of(context, request.path + "?" + std::to_string(width));
  return answer;
}

Answer peaks(const Context& context, const Request& request) {
  SONDE_ANSWER(const ref, ref_in(context, request, "/api/v1/peaks/"));
  SONDE_ANSWER(const px, integer_param(request, "px", 600));
  if (px < 1 || px > 16384) return error({Code::kInvalid, "'px' is not between 1 and 16384"}, "px");
  SONDE_ANSWER(const read, read_blob(context, ref));
  SONDE_ANSWER(const found, query::wav_peaks(as_bytes(read.bytes), static_cast<size_t>(px)));
  std::string file =
      query::column_file({query::Column::of("min", found.min), query::Column::of("max", found.max)},
                         [&](JsonWriter& json) {
                           json.key("px").number(static_cast<uint64_t>(
                               found.info.channels ? found.min.size() / found.info.channels : 0));
                           json.key("channels").number(found.info.channels);
                           json.key("rate").number(found.info.rate);
                           json.key("seconds").number(found.info.seconds());
                           json.key("frames").number(found.info.frames);
                         });
  Answer answer;
  answer.content_type = query::kColumnsMime;
  answer.body = std::move(file);
  answer.cache = Cache::kImmutable;
  answer.etag = etag_of(context, request.path + "?" + std::to_string(px));
  return answer;
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/media", media},
                             {"GET", "/api/v1/blob/*", blob},
                             {"GET", "/api/v1/peaks/*", peaks}};

}  // namespace

std::span<const Route> media_routes() { return kRoutes; }

}  // namespace sonde::api::v1
