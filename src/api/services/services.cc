#include "api/services/services.h"

#include "api/services/captures.h"
#include "api/services/embedding_source.h"
#include "api/services/graph_source.h"
#include "api/services/hub.h"
#include "api/services/jobs.h"
#include "api/services/numerics_dumps.h"
#include "api/services/recordings.h"
#include "api/services/state.h"
#include "api/services/upload_keeper.h"
#include "api/services/whatif_sets.h"

namespace sonde::api {

// Ends in reverse order: what has threads of its own comes last.
struct Services::All {
  All(store::Store& store, const Settings& settings)
      : state(store.options(), settings),
        uploads(
            std::chrono::milliseconds(static_cast<int64_t>(settings.keep_uploads_s * 1000)),
            [this] { return state.hub().clients(); }, [this] { forget_uploads(); }) {}

  void forget_uploads() {
    captures.forget_uploads();
    {
      const std::lock_guard lock(graphs.mutex);
      graphs.uploads.clear();
      std::erase_if(graphs.parsed, [](const v1::GraphCache::Parsed& one) {
        return one.graph->entry.kind == "upload";
      });
    }
    const std::lock_guard lock(embeddings.mutex);
    embeddings.uploads.clear();
  }

  Memo memo;
  v1::GraphCache graphs;
  v1::EmbeddingCache embeddings;
  Captures captures;
  NumericsDumps numerics;
  WhatIfSets whatif;
  Recordings recordings;
  v1::State state;
  UploadKeeper uploads;  // looks into all of the above
};

Services::Services(store::Store& store, const Settings& settings)
    : all_(std::make_unique<All>(store, settings)) {}
Services::~Services() = default;

Memo& Services::memo() const { return all_->memo; }
Captures& Services::captures() const { return all_->captures; }
Recordings& Services::recordings() const { return all_->recordings; }
WhatIfSets& Services::whatif() const { return all_->whatif; }
NumericsDumps& Services::numerics() const { return all_->numerics; }
UploadKeeper& Services::uploads() const { return all_->uploads; }
v1::State& Services::state() const { return all_->state; }
v1::GraphCache& Services::graphs() const { return all_->graphs; }
v1::EmbeddingCache& Services::embeddings() const { return all_->embeddings; }

}  // namespace sonde::api
