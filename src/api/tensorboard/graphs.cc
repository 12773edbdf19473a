// TensorBoard's graphs plug-in: which graphs there are, and each as protobuf text.

#include "api/tensorboard/areas.h"
#include "api/tensorboard/shared.h"
#include "graph/graph_def.h"
#include "graph/keras.h"
#include "graph/pbtxt.h"
#include "log/event/blob.h"

namespace sonde::api::tensorboard {
namespace {

constexpr std::string_view kRunGraph = "graphs";
constexpr std::string_view kTaggedRunMetadata = "graph_tagged_run_metadata";
constexpr std::string_view kRunMetadata = "graph_run_metadata";
constexpr std::string_view kRunMetadataGraph = "graph_run_metadata_graph";
constexpr std::string_view kKerasModel = "graph_keras_model";

bool is_kind(const store::Series& series, std::string_view plugin) {
  return belongs(series, store::DataClass::kBlobSequence, plugin);
}

// These three state a version in their content; anything but 1 is not understood.
bool is_versioned_kind(const store::Series& series, std::string_view plugin) {
  return is_kind(series, plugin) && series.metadata().content == "1";
}

struct TagInfo {
  bool has_conceptual = false, has_graph = false, has_profile = false;
};

Answer info(const Context& context, const Request&) {
  const auto snapshot = context.store.snapshot();
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    for (const auto& run : snapshot->runs) {
      std::vector<std::pair<std::string, TagInfo>> tags;
      bool has_run_graph = false;
      for (const auto& series : run->series) {
        TagInfo found;
        found.has_conceptual = is_versioned_kind(*series, kKerasModel);
        found.has_graph = is_versioned_kind(*series, kRunMetadataGraph) ||
                          is_versioned_kind(*series, kRunMetadata);
        found.has_profile =
            is_versioned_kind(*series, kRunMetadata) || is_kind(*series, kTaggedRunMetadata);
        if (found.has_conceptual || found.has_graph || found.has_profile) {
          tags.emplace_back(series->tag(), found);
        }
        has_run_graph =
            has_run_graph || (is_kind(*series, kRunGraph) && series->tag() == event::kRunGraphTag);
      }
      if (tags.empty() && !has_run_graph) continue;
      json.key(run->name).object([&] {
        json.key("run").string(run->name);
        json.key("tags").object([&] {
          for (const auto& [tag, found] : tags) {
            json.key(tag).object([&] {
              json.key("tag").string(tag);
              json.key("conceptual_graph").boolean(found.has_conceptual);
              json.key("op_graph").boolean(found.has_graph);
              json.key("profile").boolean(found.has_profile);
            });
          }
        });
        json.key("run_graph").boolean(has_run_graph);
      });
    }
  });
  return Answer::json(std::move(out));
}

// The bytes of the newest value of a series, which TensorBoard's page shows.
Result<std::string> newest_bytes(const Context& context, const store::Series& series) {
  const auto points = query::blob_points_by_step(series);
  if (points.empty()) return fail(Code::kNotFound, "the series is empty");
  std::string payload;
  SONDE_TRY(const value, read_value(context, points.back().where, payload));
  SONDE_TRY(const sequence, event::blob_sequence(value, series.metadata().plugin));
  if (sequence.items.empty()) return fail(Code::kNotFound, "the value is empty");
  return std::string(sequence.items[0]);
}

// A serialized GraphDef.
Result<std::string> graph_bytes(const Context& context, const store::RunSnapshot& run,
                                std::optional<std::string_view> tag, bool is_conceptual) {
  const store::Series* series = run.find(tag && !tag->empty() ? *tag : event::kRunGraphTag);
  if (!series) return fail(Code::kNotFound, "no such graph");
  if (is_conceptual) {
    if (!is_kind(*series, kKerasModel)) return fail(Code::kNotFound, "no such conceptual graph");
    SONDE_TRY(const model, newest_bytes(context, *series));
    return graph::keras_to_graph(model);
  }
  if (!tag || tag->empty()) {
    if (!is_kind(*series, kRunGraph)) return fail(Code::kNotFound, "no such graph");
    return newest_bytes(context, *series);
  }
  if (!is_kind(*series, kRunMetadata) && !is_kind(*series, kRunMetadataGraph)) {
    return fail(Code::kNotFound, "no such graph");
  }
  SONDE_TRY(const metadata, newest_bytes(context, *series));
  return graph::graph_of_run_metadata(as_bytes(metadata));
}

Answer text_answer(Result<std::string> text) {
  if (!text)
    return text.error().code == Code::kNotFound ? plain_error(404, "Not found")
                                                : failed(text.error());
  Answer answer;
  answer.content_type = "text/x-protobuf; charset=utf-8";
  answer.body = std::move(*text);
  return answer;
}

Answer graph_text(const Context& context, const Request& request) {
  const auto run_name = request.param("run");
  if (!run_name) return bad_request("query parameter \"run\" is required");
  const auto limit_text = request.param("limit_attr_size");
  std::optional<int64_t> limit;
  const auto key = request.param("large_attrs_key");
  if (limit_text) {
    limit = integer_of(*limit_text);
    if (!limit) return bad_request("query parameter `limit_attr_size` must be an integer");
    if (*limit <= 0) return bad_request("query parameter `limit_attr_size` must be greater than 0");
    if (!key) return bad_request("query parameter `limit_attr_size` needs `large_attrs_key`");
  }
  const auto snapshot = context.store.snapshot();
  const store::RunSnapshot* run = snapshot->find(*run_name);
  if (!run) return plain_error(404, "Not found");
  auto bytes =
      graph_bytes(context, *run, request.param("tag"), request.param("conceptual") == "true");
  if (bytes && limit) {
    bytes = graph::without_large_attributes(as_bytes(*bytes), static_cast<uint64_t>(*limit), *key);
  }
  if (!bytes) return text_answer(std::move(bytes));
  return text_answer(graph::to_pbtxt(as_bytes(*bytes), graph::kGraphDef));
}

Answer run_metadata(const Context& context, const Request& request) {
  const auto run_name = request.param("run");
  const auto tag = request.param("tag");
  if (!tag) return bad_request("query parameter \"tag\" is required");
  if (!run_name) return bad_request("query parameter \"run\" is required");
  const auto snapshot = context.store.snapshot();
  const store::RunSnapshot* run = snapshot->find(*run_name);
  const store::Series* series = run ? run->find(*tag) : nullptr;
  if (!series || (!is_kind(*series, kTaggedRunMetadata) && !is_kind(*series, kRunMetadata))) {
    return plain_error(404, "Not found");
  }
  const auto bytes = newest_bytes(context, *series);
  if (!bytes) return text_answer(bytes);
  return text_answer(graph::to_pbtxt(as_bytes(*bytes), graph::kRunMetadata));
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/graphs/info", info},
    {"*", "/data/plugin/graphs/graph", graph_text},
    {"*", "/data/plugin/graphs/run_metadata", run_metadata},
};

}  // namespace

std::span<const Route> graphs_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
