// Logging from a training program: files that TensorBoard and Sonde read, from one call each.
//
//   sonde::Writer log("logs/run1");
//   for (int64_t step = 0; step < n; ++step) log.scalar("loss", step, loss);
//
// A call hands its record to a thread and returns; it never throws and never fails because of the
// disk. What was handed over is in the kernel's hands within a second (WriterOptions), at flush()
// and at the end of the Writer, so a killed program loses at most that second. Errors are reported
// once on stderr (or to on_problem) and on demand by problem(); training goes on. A call returns
// false when its record was refused: unusable data, or no room left in memory while the disk
// refuses. All calls are thread-safe. After fork() parent and child write to files of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/summary.h"

namespace sonde {

struct WriterOptions {
  double flush_interval_s = 1;                 // longest time a record waits in memory
  size_t max_buffer_bytes = size_t{64} << 20;  // records waiting for the disk
  enum class WhenFull : uint8_t { kWait, kDrop } when_full = WhenFull::kWait;  // of a healthy disk
  std::string filename_suffix = {};
  std::optional<int64_t> purge_step = {};  // readers drop what the run had from this step on
  std::function<void(const std::string&)> on_problem =
      {};  // from the logging thread; default: stderr
  // How a caller waits when the buffer is full; it must call what it is given. For bindings that
  // hold a lock of their interpreter during calls and have to give it up meanwhile.
  std::function<void(const std::function<void()>&)> wait_with = {};
  std::string source = "sonde";      // source_metadata.writer of the files
  bool create_now = true;            // false: no file before the first record
  bool whole_second_header = false;  // stamp the header as TensorFlow does
};

// One embedding for the projector: rows of floats with optional metadata and pictures.
struct Embedding {
  std::string name = "default";
  Array vectors;                                   // [n, d]
  std::vector<std::string> metadata_header;        // empty: one label a row
  std::vector<std::vector<std::string>> metadata;  // n rows
  std::optional<Array> images;                     // [n, h, w, c]: thumbnails of the points
  int64_t step = 0;
};

class Writer {
 public:
  explicit Writer(const std::string& folder, WriterOptions options = {});
  ~Writer();
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;

  // The time of an event is now unless `wall_time` (seconds since the epoch) says otherwise.
  using Time = std::optional<double>;

  bool scalar(std::string_view tag, int64_t step, double value) {
    return scalar_at(tag, step, value, {});
  }
  bool scalar_at(std::string_view tag, int64_t step, double value, Time wall_time);
  // Several tags of one step in one record.
  bool scalars(int64_t step, std::span<const std::pair<std::string_view, double>> values,
               Time wall_time = {});

  bool histogram(std::string_view tag, int64_t step, const Array& data, int buckets = 30) {
    return add(summary::histogram(tag, data, buckets), step);
  }
  bool image(std::string_view tag, int64_t step, const Array& pixels, int max_outputs = 3) {
    return add(summary::image(tag, pixels, max_outputs), step);
  }
  bool video(std::string_view tag, int64_t step, const Array& frames, double frames_per_s = 4) {
    return add(summary::video(tag, frames, frames_per_s), step);
  }
  bool audio(std::string_view tag, int64_t step, const Array& samples, int sample_rate) {
    return add(summary::audio(tag, samples, sample_rate), step);
  }
  bool text(std::string_view tag, int64_t step, std::string_view markdown) {
    return add(summary::text(tag, markdown), step);
  }
  bool tensor(std::string_view tag, int64_t step, const Array& data, const Plugin& plugin = {}) {
    return add(summary::tensor(tag, data, plugin), step);
  }
  bool pr_curve(std::string_view tag, int64_t step, const summary::PrCurveData& data) {
    return add(summary::pr_curve(tag, data), step);
  }
  bool mesh(std::string_view tag, int64_t step, const Mesh& mesh) {
    return add(summary::mesh(tag, mesh), step);
  }
  bool custom_scalars(std::span<const ChartCategory> layout) {
    return add(summary::custom_scalars(layout), 0);
  }
  bool hparams_config(const HParamsConfig& config) {
    return add(summary::hparams_config(config), 0);
  }
  bool session_start(const SessionStart& start) { return add(summary::session_start(start), 0); }
  bool session_end(SessionStatus status, double end_secs) {
    return add(summary::session_end(status, end_secs), 0);
  }

  // GraphDef bytes, from summary::graph_def or a framework.
  bool graph(std::string_view graph_def);
  bool run_metadata(std::string_view tag, std::string_view run_metadata, int64_t step = 0);
  // Writes tensors.bytes, metadata.tsv and sprite.png below the run and lists them, with all
  // embeddings this Writer wrote before, in its projector_config.pbtxt.
  bool embedding(const Embedding& embedding);

  // A finished Summary, or a whole Event message as some framework serialized it.
  bool add(const Summary& summary, int64_t step, Time wall_time = {});
  bool add_event(std::string_view event);

  // True when everything logged before the call is in the kernel's hands; with sync on the device.
  bool flush(bool sync = false);
  void close();  // a later call opens a new file

  const std::string& folder() const;
  std::string path() const;     // of the file being written
  std::string problem() const;  // empty when all is well
  uint64_t dropped() const;     // records that were refused

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sonde
