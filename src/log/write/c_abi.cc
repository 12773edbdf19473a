// The C face: converts and nothing else.
#include <algorithm>
#include <cstring>

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
