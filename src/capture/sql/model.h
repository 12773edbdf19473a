// What the tables of one query share about the trace, each part made when a query first needs it.
// Belongs to one query and thread.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/analysis/analysis.h"
#include "capture/trace/trace.h"

namespace sonde::capture::sql {

class Model {
 public:
  explicit Model(const HostAnalysis& host) : host_(host), trace_(host.trace()) {}

  const HostAnalysis& host() const { return host_; }
  const trace::Trace& trace() const { return trace_; }

  // Names in order: of each label its place among all (name, category) or (category, name); equal
  // pairs share one. `first` is a label of each place.
  struct Ranks {
    std::vector<uint32_t> of_label, first;
  };
  enum class By : uint8_t { kName, kCategory };
  const Ranks& ranks(By by);

  // All slices of one name and category together, in the order of ranks(kName).
  struct NameSum {
    int64_t count = 0, dur = 0, self = 0, shortest = INT64_MAX, longest = 0;
  };
  const std::vector<NameSum>& name_sums();

  trace::SliceId parent(trace::SliceId slice);  // kNone at depth 0
  int64_t self_ps(trace::SliceId slice);

  const std::vector<trace::Flow>& flows();
  // Places in flows() ordered by where they come from or lead to.
  const std::vector<uint32_t>& flows_by_source();
  const std::vector<uint32_t>& flows_by_target();

 private:
  // Parents and own times of a whole track: one walk, where asking slice by slice would walk over
  // the slices inside it each time.
  struct Nesting {
    std::vector<trace::SliceId> parent;
    std::vector<int64_t> self;
  };
  const Nesting& nesting(trace::TrackId track);

  const HostAnalysis& host_;
  const trace::Trace& trace_;
  Ranks by_name_, by_category_;
  std::vector<NameSum> name_sums_;
  std::vector<Nesting> nesting_;  // by track
  bool has_flows_ = false;
  std::vector<trace::Flow> flows_;
  std::vector<uint32_t> by_source_, by_target_;
};

}  // namespace sonde::capture::sql
