#include "api/provider/provider.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>

#include "api/provider/newest_points.h"
#include "api/provider/question.h"
#include "api/provider/tensor_value.h"
#include "api/tensorboard/blobs.h"
#include "codec/wire.h"
#include "log/query/media/samples.h"

namespace sonde::api::provider {
namespace {

using Messages = std::vector<std::string>;
using store::DataClass;

constexpr std::string_view kService = "/tensorboard.data.TensorBoardDataProvider/";
constexpr size_t kBlobPiece = size_t{8} << 20;  // of a blob in one message
constexpr uint64_t kWav = 11;                   // AudioPluginData.Encoding

Messages one(std::string message) {
  Messages messages;
  messages.push_back(std::move(message));
  return messages;
}

Result<Messages> get_experiment(const Context& context, Bytes) {
  std::string out;
  wire::Encoder(out).bytes(1, context.settings.logdir);
  return one(std::move(out));
}

Result<Messages> list_plugins(const Context& context, Bytes) {
  const auto snapshot = context.store.snapshot();
  std::set<std::string_view> names;
  for (const auto& run : snapshot->runs) {
    for (const auto& series : run->series) {
      if (series->metadata().data_class != DataClass::kUnknown)
        names.insert(series->metadata().plugin);
    }
  }
  std::string out;
  wire::Encoder encoder(out);
  for (const std::string_view name : names) {
    encoder.message(1, [&](wire::Encoder& plugin) { plugin.bytes(1, name); });
  }
  return one(std::move(out));
}

Result<Messages> list_runs(const Context& context, Bytes) {
  const auto snapshot = context.store.snapshot();
  std::string out;
  wire::Encoder encoder(out);
  for (const auto& run : snapshot->runs) {
    if (!run->has_events) continue;
    // TensorBoard sorts by it, which a NaN would spoil.
    const double start = std::isnan(run->first_wall_time) ? std::numeric_limits<double>::infinity()
                                                          : run->first_wall_time;
    encoder.message(1, [&](wire::Encoder& entry) {
      entry.bytes(2, run->name);
      entry.real(3, start);
    });
  }
  return one(std::move(out));
}

void put_metadata(wire::Encoder& encoder, const store::Metadata& metadata) {
  encoder.message(1, [&](wire::Encoder& data) {
    data.bytes(1, metadata.plugin);
    std::string content = metadata.content;
    if (metadata.from_v1 && metadata.plugin == "audio" && content.empty()) {
      wire::Encoder(content).varint(2, kWav);  // old clips are always WAV
    }
    data.bytes(2, content);
  });
  encoder.bytes(2, metadata.display_name);
  encoder.bytes(3, metadata.description);
  encoder.varint(4, static_cast<uint64_t>(metadata.data_class));
}

// {run_name = 1, tags = 2 [{tag_name = 1, <body> = 2}]} for each run that has such series;
// body(out, run, series) appends its message and returns false to leave the series out.
template <class Body>
Messages for_each_series(const Context& context, const Question& question, DataClass data_class,
                         Body&& body) {
  const auto snapshot = context.store.snapshot();
  std::string out;
  wire::Encoder encoder(out);
  for (const auto& run : snapshot->runs) {
    if (!question.wants_run(*run)) continue;
    std::string tags;
    wire::Encoder tag_encoder(tags);
    for (const auto& series : run->series) {
      if (!question.wants(*series, data_class)) continue;
      std::string content;
      if (!body(content, *run, *series)) continue;
      tag_encoder.message(2, [&](wire::Encoder& entry) {
        entry.bytes(1, series->tag());
        entry.bytes(2, content);
      });
    }
    if (tags.empty()) continue;
    std::string entry;
    wire::Encoder(entry).bytes(1, run->name);
    encoder.bytes(1, entry + tags);
  }
  return one(std::move(out));
}

std::shared_ptr<const NewestPoints> newest_in(const Context& context,
                                              const store::RunSnapshot& run) {
  return context.services.memo().get<NewestPoints>(
      fmt::format("provider/newest/{}", static_cast<uint32_t>(run.id)), run.revision,
      [&](const NewestPoints* earlier) { return newest_points(run, earlier); });
}

Result<Messages> list_series(const Context& context, Bytes message, DataClass data_class) {
  SONDE_TRY(const question, parse_question(message));
  return for_each_series(
      context, question, data_class,
      [&](std::string& out, const store::RunSnapshot& run, const store::Series& series) {
        wire::Encoder encoder(out);
        const NewestPoint& newest = newest_in(context, run)->at(series.tag());
        if (newest.size == 0) return false;
        encoder.varint(1, static_cast<uint64_t>(newest.step));
        encoder.real(2, newest.wall_time);
        const bool has_length = data_class == DataClass::kBlobSequence;
        if (has_length) {
          encoder.varint(3, query::longest(series, *tensorboard::lengths_of(context, run, series)));
        }
        encoder.message(has_length ? 4 : 3, [&](wire::Encoder& metadata) {
          put_metadata(metadata, series.metadata());
        });
        return true;
      });
}

Result<Messages> list_scalars(const Context& context, Bytes message) {
  return list_series(context, message, DataClass::kScalar);
}
Result<Messages> list_tensors(const Context& context, Bytes message) {
  return list_series(context, message, DataClass::kTensor);
}
Result<Messages> list_blob_sequences(const Context& context, Bytes message) {
  return list_series(context, message, DataClass::kBlobSequence);
}

// Points as three packed columns.
struct Columns {
  std::string steps, wall_times, values;

