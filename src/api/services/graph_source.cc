#include "api/services/graph_source.h"

#include <fmt/format.h>

#include <deque>
#include <mutex>

#include "api/v1/support.h"
#include "graph/graph_def.h"
#include "graph/keras.h"
#include "log/event/blob.h"
#include "log/event/value.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kKeptUploads = 8;

struct Uploads {
  struct Upload {
    std::string id, name, bytes;
  };
  std::mutex mutex;  // guards: kept
  std::deque<Upload> kept;
};

Uploads& uploads(const Context& context) {
  const auto kept = context.memo->get<std::shared_ptr<Uploads>>(
      "graph uploads", 0,
      [](const std::shared_ptr<Uploads>*) { return std::make_shared<Uploads>(); });
  return **kept;
}

std::string id_of(std::string_view run, std::string_view tag, std::string_view kind) {
  return fmt::format("{:016x}", hash_of(fmt::format("{}\x1f{}\x1f{}", run, tag, kind)));
}

bool has_plugin(const store::Series& series, std::string_view plugin) {
  return series.metadata().plugin == plugin;
}

Result<std::string> newest(const Context& context, const store::Series& series) {
  const auto points = points_of(series, store::View::kNewest);
  if (points.empty())
    return fail(Code::kNotFound, fmt::format("tag '{}' holds no graph", series.tag()));
  SONDE_TRY(payload, context.store.blobs().event(points.back().where));
  SONDE_TRY(sequence, event::blob_sequence(as_bytes(payload), points.back().where.value,
                                           series.metadata().plugin));
  if (sequence.items.empty())
    return fail(Code::kNotFound, fmt::format("tag '{}' holds no graph", series.tag()));
  return std::string(sequence.items[0]);
}

Result<std::string> graph_bytes(const Context& context, const GraphEntry& entry) {
  if (entry.kind == "upload") {
    Uploads& all = uploads(context);
    const std::lock_guard lock(all.mutex);
    for (const auto& upload : all.kept) {
      if (upload.id == entry.id) return upload.bytes;
    }
    return fail(Code::kNotFound, "the uploaded graph is no longer kept; upload it again");
  }
  const auto snapshot = context.store.snapshot();
  SONDE_TRY(found,
            find_series(*snapshot, entry.run,
                        entry.tag.empty() ? event::kRunGraphTag : std::string_view(entry.tag)));
  SONDE_TRY(bytes, newest(context, *found.series));
  if (entry.kind == "conceptual") return graph::keras_to_graph(bytes);
  if (entry.tag.empty()) return bytes;
  return graph::graph_of_run_metadata(as_bytes(bytes));
}

}  // namespace

std::vector<GraphEntry> graph_entries(const Context& context) {
  std::vector<GraphEntry> entries;
  const auto snapshot = context.store.snapshot();
  for (const auto& run : snapshot->runs) {
    std::vector<std::string> metadata;
    const size_t first = entries.size();
    for (const auto& series : run->series) {
      const auto add = [&](std::string_view tag, std::string_view kind) {
        entries.push_back({id_of(run->name, tag, kind),
                           run->name,
                           std::string(tag),
                           std::string(kind),
                           {},
                           series->revision()});
      };
      if (has_plugin(*series, "graphs") && series->tag() == event::kRunGraphTag) add("", "op");
      if (has_plugin(*series, "graph_run_metadata_graph") ||
          has_plugin(*series, "graph_run_metadata"))
        add(series->tag(), "op");
      if (has_plugin(*series, "graph_keras_model")) add(series->tag(), "conceptual");
      if (has_plugin(*series, "graph_tagged_run_metadata") ||
          has_plugin(*series, "graph_run_metadata"))
        metadata.push_back(series->tag());
    }
    for (size_t i = first; i < entries.size(); ++i) {
      if (entries[i].kind == "op") entries[i].metadata = metadata;
    }
  }
  Uploads& all = uploads(context);
  const std::lock_guard lock(all.mutex);
  for (const auto& upload : all.kept)
    entries.push_back({upload.id, "", upload.name, "upload", {}, 0});
  return entries;
}

Result<std::shared_ptr<const LoadedGraph>> loaded_graph(const Context& context, std::string_view id,
                                                        std::string_view metadata) {
  const GraphEntry* found = nullptr;
  const auto entries = graph_entries(context);
  for (const GraphEntry& entry : entries) {
    if (entry.id == id) found = &entry;
  }
  if (!found)
    return fail(Code::kNotFound, fmt::format("there is no graph '{}'; GET graphs lists them", id));
  using Loaded = Result<std::shared_ptr<const LoadedGraph>>;
  const std::string key = fmt::format("graph\x1f{}\x1f{}", id, metadata);
  return *context.memo->get<Loaded>(key, found->revision, [&](const Loaded*) -> Loaded {
    SONDE_TRY(bytes, graph_bytes(context, *found));
    SONDE_TRY(model, graph::read_model(std::move(bytes)));
    auto loaded = std::make_shared<LoadedGraph>();
    loaded->entry = *found;
    loaded->hierarchy = graph::build_hierarchy(model);
    loaded->model = std::move(model);
    if (!metadata.empty()) {
      const auto snapshot = context.store.snapshot();
      SONDE_TRY(tag, find_series(*snapshot, found->run, metadata));
      SONDE_TRY(stats, newest(context, *tag.series));
      SONDE_TRY(count, graph::add_run_metadata(as_bytes(stats), loaded->model, loaded->hierarchy));
      loaded->stats = count;
    }
    return loaded;
  });
}

std::string keep_upload(const Context& context, std::string name, std::string graph_def) {
  Uploads& all = uploads(context);
  std::string id = fmt::format("{:016x}", hash_of(graph_def));
  const std::lock_guard lock(all.mutex);
  for (const auto& upload : all.kept) {
    if (upload.id == id) return id;
  }
  all.kept.push_back({id, std::move(name), std::move(graph_def)});
  if (all.kept.size() > kKeptUploads) all.kept.pop_front();
  return id;
}

}  // namespace sonde::api::v1
