#include "api/services/embedding_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>

#include "api/services/embedding_sources.h"
#include "api/services/upload_keeper.h"
#include "api/v1/support.h"
#include "embed/files/vectors.h"
#include "io/file.h"

namespace sonde::api::v1 {
namespace {

namespace pj = embed::projector;
using Loaded = std::shared_ptr<const LoadedEmbedding>;

constexpr uint64_t kMaxAsset = uint64_t{1} << 30;
constexpr uint64_t kKeptBytes = uint64_t{1} << 30;  // of loaded tables, and again of uploads
constexpr size_t kKeptUploads = 8;

void trim(std::list<Loaded>& kept, size_t most) {
  uint64_t bytes = 0;
  size_t count = 0;
  for (auto at = kept.begin(); at != kept.end(); ++at) {
    bytes += (*at)->bytes();
    ++count;
    if (count == 1 || (count <= most && bytes <= kKeptBytes)) continue;
    kept.erase(at, kept.end());
    return;
  }
}

uint64_t mark_of_file(const pj::Source& source, const std::string& path) {
  if (path.empty()) return 0;
  const auto real = pj::asset(source, path);
  const auto stat = real ? io::stat_of(*real) : fail(real.error());
  return stat ? hash_of(fmt::format("{},{}", stat->size, stat->mtime_ns)) : 1;
}

uint64_t mark_of(const pj::Source& source, const pj::Embedding& embedding) {
  uint64_t mark = mark_of_file(source, embedding.metadata_path) * 3 +
                  mark_of_file(source, embedding.tensor_path);
  if (embedding.tensor_path.empty()) {
    const auto stat = io::stat_of(source.checkpoint + ".index");
    if (stat)
      mark += hash_of(fmt::format("{}{},{}", source.checkpoint, stat->size, stat->mtime_ns));
  }
  return mark;
}

EmbeddingEntry entry_of(const std::shared_ptr<const std::vector<pj::Source>>& sources,
                        const pj::Source& source, const pj::Embedding& embedding) {
  EmbeddingEntry entry;
  entry.id = fmt::format("{:016x}", hash_of(fmt::format("{}\x1f{}", source.run, embedding.name)));
  entry.run = source.run;
  entry.name = embedding.name;
  entry.kind = embedding.tensor_path.empty() ? "checkpoint" : "file";
  entry.tensor_path = embedding.tensor_path.empty() ? source.checkpoint : embedding.tensor_path;
  entry.metadata_path = embedding.metadata_path;
  entry.sprite_path = embedding.sprite_path;
  entry.bookmarks_path = embedding.bookmarks_path;
  entry.shape = embedding.shape;
  entry.sprite_size = embedding.sprite_size;
  entry.mark = mark_of(source, embedding);
  entry.sources = sources;
  entry.source = &source;
  if (embedding.shape.size() != 2) {
    constexpr uint64_t kRowsToTry = 100'000;  // enough to find the row that is wrong
    const auto read = pj::matrix(source, embedding.name, kRowsToTry);
    entry.problem = read ? "its shape is not known" : read.error().text;
  } else if (embedding.shape[0] < 2 || embedding.shape[1] < 2) {
    entry.problem = fmt::format("{} × {} numbers; a picture needs two points of two dimensions",
                                embedding.shape[0], embedding.shape[1]);
  }
  return entry;
}

// With metadata first, then more rows, then by name: the first is the one to show.
bool comes_first(const EmbeddingEntry& a, const EmbeddingEntry& b) {
  const auto rank = [](const EmbeddingEntry& e) {
    const bool is_slot = e.name.find("/Adagrad") != std::string::npos;
    const int64_t rows = e.shape.empty() ? 0 : e.shape[0];
    return std::tuple(!e.problem.empty(), e.metadata_path.empty(), is_slot, -rows);
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return std::tie(a.name, a.run) < std::tie(b.name, b.run);
}

Result<Loaded> load(const EmbeddingEntry& entry) {
  if (!entry.problem.empty()) return fail(Code::kCorrupt, entry.name + ": " + entry.problem);
  SONDE_TRY(matrix, pj::matrix(*entry.source, entry.name, 0));
  auto loaded = std::make_shared<LoadedEmbedding>();
  loaded->entry = entry;
  for (const float value : matrix.values) loaded->non_finite += !std::isfinite(value);
  loaded->matrix = std::make_shared<const pj::Matrix>(std::move(matrix));
  if (!entry.metadata_path.empty()) {
    const auto text = embedding_file(entry, entry.metadata_path, "metadata");
    if (text) {
      loaded->labels = embed::parse_labels(*text, loaded->matrix->rows);
    } else {
      loaded->labels.warnings.push_back(text.error().text);
    }
  }
  return loaded;
}

}  // namespace

uint64_t LoadedEmbedding::bytes() const {
  uint64_t sum = matrix ? matrix->values.size() * sizeof(float) : 0;
  for (const auto& column : labels.columns)
    sum += column.codes.size() * 4 + column.numbers.size() * 8 + column.words.size() * 48;
  return sum;
}

EmbeddingList embedding_list(const Context& context) {
  EmbeddingList list;
  const auto snapshot = context.store.snapshot();
  const auto sources = embedding_sources(context, *snapshot, Folders::kAll);
  for (const pj::Source& source : *sources) {
    for (const pj::Embedding& embedding : source.embeddings)
      list.entries.push_back(entry_of(sources, source, embedding));
    if (!source.problem.empty()) list.problems.emplace_back(source.run, source.problem);
  }
  std::stable_sort(list.entries.begin(), list.entries.end(), comes_first);
  EmbeddingCache& cache = context.services.embeddings();
  const std::lock_guard lock(cache.mutex);
  for (const Loaded& upload : cache.uploads) list.entries.push_back(upload->entry);
  return list;
}

Result<EmbeddingEntry> embedding_entry(const Context& context, std::string_view id) {
  for (EmbeddingEntry& entry : embedding_list(context).entries) {
    if (entry.id == id) return std::move(entry);
  }
  return fail(Code::kNotFound,
              fmt::format("there is no embedding '{}'; GET embeddings lists them", id));
}

Result<Loaded> loaded_embedding(const Context& context, std::string_view id) {
  SONDE_TRY(entry, embedding_entry(context, id));
  EmbeddingCache& cache = context.services.embeddings();
  {
    const std::lock_guard lock(cache.mutex);
    for (auto* list : {&cache.uploads, &cache.loaded}) {
      const auto found = std::find_if(list->begin(), list->end(), [&](const Loaded& l) {
        return l->entry.id == id && l->entry.mark == entry.mark;
      });
      if (found == list->end()) continue;
      list->splice(list->begin(), *list, found);
      return list->front();
    }
  }
  SONDE_TRY(made, load(entry));
  const std::lock_guard lock(cache.mutex);
  std::erase_if(cache.loaded, [&](const Loaded& l) { return l->entry.id == id; });
  cache.loaded.push_front(made);
  trim(cache.loaded, 16);
  return made;
}

Result<std::string> embedding_file(const EmbeddingEntry& entry, const std::string& path,
                                   std::string_view what) {
  if (path.empty() || !entry.source)
    return fail(Code::kNotFound, fmt::format("embedding '{}' has no {}", entry.name, what));
  SONDE_TRY(const real, pj::asset(*entry.source, path));
  auto bytes = io::read_file(real, kMaxAsset);
  if (!bytes) return fail(std::move(bytes.error()).in(fmt::format("{} of '{}'", what, entry.name)));
  return bytes;
}

Result<std::string> keep_vectors(const Context& context, std::string name, std::string_view bytes,
                                 uint64_t dims) {
  SONDE_TRY(vectors, embed::parse_vectors(bytes, dims));
  auto loaded = std::make_shared<LoadedEmbedding>();
  EmbeddingEntry& entry = loaded->entry;
  entry.mark = hash_of(bytes);
  entry.id = fmt::format("{:016x}", hash_of(fmt::format("upload\x1f{}\x1f{:x}", name, entry.mark)));
  entry.name = std::move(name);
  entry.kind = "upload";
  entry.shape = {static_cast<uint32_t>(vectors.matrix.rows),
                 static_cast<uint32_t>(vectors.matrix.columns)};
  for (const float value : vectors.matrix.values) loaded->non_finite += !std::isfinite(value);
  if (!vectors.labels.empty())
    loaded->labels.columns.push_back(embed::label_column("label", vectors.labels));
  loaded->matrix = std::make_shared<const pj::Matrix>(std::move(vectors.matrix));
  std::string id = entry.id;
  context.services.uploads().note_upload();
  EmbeddingCache& cache = context.services.embeddings();
  const std::lock_guard lock(cache.mutex);
  std::erase_if(cache.uploads, [&](const Loaded& l) { return l->entry.id == id; });
  cache.uploads.push_front(std::move(loaded));
  trim(cache.uploads, kKeptUploads);
  return id;
}

Result<void> keep_labels(const Context& context, std::string_view id, std::string_view text) {
  EmbeddingCache& cache = context.services.embeddings();
  Loaded before;
  {
    const std::lock_guard lock(cache.mutex);
    for (const Loaded& upload : cache.uploads) {
      if (upload->entry.id == id) before = upload;
    }
  }
  if (!before) {
    SONDE_TRY(entry, embedding_entry(context, id));
    return fail(Code::kForbidden, fmt::format("'{}' belongs to the log directory; metadata can be "
                                              "given to uploaded vectors",
                                              entry.name));
  }
  auto after = std::make_shared<LoadedEmbedding>(*before);
  after->labels = embed::parse_labels(text, after->matrix->rows);
  after->entry.mark = hash_of(text) ^ before->entry.mark;
  const std::lock_guard lock(cache.mutex);
  std::replace(cache.uploads.begin(), cache.uploads.end(), before, Loaded(after));
  return {};
}

}  // namespace sonde::api::v1
