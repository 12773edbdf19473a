#include "api/services/services.h"

#include "api/services/captures.h"
#include "api/services/embedding_source.h"
#include "api/services/graph_source.h"
#include "api/services/hub.h"
#include "api/services/jobs.h"
#include "api/services/recordings.h"
#include "api/services/state.h"

namespace sonde::api {

// Ends in reverse order: what has threads of its own comes last.
struct Services::All {
  All(store::Store& store, const Settings& settings) : state(store.options(), settings) {}

  Memo memo;
  v1::GraphCache graphs;
  v1::EmbeddingCache embeddings;
  Captures captures;
  Recordings recordings;
  v1::State state;
};

Services::Services(store::Store& store, const Settings& settings)
    : all_(std::make_unique<All>(store, settings)) {}
Services::~Services() = default;

Memo& Services::memo() const { return all_->memo; }
Captures& Services::captures() const { return all_->captures; }
Recordings& Services::recordings() const { return all_->recordings; }
v1::State& Services::state() const { return all_->state; }
v1::GraphCache& Services::graphs() const { return all_->graphs; }
v1::EmbeddingCache& Services::embeddings() const { return all_->embeddings; }

}  // namespace sonde::api
