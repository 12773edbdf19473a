// TensorBoard's projector plug-in: embeddings and the files beside them.
#include "embed/files/projector.h"

#include <algorithm>

#include "api/services/embedding_sources.h"
#include "api/tensorboard/areas.h"
#include "api/tensorboard/blobs.h"
#include "api/tensorboard/core.h"
#include "api/tensorboard/shared.h"
#include "io/file.h"

namespace sonde::api::tensorboard {
namespace {

namespace pj = embed::projector;
using Sources = std::vector<pj::Source>;

constexpr uint64_t kMaxAsset = uint64_t{1} << 30;

std::shared_ptr<const Sources> sources_of(const Context& context, const store::Snapshot& snapshot) {
  return embedding_sources(context, snapshot, Folders::kRuns);
}

Answer runs(const Context& context, const Request&) {
  const auto snapshot = context.store.snapshot();
  std::string out;
  JsonWriter json(out);
  json.array([&] {
    for (const pj::Source& source : *sources_of(context, *snapshot)) json.string(source.run);
  });
  return Answer::json(std::move(out));
}

void write(JsonWriter& json, const pj::Embedding& embedding) {
  const auto text = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) json.key(name).string(value);
  };
  const auto list = [&](std::string_view name, const std::vector<uint32_t>& values) {
    if (values.empty()) return;
    json.key(name).array([&] {
      for (const uint32_t value : values) json.number(value);
    });
  };
  json.object([&] {
    text("tensorName", embedding.name);
    text("metadataPath", embedding.metadata_path);
    text("bookmarksPath", embedding.bookmarks_path);
    list("tensorShape", embedding.shape);
    if (!embedding.sprite_path.empty() || !embedding.sprite_size.empty()) {
      json.key("sprite").object([&] {
        text("imagePath", embedding.sprite_path);
        list("singleImageDim", embedding.sprite_size);
      });
    }
    text("tensorPath", embedding.tensor_path);
  });
}

// What a request names. An answer when it is wrong.
struct Wanted {
  std::shared_ptr<const Sources> all;
  const pj::Source* source = nullptr;
  std::string name;
  uint64_t rows = 0;
};

enum class Rows { kIgnored, kRead };

std::optional<Answer> find_source(const Context& context, const Request& request, Wanted& wanted) {
  const auto run = request.param("run");
  const auto snapshot = context.store.snapshot();
  wanted.all = sources_of(context, *snapshot);
  for (const pj::Source& source : *wanted.all) {
    if (source.run == *run) wanted.source = &source;
  }
  if (wanted.source) return std::nullopt;
  return bad_request("Unknown run: \"" + std::string(*run) + "\"");
}

std::optional<Answer> resolve(const Context& context, const Request& request, Rows rows,
                              Wanted& wanted) {
  if (!request.param("run")) return bad_request("query parameter \"run\" is required");
  const auto name = request.param("name");
  if (!name) return bad_request("query parameter \"name\" is required");
  wanted.name = *name;
  const auto text = request.param("num_rows");
  if (rows == Rows::kRead && text && !text->empty()) {
    const auto number = integer_of(*text);
    if (!number || *number <= 0) return bad_request("query parameter num_rows must be integer > 0");
    wanted.rows = static_cast<uint64_t>(*number);
  }
  return find_source(context, request, wanted);
}

Answer info(const Context& context, const Request& request) {
  if (!request.param("run")) return bad_request("query parameter \"run\" is required");
  Wanted wanted;
  if (auto wrong = find_source(context, request, wanted)) return std::move(*wrong);
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    if (!wanted.source->checkpoint.empty())
      json.key("modelCheckpointPath").string(wanted.source->checkpoint);
    json.key("embeddings").array([&] {
      for (const pj::Embedding& embedding : wanted.source->embeddings) write(json, embedding);
    });
  });
  return Answer::json(std::move(out));
}

Answer tensor(const Context& context, const Request& request) {
  Wanted wanted;
  if (auto wrong = resolve(context, request, Rows::kRead, wanted)) return std::move(*wrong);
  const auto matrix = pj::matrix(*wanted.source, wanted.name, wanted.rows);
  if (!matrix) return bad_request(matrix.error().text);
  const auto* bytes = reinterpret_cast<const char*>(matrix->values.data());
  return blob(std::string(bytes, matrix->values.size() * sizeof(float)),
              "application/octet-stream");
}

// A file the config names for an embedding, or the answer that says why not.
Result<std::string> file_of(const Wanted& wanted, const std::string& path, std::string_view what) {
  if (path.empty()) {
    return fail(Code::kNotFound, "No " + std::string(what) + " file found for tensor \"" +
                                     wanted.name + "\" in the config file \"" +
                                     wanted.source->config_path + "\"");
  }
  SONDE_TRY(const real, pj::asset(*wanted.source, path));
  auto bytes = io::read_file(real, kMaxAsset);
  if (!bytes) return fail(Code::kNotFound, "\"" + real + "\" not found, or is not a file");
  return bytes;
}

// The first `rows` lines; a first line with a tab is a header and does not count.
std::string first_lines(const std::string& text, uint64_t rows) {
  if (rows == 0) return text;
  const size_t first_end = std::min(text.find('\n'), text.size());
  const bool has_header =
      std::string_view(text).substr(0, first_end).find('\t') != std::string_view::npos;
  uint64_t left = rows + (has_header ? 1 : 0);
  size_t at = 0;
  while (left > 0 && at < text.size()) {
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
    --left;
  }
  return text.substr(0, at);
}

Answer metadata(const Context& context, const Request& request) {
  Wanted wanted;
  if (auto wrong = resolve(context, request, Rows::kRead, wanted)) return std::move(*wrong);
  const pj::Embedding* embedding = wanted.source->find(wanted.name);
  auto text = file_of(wanted, embedding ? embedding->metadata_path : "", "metadata");
  if (!text) return bad_request(text.error().text);
  return blob(first_lines(*text, wanted.rows), "text/plain; charset=utf-8");
}

Answer bookmarks(const Context& context, const Request& request) {
  Wanted wanted;
  if (auto wrong = resolve(context, request, Rows::kIgnored, wanted)) return std::move(*wrong);
  const pj::Embedding* embedding = wanted.source->find(wanted.name);
  auto text = file_of(wanted, embedding ? embedding->bookmarks_path : "", "bookmarks");
  if (!text) return bad_request(text.error().text);
  return blob(std::move(*text), "application/json");
}

Answer sprite_image(const Context& context, const Request& request) {
  Wanted wanted;
  if (auto wrong = resolve(context, request, Rows::kIgnored, wanted)) return std::move(*wrong);
  const pj::Embedding* embedding = wanted.source->find(wanted.name);
  auto bytes = file_of(wanted, embedding ? embedding->sprite_path : "", "sprite image");
  if (!bytes) return bad_request(bytes.error().text);
  std::string type = image_type(*bytes);
  return blob(std::move(*bytes), std::move(type));
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/projector/runs", runs},
    {"*", "/data/plugin/projector/info", info},
    {"*", "/data/plugin/projector/tensor", tensor},
    {"*", "/data/plugin/projector/metadata", metadata},
    {"*", "/data/plugin/projector/bookmarks", bookmarks},
    {"*", "/data/plugin/projector/sprite_image", sprite_image},
};

}  // namespace

bool has_projector_data(const Context& context, const store::Snapshot& snapshot) {
  return !sources_of(context, snapshot)->empty();
}

std::span<const Route> projector_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
