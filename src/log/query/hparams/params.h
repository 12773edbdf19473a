// Hyper-parameters of every run from all places they are kept: summaries of the hparams plug-in,
// configuration files beside the events, the run's name (in this order of trust). A session is the
// folder that a set of values belongs to; runs at and below it share them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log/model/snapshot.h"
#include "log/query/hparams/cell.h"
#include "log/query/hparams/config_file.h"
#include "log/query/hparams/hparams.h"

namespace sonde::query {

enum class ParamSource : uint8_t { kSummary, kConfig, kName };
std::string_view name_of(ParamSource source);

struct Param {
  uint32_t name = 0;  // index into ParamIndex::names
  Cell value;
  ParamSource source = ParamSource::kSummary;
};

struct ParamSession {
  std::string name;   // of its folder, like a run's name
  std::string group;  // sessions of one group are repetitions
  std::string status = "unknown";
  double start_s = 0, end_s = 0;  // 0 when not known
  std::vector<Param> params;      // ascending by name index
  std::vector<size_t> runs;       // indices into Snapshot::runs, those at and below the folder

  const Cell* find(uint32_t name) const;
};

struct ParamName {
  std::string name;
  ParamSource source = ParamSource::kSummary;  // the most trusted one
  bool differs = false;                        // values differ, or some sessions lack it
  std::vector<Cell> values;                    // distinct, sorted, at most kMaxValues
  size_t distinct = 0;                         // how many there are
};

struct ParamIndex {
  static constexpr size_t kMaxValues = 50;

  std::vector<ParamName> names;  // differing first, then by name
  std::vector<ParamSession> sessions;
  std::vector<uint32_t> session_of;  // by run index; UINT32_MAX without one
  // What a writer declared: names to show, their order, the metrics that count.
  std::optional<hparams::Experiment> declared;

  uint32_t find(std::string_view name) const;  // UINT32_MAX when there is none

  // Configuration files by folder, with the revision they were read at: for the next index.
  struct Config {
    uint64_t revision = 0;
    NamedCells cells;
  };
  std::map<std::string, Config> configs;
};

// `earlier` (may be nullptr) saves reading files of runs that did not change.
ParamIndex index_params(const store::Snapshot& snapshot, const ParamIndex* earlier);

}  // namespace sonde::query
