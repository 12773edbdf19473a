// The tf.data pipelines of a host: for every call of a pipeline's root, how long each iterator
// below it took and which one the caller was really waiting for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capture/analysis/analysis.h"

namespace sonde::capture {

struct IteratorInfo {
  uint64_t id = 0, parent_id = 0;
  std::string_view name, long_name;  // "MapAndBatch", "Iterator::Root::MapAndBatch"
  bool is_async = false;
  // Settings the iterator recorded: -1 unknown or autotuned.
  int64_t parallelism = -1, buffer_limit = -1;
  bool autotuned = false;
  bool is_signed = false;  // the producer wrote the id as a signed number
  std::string_view node;   // graph node: "fused(MapDataset:1,BatchDatasetV2:2)", "inject/prefetch…"
};

struct IteratorStat {
  uint64_t id = 0;
  int64_t start_ps = 0, duration_ps = 0, self_ps = 0, calls = 0;
  bool blocking = false;
};

struct PipelineCall {
  int64_t duration_ps = 0;
  std::map<uint64_t, IteratorStat> iterators;
  uint64_t bottleneck = 0;
};

struct Pipeline {
  uint64_t root = 0;
  bool on_device = false;
  std::string name;                 // "Host:0"
  std::vector<PipelineCall> calls;  // slowest first
  int64_t min_ps = 0, mean_ps = 0, max_ps = 0, slow_calls = 0;
};

struct TfData {
  std::map<uint64_t, IteratorInfo> iterators;
  std::vector<Pipeline> pipelines;
  int64_t python_calls = 0, python_ps = 0;  // PyFunc ops below map functions
};

inline constexpr int64_t kSlowCallPs = 50'000'000;  // 50 us

TfData tf_data_of(const HostAnalysis& host);

// "ParallelMapV2" -> "ParallelMap"
std::string_view without_version(std::string_view name);

// What to do about an iterator that is the bottleneck.
struct Remedy {
  std::string text;  // in words
  std::string code;  // the line to write
};
Remedy remedy_for(const IteratorInfo& iterator, bool python);

}  // namespace sonde::capture
