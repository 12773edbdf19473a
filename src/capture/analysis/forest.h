// How the slices of a trace hang together: nesting inside a line, and the connections between
// threads and devices (launch to kernel, producer to consumer). Connections are kept as meeting
// points with producers on one side and consumers on the other, so that one producer with a million
// consumers costs a million entries and not a million edges times the producers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/analysis/vocabulary.h"
#include "capture/trace/trace.h"

namespace sonde::capture {

class Forest {
 public:
  Forest(const trace::Trace& trace, const Vocabulary& words);

  static constexpr uint32_t kNone = trace::kNone;

  // The slice this one is nested in, kNone at the top; async slices are neither nested nor parents.
  uint32_t parent(trace::SliceId s) const { return parent_[s]; }
  // Slices nested in s are s+1 … subtree_end(s)-1, async ones excepted (is_node() false).
  uint32_t subtree_end(trace::SliceId s) const { return end_[s]; }
  bool is_nested_node(trace::SliceId s) const { return end_[s] != kNone; }
  // Whether the slice takes part at all (TPU lines and derived lines do not).
  bool is_node(trace::SliceId s) const { return node_[s] != 0; }

  // Calls fn(slice) for every slice connected below / above s, nesting not included.
  template <class Fn>
  void for_each_consumer(trace::SliceId s, const Fn& fn) const {
    visit(out_, s, [&](const Rendezvous& m) {
      for (uint32_t i = 0; i < m.consumer_count; ++i) fn(members_[m.first + m.producer_count + i]);
    });
  }
  template <class Fn>
  void for_each_producer(trace::SliceId s, const Fn& fn) const {
    visit(in_, s, [&](const Rendezvous& m) {
      for (uint32_t i = 0; i < m.producer_count; ++i) fn(members_[m.first + i]);
    });
  }

  struct Rendezvous {
    uint32_t first;  // in members_: producers, then consumers
    uint32_t producer_count, consumer_count;
  };
  // The meeting points s produces into, to let a traversal visit each only once.
  template <class Fn>
  void for_each_meeting(trace::SliceId s, const Fn& fn) const {
    visit_ids(out_, s, fn);
  }
  size_t meeting_count() const { return meetings_.size(); }
  const Rendezvous& meeting(uint32_t id) const { return meetings_[id]; }
  trace::SliceId member(uint32_t index) const { return members_[index]; }

  struct Link {
    trace::SliceId slice;
    uint32_t meeting;
  };

 private:
  void nest();
  void connect_contexts();
  void connect_launches();
  void connect_iterators();
  void add_meeting(std::span<const trace::SliceId> producers,
                   std::span<const trace::SliceId> consumers);
  template <class Fn>
  static void visit_ids(const std::vector<Link>& links, trace::SliceId s, const Fn& fn) {
    auto at = std::lower_bound(links.begin(), links.end(), s,
                               [](const Link& l, trace::SliceId id) { return l.slice < id; });
    for (; at != links.end() && at->slice == s; ++at) fn(at->meeting);
  }
  template <class Fn>
  void visit(const std::vector<Link>& links, trace::SliceId s, const Fn& fn) const {
    visit_ids(links, s, [&](uint32_t meeting) { fn(meetings_[meeting]); });
  }

  const trace::Trace& trace_;
  const Vocabulary& words_;
  std::vector<uint32_t> parent_, end_;
  std::vector<uint8_t> node_;
  std::vector<Rendezvous> meetings_;
  std::vector<trace::SliceId> members_;
  std::vector<Link> out_, in_;  // sorted by slice
};

}  // namespace sonde::capture
