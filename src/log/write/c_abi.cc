// The C face: converts and nothing else.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/sonde.h"
#include "sonde/version.h"
#include "sonde/writer.h"

struct sonde_writer {
  sonde::Writer writer;
};

namespace {

sonde::Array view(const sonde_array& array) {
  return {array.data, static_cast<sonde::DataType>(array.type),
          std::vector<int64_t>(array.shape, array.shape + std::max(array.rank, 0))};
}

std::string_view text(const char* data, size_t length) {
  return data == nullptr ? std::string_view() : std::string_view(data, length);
}

std::string_view text(const char* ended) { return ended == nullptr ? "" : ended; }

std::optional<sonde::Array> view(const sonde_array* array) {
  if (array == nullptr) return {};
  return view(*array);
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

sonde::HParamValue value_of(const sonde_hparam& given) {
  if (given.kind == SONDE_HPARAM_TEXT) return std::string(text(given.text));
  if (given.kind == SONDE_HPARAM_BOOL) return given.number != 0;
  return given.number;
}

sonde::HParamInfo info_of(const sonde_hparam& given) {
  using Kind = sonde::HParamInfo::Kind;
  sonde::HParamInfo info;
  info.name = text(given.name);
  info.kind = given.kind == SONDE_HPARAM_TEXT   ? Kind::kString
              : given.kind == SONDE_HPARAM_BOOL ? Kind::kBool
                                                : Kind::kNumber;
  return info;
}

}  // namespace

extern "C" {

sonde_writer* sonde_open(const char* folder, const sonde_options* given) {
  sonde_options options{};
  if (given != nullptr) std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
  sonde::WriterOptions made;
  if (options.flush_interval_s > 0) made.flush_interval_s = options.flush_interval_s;
  if (options.max_buffer_bytes > 0) made.max_buffer_bytes = options.max_buffer_bytes;
  if (options.drop_when_full != 0) made.when_full = sonde::WriterOptions::WhenFull::kDrop;
  if (options.filename_suffix != nullptr) made.filename_suffix = options.filename_suffix;
  if (options.has_purge_step != 0) made.purge_step = options.purge_step;
  return new sonde_writer{sonde::Writer(folder == nullptr ? "." : folder, std::move(made))};
}

void sonde_close(sonde_writer* writer) { delete writer; }
int sonde_flush(sonde_writer* w, int sync) { return w->writer.flush(sync != 0); }

int sonde_scalar(sonde_writer* w, const char* tag, size_t n, int64_t step, double value) {
  return w->writer.scalar(text(tag, n), step, value);
}
int sonde_scalar_at(sonde_writer* w, const char* tag, size_t n, int64_t step, double value,
                    double wall_time) {
  return w->writer.scalar_at(text(tag, n), step, value, wall_time);
}
int sonde_text(sonde_writer* w, const char* tag, size_t n, int64_t step, const char* markdown,
               size_t length) {
  return w->writer.text(text(tag, n), step, text(markdown, length));
}
int sonde_histogram(sonde_writer* w, const char* tag, size_t n, int64_t step,
                    const sonde_array* data, int buckets) {
  return w->writer.histogram(text(tag, n), step, view(*data), buckets);
}
int sonde_image(sonde_writer* w, const char* tag, size_t n, int64_t step, const sonde_array* pixels,
                int max_outputs) {
  return w->writer.image(text(tag, n), step, view(*pixels), max_outputs);
}
int sonde_video(sonde_writer* w, const char* tag, size_t n, int64_t step, const sonde_array* frames,
                double fps) {
  return w->writer.video(text(tag, n), step, view(*frames), fps);
}
int sonde_audio(sonde_writer* w, const char* tag, size_t n, int64_t step,
                const sonde_array* samples, int rate) {
  return w->writer.audio(text(tag, n), step, view(*samples), rate);
}
int sonde_tensor(sonde_writer* w, const char* tag, size_t n, int64_t step,
                 const sonde_array* data) {
  return w->writer.tensor(text(tag, n), step, view(*data));
}
int sonde_graph(sonde_writer* w, const void* graph_def, size_t length) {
  return w->writer.graph(text(static_cast<const char*>(graph_def), length));
}

int sonde_hparams(sonde_writer* w, const sonde_hparam* values, size_t count,
                  const char* group_name) {
  sonde::SessionStart start;
  for (const sonde_hparam& given : std::span(values, count))
    start.hparams.emplace_back(text(given.name), value_of(given));
  start.group_name = text(group_name);
  start.start_secs = now_s();
  return w->writer.session_start(start);
}
int sonde_hparams_config(sonde_writer* w, const sonde_hparam* values, size_t count,
                         const char* const* metric_tags, size_t metric_count) {
  sonde::HParamsConfig config;
  for (const sonde_hparam& given : std::span(values, count))
    config.hparams.push_back(info_of(given));
  for (const char* tag : std::span(metric_tags, metric_count))
    config.metrics.emplace_back().tag = text(tag);
  config.created_secs = now_s();
  return w->writer.hparams_config(config);
}
int sonde_hparams_end(sonde_writer* w, int status) {
  return w->writer.session_end(static_cast<sonde::SessionStatus>(std::clamp(status, 0, 3)),
                               now_s());
}

int sonde_pr_curve(sonde_writer* w, const char* tag, size_t n, int64_t step,
                   const sonde_array* labels, const sonde_array* predictions,
                   const sonde_array* weights, int thresholds) {
  sonde::summary::PrCurveData data{view(*labels), view(*predictions), view(weights)};
  if (thresholds > 0) data.num_thresholds = thresholds;
  return w->writer.pr_curve(text(tag, n), step, data);
}
int sonde_mesh(sonde_writer* w, const char* tag, size_t n, int64_t step,
               const sonde_array* vertices, const sonde_array* faces, const sonde_array* colors,
               const char* json_config) {
  const sonde::Mesh mesh{view(*vertices), view(faces), view(colors),
                         std::string(text(json_config))};
  return w->writer.mesh(text(tag, n), step, mesh);
}
int sonde_embedding(sonde_writer* w, const char* name, int64_t step, const sonde_array* vectors,
                    const char* const* header, const char* const* cells, size_t columns,
                    const sonde_array* images) {
  sonde::Embedding embedding;
  if (name != nullptr) embedding.name = name;
  embedding.vectors = view(*vectors);
  embedding.images = view(images);
  embedding.step = step;
  if (header != nullptr)
    for (const char* title : std::span(header, columns))
      embedding.metadata_header.emplace_back(text(title));
  const int64_t rows = embedding.vectors.shape.empty() ? 0 : embedding.vectors.shape[0];
  for (int64_t row = 0; columns > 0 && row < rows; ++row) {
    auto& into = embedding.metadata.emplace_back();
    for (const char* cell : std::span(cells + static_cast<size_t>(row) * columns, columns))
      into.emplace_back(text(cell));
  }
  return w->writer.embedding(embedding);
}

int sonde_summary(sonde_writer* w, const void* summary, size_t length, int64_t step,
                  double wall_time) {
  const sonde::Summary made{std::string(text(static_cast<const char*>(summary), length)), {}};
  return w->writer.add(made, step,
                       wall_time > 0 ? sonde::Writer::Time(wall_time) : sonde::Writer::Time());
}
int sonde_event(sonde_writer* w, const void* event, size_t length) {
  return w->writer.add_event(text(static_cast<const char*>(event), length));
}

size_t sonde_problem(const sonde_writer* w, char* out, size_t size) {
  const std::string problem = w->writer.problem();
  if (out != nullptr && size > 0) {
    const size_t n = std::min(problem.size(), size - 1);
    problem.copy(out, n);
    out[n] = 0;
  }
  return problem.size();
}
uint64_t sonde_dropped(const sonde_writer* w) { return w->writer.dropped(); }
const char* sonde_version(void) { return SONDE_VERSION; }

}  // extern "C"
