// What POST jobs asks for, checked: every number is within bounds that keep time and memory finite.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/services/embedding_source.h"
#include "codec/json_read.h"
#include "embed/tsne.h"
#include "embed/umap.h"

namespace sonde::api::v1 {

enum class JobKind : uint8_t { kPca, kTsne, kUmap, kCustom };
std::string_view name_of(JobKind kind);

inline constexpr std::array<std::string_view, 4> kAxisEnds = {"left", "right", "up", "down"};

struct JobRequest {
  JobKind kind = JobKind::kPca;
  std::shared_ptr<const LoadedEmbedding> embedding;
  std::vector<uint32_t> subset;  // rows; empty = all
  embed::Scaling scaling = embed::Scaling::kNone;
  size_t components = 10;
  embed::TsneParams tsne;
  embed::UmapParams umap;
  std::array<std::vector<uint32_t>, 4> ends;  // rows of each end of the custom axes
  uint64_t start = 0;                         // a job whose positions t-SNE goes on from
  std::string key;                            // the same question, the same key

  size_t rows() const;
  bool is_quick() const;  // some ten milliseconds: done while the client waits
};

// kInvalid naming the field, kTooLarge when it would need more memory than jobs may have.
Result<JobRequest> job_request(const JsonValue& body,
                               std::shared_ptr<const LoadedEmbedding> embedding);

// A list of row numbers in a body; empty when it is not there.
Result<std::vector<uint32_t>> rows_in(const JsonValue& body, std::string_view name, uint64_t rows);
Result<embed::Metric> metric_of(std::string_view name);

}  // namespace sonde::api::v1
