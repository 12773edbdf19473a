// GET embeddings and what belongs to one: columns of metadata, vectors, neighbours, sprite,
// bookmarks; POST embeddings for vectors that a user drops on the page.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "api/services/embedding_source.h"
#include "api/services/job_request.h"
#include "api/v1/area.h"
#include "api/v1/support.h"
#include "base/bytes.h"
#include "embed/neighbours.h"
#include "image/sniff.h"
#include "log/query/series/column_file.h"

namespace sonde::api::v1 {
namespace {

constexpr std::string_view kPrefix = "/api/v1/embeddings/";
constexpr uint64_t kMaxVectorBytes = uint64_t{256} << 20;  // of one answer
constexpr int64_t kMaxNeighbours = 10000;

void write_entry(JsonWriter& json, const EmbeddingEntry& entry) {
  json.key("id").string(entry.id);
  json.key("run").string(entry.run);
  json.key("name").string(entry.name);
  json.key("kind").string(entry.kind);
  json.key("shape").array([&] {
    for (const uint32_t size : entry.shape) json.number(size);
  });
  json.key("path").string(entry.tensor_path);
  json.key("metadata").string(entry.metadata_path);
  if (!entry.sprite_path.empty() && entry.sprite_size.size() == 2) {
    json.key("sprite").object([&] {
      json.key("path").string(entry.sprite_path);
      json.key("width").number(entry.sprite_size[0]);
      json.key("height").number(entry.sprite_size[1]);
    });
  }
  json.key("bookmarks").boolean(!entry.bookmarks_path.empty());
  if (!entry.problem.empty()) json.key("problem").string(entry.problem);
}

Answer list(const Context& context, const Request&) {
  const EmbeddingList all = embedding_list(context);
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("embeddings").array([&] {
      for (const EmbeddingEntry& entry : all.entries)
        json.object([&] { write_entry(json, entry); });
    });
    json.key("problems").array([&] {
      for (const auto& [run, text] : all.problems) {
        json.object([&] {
          json.key("run").string(run);
          json.key("text").string(text);
        });
      }
    });
  });
  return json_answer(context, context.store.snapshot()->revision, std::move(body));
}

void write_column(JsonWriter& json, const embed::LabelColumn& column) {
  json.key("name").string(column.name);
  json.key("type").string(column.is_number ? "number" : "text");
  json.key("distinct").number(static_cast<uint64_t>(column.words.size()));
  if (!column.is_number) return;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double value : column.numbers) {
    least = std::min(least, value);  // NaN, where there is no value, is never smaller
    most = std::max(most, value);
  }
  json.key("min").number(least);
  json.key("max").number(most);
}

Answer describe(const Context& context, const LoadedEmbedding& embedding) {
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    write_entry(json, embedding.entry);
    json.key("columns").array([&] {
      for (const auto& column : embedding.labels.columns)
        json.object([&] { write_column(json, column); });
    });
    json.key("warnings").array([&] {
      for (const auto& warning : embedding.labels.warnings) json.string(warning);
    });
    json.key("non_finite").number(embedding.non_finite);
  });
  return json_answer(context, context.store.snapshot()->revision, std::move(body));
}

Answer column_answer(const Context& context, const Request& request,
                     const LoadedEmbedding& embedding) {
  SONDE_ANSWER(const name, text_param(request, "name"));
  const embed::LabelColumn* column = embedding.labels.find(name);
  if (!column)
    return error({Code::kNotFound, fmt::format("the metadata has no column '{}'", name)}, "name",
                 "GET embeddings/<id> lists its columns");
  std::vector<query::Column> columns;
  if (column->is_number) columns.push_back(query::Column::of("value", column->numbers));
  columns.push_back(query::Column::of("code", column->codes));
  std::string file = query::column_file(columns, [&](JsonWriter& json) {
    write_column(json, *column);
    json.key("words").array([&] {
      for (const std::string& word : column->words) json.string(word);
    });
  });
  return columns_answer(context.store.snapshot()->revision, std::move(file),
                        etag_of(context, fmt::format("column,{},{},{}", embedding.entry.id,
                                                     embedding.entry.mark, name)));
}

Answer vectors(const Context& context, const Request& request, const LoadedEmbedding& embedding) {
  const embed::projector::Matrix& matrix = *embedding.matrix;
  SONDE_ANSWER(const from, integer_param(request, "from", 0));
  SONDE_ANSWER(const count, integer_param(request, "count", static_cast<int64_t>(matrix.rows)));
  if (from < 0 || count < 0 || static_cast<uint64_t>(from) > matrix.rows)
    return error({Code::kInvalid, "'from' and 'count' must name rows that are there"}, "from");
  const uint64_t rows =
      std::min(static_cast<uint64_t>(count), matrix.rows - static_cast<uint64_t>(from));
  if (rows * matrix.columns * sizeof(float) > kMaxVectorBytes) {
    return error({Code::kTooLarge, fmt::format("{} rows are more than an answer holds; ask for at "
                                               "most {} with 'from' and 'count'",
                                               rows, kMaxVectorBytes / 4 / matrix.columns)});
  }
  const auto first = matrix.values.begin() + from * static_cast<int64_t>(matrix.columns);
  const std::vector<float> values(first, first + static_cast<int64_t>(rows * matrix.columns));
  std::string file =
      query::column_file({query::Column::of("vector", values)}, [&](JsonWriter& json) {
        json.key("from").safe_integer(from);
        json.key("rows").number(rows);
        json.key("dims").number(matrix.columns);
      });
  return columns_answer(context.store.snapshot()->revision, std::move(file),
                        etag_of(context, fmt::format("vectors,{},{},{},{}", embedding.entry.id,
                                                     embedding.entry.mark, from, rows)));
}

