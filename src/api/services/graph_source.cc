#include "api/services/graph_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/services/upload_keeper.h"
#include "api/v1/support.h"
#include "graph/graph_def.h"
#include "graph/keras.h"
#include "log/event/blob.h"
#include "log/event/value.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kKeptUploads = 8, kKeptGraphs = 8;

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
    GraphCache& cache = context.services.graphs();
    const std::lock_guard lock(cache.mutex);
    for (const auto& upload : cache.uploads) {
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

Result<std::shared_ptr<const LoadedGraph>> parsed_graph(const Context& context,
                                                        const GraphEntry& entry,
                                                        const store::Series* metadata) {
  SONDE_TRY(bytes, graph_bytes(context, entry));
  SONDE_TRY(model, graph::read_model(std::move(bytes)));
  auto loaded = std::make_shared<LoadedGraph>();
  loaded->entry = entry;
  loaded->hierarchy = graph::build_hierarchy(model);
  loaded->model = std::move(model);
  if (metadata) {
    SONDE_TRY(stats, newest(context, *metadata));
    SONDE_TRY(count, graph::add_run_metadata(as_bytes(stats), loaded->model, loaded->hierarchy));
    loaded->stats = count;
  }
  return std::shared_ptr<const LoadedGraph>(std::move(loaded));
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
  GraphCache& cache = context.services.graphs();
  const std::lock_guard lock(cache.mutex);
  for (const auto& upload : cache.uploads)
    entries.push_back({upload.id, "", upload.name, "upload", {}, 0});
  return entries;
}

Result<std::shared_ptr<const LoadedGraph>> loaded_graph(const Context& context, std::string_view id,
                                                        std::string_view metadata) {
  const auto entries = graph_entries(context);
  const auto found = std::ranges::find(entries, id, &GraphEntry::id);
  if (found == entries.end())
    return fail(Code::kNotFound, fmt::format("there is no graph '{}'; GET graphs lists them", id));
  const auto snapshot = context.store.snapshot();
  const store::Series* stats = nullptr;
  if (!metadata.empty()) {
    SONDE_TRY(tag, find_series(*snapshot, found->run, metadata));
    stats = tag.series;
  }
  const uint64_t mark = found->revision + (stats ? stats->revision() << 32 : 0);
  GraphCache& cache = context.services.graphs();
  const auto is_wanted = [&](const GraphCache::Parsed& one) {
    return one.id == id && one.metadata == metadata;
  };
  {
    const std::lock_guard lock(cache.mutex);
    const auto kept = std::ranges::find_if(cache.parsed, is_wanted);
    if (kept != cache.parsed.end() && kept->mark == mark) {
      cache.parsed.splice(cache.parsed.begin(), cache.parsed, kept);
      return kept->graph;
    }
  }
  SONDE_TRY(loaded, parsed_graph(context, *found, stats));
  const std::lock_guard lock(cache.mutex);
  std::erase_if(cache.parsed, is_wanted);
  cache.parsed.push_front({std::string(id), std::string(metadata), mark, loaded});
  if (cache.parsed.size() > kKeptGraphs) cache.parsed.pop_back();
  return loaded;
}

std::string keep_upload(const Context& context, std::string name, std::string graph_def) {
  GraphCache& cache = context.services.graphs();
  std::string id = fmt::format("{:016x}", hash_of(graph_def));
  context.services.uploads().note_upload();
  const std::lock_guard lock(cache.mutex);
  for (const auto& upload : cache.uploads) {
    if (upload.id == id) return id;
  }
  cache.uploads.push_back({id, std::move(name), std::move(graph_def)});
  if (cache.uploads.size() > kKeptUploads) cache.uploads.pop_front();
  return id;
}

}  // namespace sonde::api::v1
