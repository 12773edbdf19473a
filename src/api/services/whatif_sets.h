// The sets of examples a server knows: each whatif.json below the log directory and what users
// dropped on the page. Loaded when first asked for and kept. Thread-safe; one a server.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "whatif/files/examples.h"
#include "whatif/model/loaded_set.h"

namespace sonde::api {

struct WhatIfEntry {
  std::string id, name, run;
  std::string path;     // of its whatif.json; empty: dropped on the page
  std::string problem;  // why it cannot be used
};

// The examples of the old plug-in's routes (/data/plugin/whatif). Those have no session, so there is
// one table for everybody, as there was in TensorBoard.
struct PluginExamples {
  std::mutex mutex;  // guards: the rest
  whatif::Message kind = whatif::Message::kExample;
  std::vector<std::string> messages;
  std::set<size_t> updated;  // what no model was asked about yet
};

class WhatIfSets {
 public:
  PluginExamples& plugin() { return plugin_; }
  // Also the edited sets that `mine` names.
  std::vector<WhatIfEntry> list(const Context& context, const std::vector<std::string_view>& mine);
  // kNotFound; otherwise what loading says. A changed whatif.json is read again.
  Result<std::shared_ptr<whatif::LoadedSet>> open(const Context& context, std::string_view id);
  Result<std::string> keep(whatif::SetConfig config, whatif::Dataset data);  // its id
  // A set that one user made out of another: opened by its id and listed for nobody else.
  std::string keep_edited(std::shared_ptr<whatif::LoadedSet> set);

 private:
  struct Open {
    int64_t mtime_ns = 0;
    std::shared_ptr<whatif::LoadedSet> set;
  };
  std::mutex mutex_;  // guards: open_, dropped_, edited_, next_
  std::map<std::string, Open> open_;
  std::map<std::string, std::shared_ptr<whatif::LoadedSet>> dropped_;
  std::map<std::string, std::shared_ptr<whatif::LoadedSet>> edited_;
  uint64_t next_ = 1;
  PluginExamples plugin_;
};

// The real path of a file of examples that a request names, where it may lie: kForbidden otherwise.
Result<std::string> whatif_path(const Context& context, std::string_view path);
// Whether an endpoint may be called without a word of the user: listed on the command line.
bool is_listed_endpoint(const Context& context, std::string_view url);

}  // namespace sonde::api