  void point(Step step, double wall_time) {
    wire::Encoder(steps).raw_varint(static_cast<uint64_t>(step));
    wall_times.append(reinterpret_cast<const char*>(&wall_time), sizeof wall_time);
  }
  void put(wire::Encoder& encoder) const {
    encoder.bytes(1, steps);
    encoder.bytes(2, wall_times);
  }
};

Result<Question> parse_read(Bytes message) {
  SONDE_TRY(question, parse_question(message));
  if (!question.points) return fail(Code::kInvalid, "the request has no `downsample`");
  return question;
}

Result<Messages> read_scalars(const Context& context, Bytes message) {
  SONDE_TRY(const question, parse_read(message));
  return for_each_series(
      context, question, DataClass::kScalar,
      [&](std::string& out, const store::RunSnapshot&, const store::Series& series) {
        wire::Encoder encoder(out);
        Columns columns;
        const auto take = [&](const query::ScalarPoint& point) {
          columns.point(point.step, point.wall_time);
          const auto value = static_cast<float>(point.value);  // all that the protocol carries
          columns.values.append(reinterpret_cast<const char*>(&value), sizeof value);
        };
        if (query::ScalarPoint last; *question.points == 1) {
          if (query::last_scalar(series, last)) take(last);
        } else {
          query::for_each_scalar(series, *question.points, take);
        }
        columns.put(encoder);
        encoder.bytes(3, columns.values);
        return true;
      });
}

// At most `limit` points; a single one is the last.
std::vector<store::BlobPoint> thinned(const store::Series& series, uint64_t limit) {
  if (limit != 1) return query::blob_points(series, limit);
  const auto ranges = series.ranges(store::View::kNewest);
  if (ranges.empty() || ranges.back().begin == ranges.back().end) return {};
  return {series.points(ranges.back()).back()};
}

Result<Messages> read_tensors(const Context& context, Bytes message) {
  SONDE_TRY(const question, parse_read(message));
  return for_each_series(
      context, question, DataClass::kTensor,
      [&](std::string& out, const store::RunSnapshot&, const store::Series& series) {
        wire::Encoder encoder(out);
        Columns columns;
        wire::Encoder values(columns.values);
        const auto reader = context.store.blobs().sequence();
        for (const store::BlobPoint& point : thinned(series, *question.points)) {
          const auto payload = reader->event(point.where);
          if (!payload) continue;
          const auto value = event::find_value(as_bytes(*payload), point.where.value);
          if (!value) continue;
          const auto tensor = tensor_message(*value, series.metadata().plugin);
          if (!tensor) continue;  // a value of another kind under this tag
          columns.point(point.step, point.wall_time);
          values.bytes(3, *tensor);
        }
        columns.put(encoder);
        out += columns.values;
        return true;
      });
}

Result<Messages> read_blob_sequences(const Context& context, Bytes message) {
  SONDE_TRY(const question, parse_read(message));
  return for_each_series(
      context, question, DataClass::kBlobSequence,
      [&](std::string& out, const store::RunSnapshot& run, const store::Series& series) {
        wire::Encoder encoder(out);
        const auto lengths = tensorboard::lengths_of(context, run, series);
        auto steps = query::sequence_points(
            series, *lengths, *question.points == 1 ? query::kAllSamples : *question.points);
        if (*question.points == 1 && steps.size() > 1) steps.erase(steps.begin(), steps.end() - 1);
        Columns columns;
        wire::Encoder values(columns.values);
        for (const query::SequencePoint& step : steps) {
          columns.point(step.point.step, step.point.wall_time);
          values.message(3, [&](wire::Encoder& sequence) {
            for (uint32_t i = 0; i < step.length; ++i) {
              sequence.message(1, [&](wire::Encoder& reference) {
                reference.bytes(1, tensorboard::encode({series.metadata().plugin, run.name,
                                                        series.tag(), step.point.step, i}));
              });
            }
          });
        }
        columns.put(encoder);
        out += columns.values;
        return true;
      });
}

Result<Messages> read_blob(const Context& context, Bytes message) {
  std::string_view key;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == 1 && field.is_bytes()) key = field.text();
  }
  SONDE_TRY(const bytes, tensorboard::read_blob(context, key));
  Messages messages;
  for (size_t at = 0; at < bytes.size(); at += kBlobPiece) {
    std::string piece;
    wire::Encoder(piece).bytes(1, std::string_view(bytes).substr(at, kBlobPiece));
    messages.push_back(std::move(piece));
  }
  return messages;
}

struct Method {
  std::string_view name;
  Result<Messages> (*answer)(const Context&, Bytes);
};

constexpr Method kMethods[] = {
    {"GetExperiment", get_experiment},
    {"ListPlugins", list_plugins},
    {"ListRuns", list_runs},
    {"ListScalars", list_scalars},
    {"ReadScalars", read_scalars},
    {"ListTensors", list_tensors},
    {"ReadTensors", read_tensors},
    {"ListBlobSequences", list_blob_sequences},
    {"ReadBlobSequences", read_blob_sequences},
    {"ReadBlob", read_blob},
};

}  // namespace

Result<std::vector<std::string>> call(const Context& context, std::string_view path,
                                      Bytes message) {
  if (path.starts_with(kService)) {
    const auto method = std::ranges::find(kMethods, path.substr(kService.size()), &Method::name);
    if (method != std::end(kMethods)) return method->answer(context, message);
  }
  return fail(Code::kUnsupported, "there is no method " + std::string(path.substr(0, 200)));
}

}  // namespace sonde::api::provider
