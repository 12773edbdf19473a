// The embeddings of a log directory and of uploads, found by id and kept in memory while they are
// looked at.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "embed/files/labels.h"
#include "embed/files/projector.h"

namespace sonde::api::v1 {

struct EmbeddingEntry {
  std::string id;   // stable for the same run and name
  std::string run;  // empty: an upload
  std::string name;
  std::string kind;  // "file", "checkpoint" or "upload"
  std::string tensor_path, metadata_path, sprite_path, bookmarks_path;  // as the config states them
  std::vector<uint32_t> shape;        // rows, columns; empty when unknown
  std::vector<uint32_t> sprite_size;  // of one image
  std::string problem;                // why it cannot be shown; empty when it can
  uint64_t mark = 0;                  // changes with the files
  std::shared_ptr<const std::vector<embed::projector::Source>> sources;
  const embed::projector::Source* source = nullptr;  // inside `sources`; null for an upload
};

struct LoadedEmbedding {
  EmbeddingEntry entry;
  std::shared_ptr<const embed::projector::Matrix> matrix;
  embed::Labels labels;
  uint64_t non_finite = 0;  // values that are NaN or infinite; projections take them as zero

  uint64_t bytes() const;
};

// Loaded tables, most recently used first, and uploads, newest first. Both are bounded; the newest
// of each always stays. One a server.
struct EmbeddingCache {
  std::mutex mutex;  // guards: loaded, uploads
  std::list<std::shared_ptr<const LoadedEmbedding>> loaded, uploads;
};

struct EmbeddingList {
  std::vector<EmbeddingEntry> entries;
  std::vector<std::pair<std::string, std::string>> problems;  // run, sentence
};

EmbeddingList embedding_list(const Context& context);

// kNotFound, kCorrupt, kForbidden, kTooLarge.
Result<std::shared_ptr<const LoadedEmbedding>> loaded_embedding(const Context& context,
                                                                std::string_view id);
Result<EmbeddingEntry> embedding_entry(const Context& context, std::string_view id);

// A file that the config names for this embedding.
Result<std::string> embedding_file(const EmbeddingEntry& entry, const std::string& path,
                                   std::string_view what);

// Keeps dropped vectors and gives their id; the oldest goes beyond eight or a gigabyte.
Result<std::string> keep_vectors(const Context& context, std::string name, std::string_view bytes,
                                 uint64_t dims);
// Metadata for an upload. kForbidden for embeddings of the log directory.
Result<void> keep_labels(const Context& context, std::string_view id, std::string_view text);

}  // namespace sonde::api::v1
