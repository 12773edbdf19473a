// What one server keeps between requests besides the store: made once in cli/serve.cc (or by a
// test), lent to every handler by Context, gone when the server is. There is no other place for
// such things: no static map, no process-wide cache. To add a service: a file here, a forward
// declaration and an accessor below, a member in services.cc.
//
//   const auto entries = context.services.captures().list(context);
#pragma once

#include <memory>

#include "api/services/memo.h"

namespace sonde::store {
class Store;
}

namespace sonde::api {

struct Settings;
class Captures;
class Recordings;
class NumericsDumps;
class UploadKeeper;
class WhatIfSets;

namespace v1 {
class State;
struct EmbeddingCache;
struct GraphCache;
}  // namespace v1

class Services {
 public:
  // Both outlive the services.
  Services(store::Store& store, const Settings& settings);
  ~Services();
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  Memo& memo() const;                      // values that may be dropped at any time
  Captures& captures() const;              // loaded capture sessions and dropped ones
  Recordings& recordings() const;          // captures of running programs under way
  UploadKeeper& uploads() const;           // forgets uploads when their pages are gone
  v1::State& state() const;                // tags, colours, sidecar, event stream, jobs
  v1::GraphCache& graphs() const;          // parsed graphs and uploaded ones
  NumericsDumps& numerics() const;         // dumps of tfdbg V2 found in the log directory
  WhatIfSets& whatif() const;              // sets of examples and their models
  v1::EmbeddingCache& embeddings() const;  // loaded embeddings and uploaded ones

 private:
  struct All;
  std::unique_ptr<All> all_;
};

}  // namespace sonde::api