Answer neighbours(const Request& request, const LoadedEmbedding& embedding) {
  const embed::projector::Matrix& matrix = *embedding.matrix;
  SONDE_ANSWER(const body, object_of(request));
  SONDE_ANSWER(const asked_row, integer_param(request, "i", -1));
  SONDE_ANSWER(const asked_count, integer_param(request, "k", 100));
  SONDE_ANSWER(const row, integer_in(body, "i", asked_row));
  SONDE_ANSWER(const count, integer_in(body, "k", asked_count));
  if (row < 0 || static_cast<uint64_t>(row) >= matrix.rows)
    return error({Code::kInvalid, fmt::format("'i' must name one of the {} rows", matrix.rows)},
                 "i");
  if (count < 1 || count > kMaxNeighbours)
    return error({Code::kInvalid, fmt::format("'k' must lie between 1 and {}", kMaxNeighbours)},
                 "k");
  SONDE_ANSWER(const metric_name,
               text_in(body, "metric", request.param("metric").value_or("cosine")));
  SONDE_ANSWER(const metric, metric_of(metric_name));
  SONDE_ANSWER(const subset, rows_in(body, "subset", matrix.rows));
  const embed::RowsView rows{matrix.values.data(), matrix.rows, matrix.columns};
  const embed::Neighbours found = embed::neighbours_of(
      rows, static_cast<size_t>(row), {.k = static_cast<size_t>(count), .metric = metric}, subset);
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("i").safe_integer(row);
    json.key("metric").string(metric_name);
    json.key("exact").boolean(true);
    json.key("ids").array([&] {
      for (const uint32_t id : found.ids) json.number(id);
    });
    json.key("distances").array([&] {
      for (const float distance : found.distances) json.number(distance);
    });
  });
  return Answer::json(std::move(out));
}

Answer file_answer(std::string bytes, std::string type) {
  Answer answer;
  answer.content_type = std::move(type);
  answer.body = std::move(bytes);
  answer.csp = "sandbox";
  return answer;
}

Answer sprite(const EmbeddingEntry& entry) {
  SONDE_ANSWER(bytes, embedding_file(entry, entry.sprite_path, "sprite"));
  const auto header = image::sniff(as_bytes(bytes));
  if (!header) return error({Code::kCorrupt, fmt::format("{} is no image", entry.sprite_path)});
  return file_answer(std::move(bytes), std::string(header->mime));
}

Answer bookmarks(const EmbeddingEntry& entry) {
  SONDE_ANSWER(bytes, embedding_file(entry, entry.bookmarks_path, "bookmarks"));
  if (const auto parsed = read_json(bytes); !parsed)
    return error({Code::kCorrupt, entry.bookmarks_path + ": " + parsed.error().text});
  return file_answer(std::move(bytes), "application/json");
}

Answer one(const Context& context, const Request& request) {
  const std::string_view path = std::string_view(request.path).substr(kPrefix.size());
  const std::string_view id = path.substr(0, path.find('/'));
  const std::string_view what = path.substr(std::min(path.size(), id.size() + 1));
  if (what == "sprite" || what == "bookmarks") {
    SONDE_ANSWER(const entry, embedding_entry(context, id));
    return what == "sprite" ? sprite(entry) : bookmarks(entry);
  }
  SONDE_ANSWER(const embedding, loaded_embedding(context, id));
  if (what.empty()) return describe(context, *embedding);
  if (what == "column") return column_answer(context, request, *embedding);
  if (what == "vectors") return vectors(context, request, *embedding);
  if (what == "neighbours") return neighbours(request, *embedding);
  return error({Code::kNotFound, "there is no such route"}, request.path);
}

std::string name_param(const Request& request) {
  const auto name = request.param("name").value_or("");
  return std::string(name.empty() ? "uploaded vectors" : name.substr(0, 200));
}

Answer upload(const Context& context, const Request& request) {
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  SONDE_ANSWER(const dims, integer_param(request, "dims", 0));
  if (dims < 0) return error({Code::kInvalid, "'dims' is negative"}, "dims");
  SONDE_ANSWER(const content, request.content());
  SONDE_ANSWER(id,
               keep_vectors(context, name_param(request), content, static_cast<uint64_t>(dims)));
  SONDE_ANSWER(const loaded, loaded_embedding(context, id));
  return describe(context, *loaded);
}

// POST embeddings/<id>/neighbours is a question; /metadata gives an upload its labels.
Answer post_one(const Context& context, const Request& request) {
  if (!request.path.ends_with("/metadata")) {
    if (request.path.ends_with("/neighbours")) return one(context, request);
    return error({Code::kNotFound, "there is no such route"}, request.path);
  }
  if (const auto allowed = may_write(request); !allowed) return error(allowed.error());
  std::string_view id = std::string_view(request.path).substr(kPrefix.size());
  id = id.substr(0, id.find('/'));
  SONDE_ANSWER(const content, request.content());
  if (const auto kept = keep_labels(context, id, content); !kept) return error(kept.error());
  SONDE_ANSWER(const loaded, loaded_embedding(context, id));
  return describe(context, *loaded);
}

constexpr Route kRoutes[] = {
    {"GET", "/api/v1/embeddings", list},
    {"POST", "/api/v1/embeddings", upload, kMaxUploadBytes},
    {"GET", "/api/v1/embeddings/*", one},
    {"POST", "/api/v1/embeddings/*", post_one, kMaxUploadBytes},
};

}  // namespace

std::span<const Route> embedding_routes() { return kRoutes; }

}  // namespace sonde::api::v1
