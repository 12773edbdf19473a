// sonde::Writer: one run directory, one sink, and the list of embeddings written so far. Only the
// scalar paths encode by hand, because they are the ones called a million times.
#include "sonde/writer.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <set>

#include "codec/fields/event.h"
#include "codec/wire.h"
#include "log/write/folder.h"
#include "log/write/outbox.h"
#include "log/write/projector.h"
#include "log/write/scalar_record.h"
#include "log/write/sink.h"
#include "log/write/wall_clock.h"

namespace sonde {

struct Writer::Impl {
  explicit Impl(writer::SinkOptions options, std::shared_ptr<writer::Outbox> uploads,
                std::function<void(const std::string&)> complain)
      : on_problem(std::move(complain)), outbox(std::move(uploads)), sink(std::move(options)) {}
  ~Impl() { close(); }

  void close() {
    sink.close();
    if (outbox) outbox->close();
  }

  // One line a kind of trouble: a training loop would repeat it for ever.
  bool refuse(const std::string& problem) {
    std::lock_guard lock(mutex);
    ++refused;
    last_problem = problem;
    if (!told.insert(problem).second || told.size() > 100) return false;
    if (on_problem) {
      on_problem(problem);
    } else {
      fmt::print(stderr, "sonde: logging: {}\n", problem);
    }
    return false;
  }

  std::function<void(const std::string&)> on_problem;
  std::mutex mutex;  // guards: told, last_problem, refused, embeddings
  std::set<std::string> told;
  std::string last_problem;
  uint64_t refused = 0;
  std::vector<writer::ProjectorEntry> embeddings;
  std::shared_ptr<writer::Outbox> outbox;  // of a folder that is in a store
  writer::Sink sink;
};

namespace {

writer::SinkOptions sink_options(const std::string& folder, const WriterOptions& options,
                                 std::shared_ptr<writer::Outbox>& outbox) {
  writer::SinkOptions sink;
  if (writer::is_store(folder)) {
    if (auto made = writer::Outbox::make(folder, options.on_problem)) {
      outbox = *std::move(made);
      sink.file.folder = outbox->folder();
      sink.file.on_open = [box = outbox.get()] { box->begin(); };
    } else {
      sink.file.folder = folder;
      sink.file.refused = made.error().text;
    }
  } else if (auto local = writer::local_folder(folder)) {
    sink.file.folder = *std::move(local);
  } else {
    sink.file.folder = folder;
    sink.file.refused = local.error().text;
  }
  sink.file.suffix = options.filename_suffix;
  sink.file.source = options.source;
  sink.file.has_purge = options.purge_step.has_value();
  sink.file.purge_step = options.purge_step.value_or(0);
  sink.file.whole_second_header = options.whole_second_header;
  sink.flush_interval_s = options.flush_interval_s;
  sink.max_buffer_bytes = options.max_buffer_bytes;
  sink.when_full = options.when_full == WriterOptions::WhenFull::kWait ? writer::WhenFull::kWait
                                                                       : writer::WhenFull::kDrop;
  sink.on_problem = options.on_problem;
  sink.wait_with = options.wait_with;
  return sink;
}

double time_of(const Writer::Time& wall_time) {
  return wall_time ? *wall_time : writer::wall_time_now();
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): the signature is part of the ABI
Writer::Writer(const std::string& folder, WriterOptions options)
    : impl_([&] {
        std::shared_ptr<writer::Outbox> outbox;
        auto sink = sink_options(folder, options, outbox);
        return std::make_unique<Impl>(std::move(sink), std::move(outbox), options.on_problem);
      }()) {
  if (options.create_now) impl_->sink.open();
}
Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

bool Writer::scalar_at(std::string_view tag, int64_t step, double value, Time wall_time) {
  const writer::ScalarRecord record(tag, step, value);
  return impl_->sink.append(record.size(), [&](char* at, writer::WallClock& clock) {
    record.write(at, wall_time ? *wall_time : clock.now());
  });
}

bool Writer::scalars(int64_t step, std::span<const std::pair<std::string_view, double>> values,
                     Time wall_time) {
  Summary all;
  for (const auto& [tag, value] : values) writer::add_scalar_value(all.bytes, tag, value);
  return add(all, step, wall_time);
}

bool Writer::add(const Summary& summary, int64_t step, Time wall_time) {
  if (!summary.ok()) return impl_->refuse(summary.problem);
  std::string event;
  event.reserve(summary.bytes.size() + 32);
  wire::Encoder out(event);
  out.real(fields::Event::kWallTime, time_of(wall_time));
  if (step != 0) out.varint(fields::Event::kStep, static_cast<uint64_t>(step));
  out.bytes(fields::Event::kSummary, summary.bytes);
  return impl_->sink.append(event);
}

bool Writer::add_event(std::string_view event) { return impl_->sink.append(event); }

bool Writer::graph(std::string_view graph_def) {
  std::string event;
  wire::Encoder out(event);
  out.real(fields::Event::kWallTime, writer::wall_time_now());
  out.bytes(fields::Event::kGraphDef, graph_def);
  return impl_->sink.append(event);
}

bool Writer::run_metadata(std::string_view tag, std::string_view run_metadata, int64_t step) {
  std::string event;
  wire::Encoder out(event);
  out.real(fields::Event::kWallTime, writer::wall_time_now());
  if (step != 0) out.varint(fields::Event::kStep, static_cast<uint64_t>(step));
  out.message(fields::Event::kTaggedRunMetadata, [&](wire::Encoder& tagged) {
    tagged.bytes(fields::TaggedRunMetadata::kTag, tag);
    tagged.bytes(fields::TaggedRunMetadata::kRunMetadata, run_metadata);
  });
  return impl_->sink.append(event);
}

bool Writer::embedding(const Embedding& embedding) {
  auto entry = writer::write_embedding(impl_->sink.folder(), embedding);
  if (!entry)
    return impl_->refuse(fmt::format("embedding '{}': {}", embedding.name, entry.error().text));
  Result<void> listed;
  {
    std::lock_guard lock(impl_->mutex);
    auto& all = impl_->embeddings;
    std::erase_if(all, [&](const auto& old) { return old.tensor_name == entry->tensor_name; });
    all.push_back(std::move(*entry));
    listed = writer::write_projector_config(impl_->sink.folder(), all);
  }
  if (!listed) return impl_->refuse(listed.error().text);
  return true;
}

bool Writer::flush(bool sync) {
  return impl_->sink.flush(sync ? writer::Sink::Sync::kYes : writer::Sink::Sync::kNo);
}
void Writer::close() { impl_->close(); }

const std::string& Writer::folder() const {
  return impl_->outbox ? impl_->outbox->address() : impl_->sink.folder();
}
std::string Writer::path() const { return impl_->sink.path(); }

std::string Writer::problem() const {
  std::string disk = impl_->sink.state().problem;
  if (!disk.empty()) return disk;
  std::lock_guard lock(impl_->mutex);
  return impl_->last_problem;
}

uint64_t Writer::dropped() const {
  const uint64_t at_sink = impl_->sink.state().dropped;
  std::lock_guard lock(impl_->mutex);
  return at_sink + impl_->refused;
}

}  // namespace sonde
