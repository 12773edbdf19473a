#include "capture/analysis/forest.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <tuple>

namespace sonde::capture {

using trace::SliceId;
using trace::TrackId;

namespace {

// Both sides this large are some catch-all id, not a hand-over: xprof skips them too.
constexpr size_t kMaxSiblings = 64;

// Calls fn(slice, track) for every slice of the planes that take part in grouping.
template <class Fn>
void for_each_node_line(const trace::Trace& trace, const Vocabulary& words, const Fn& fn) {
  for (TrackId t = 0; t < trace.tracks().size(); ++t) {
    const trace::Track& track = trace.tracks()[t];
    if (track.kind != trace::TrackKind::kThread && track.kind != trace::TrackKind::kStream)
      continue;
    if (track.parent == trace::kNone || words.planes[track.parent] == PlaneKind::kTpu) continue;
    if (words.derived[t]) continue;
    fn(t, track);
  }
}

// Links come in order of their meetings, so placing them slice by slice sorts them by both.
void sort_by_slice(std::vector<Forest::Link>& links, uint32_t slices) {
  const auto in_order = [](const Forest::Link& a, const Forest::Link& b) {
    return a.slice < b.slice;
  };
  if (std::is_sorted(links.begin(), links.end(), in_order)) return;
  std::vector<uint32_t> next(size_t{slices} + 1, 0);
  for (const Forest::Link& link : links) ++next[link.slice + 1];
  for (size_t s = 1; s < next.size(); ++s) next[s] += next[s - 1];
  std::vector<Forest::Link> sorted(links.size());
  for (const Forest::Link& link : links) sorted[next[link.slice]++] = link;
  links = std::move(sorted);
}

// Sorts a list made of runs (one a track, most of them sorted already) by merging the runs.
template <class T, class Less>
void merge_runs(std::vector<T>& list, std::vector<size_t> ends, const Less& less) {
  size_t begin = 0;
  for (const size_t end : ends) {
    const auto first = list.begin() + static_cast<ptrdiff_t>(begin),
               last = list.begin() + static_cast<ptrdiff_t>(end);
    if (!std::is_sorted(first, last, less)) std::sort(first, last, less);
    begin = end;
  }
  while (ends.size() > 1) {
    std::vector<size_t> merged;
    size_t from = 0;
    for (size_t i = 0; i < ends.size(); i += 2) {
      const size_t end = i + 1 < ends.size() ? ends[i + 1] : ends[i];
      if (i + 1 < ends.size()) {
        std::inplace_merge(list.begin() + static_cast<ptrdiff_t>(from),
                           list.begin() + static_cast<ptrdiff_t>(ends[i]),
                           list.begin() + static_cast<ptrdiff_t>(end), less);
      }
      merged.push_back(end);
      from = end;
    }
    ends = std::move(merged);
  }
}

}  // namespace

Forest::Forest(const trace::Trace& trace, const Vocabulary& words) : trace_(trace), words_(words) {
  nest();
  connect_contexts();
  connect_launches();
  connect_iterators();
  sort_by_slice(out_, trace_.slice_count());
  sort_by_slice(in_, trace_.slice_count());
}

void Forest::nest() {
  const uint32_t n = trace_.slice_count();
  parent_.assign(n, kNone);
  end_.assign(n, kNone);
  node_.assign(n, 0);
  std::vector<SliceId> open;
  for_each_node_line(trace_, words_, [&](TrackId, const trace::Track& track) {
    open.clear();
    const SliceId last = track.first_slice + track.slices;
    for (SliceId s = track.first_slice; s < last; ++s) {
      node_[s] = 1;
      if (words_.key.async != trace::kNone) {
        const auto async = trace_.find(trace_.args(s), words_.key.async);
        if (async && async->as_int() != 0) continue;
      }
      // Begins only grow, so the top includes s exactly when it ends no earlier.
      while (!open.empty() && trace_.end(open.back()) < trace_.end(s)) {
        end_[open.back()] = s;
        open.pop_back();
      }
      if (!open.empty()) parent_[s] = open.back();
      open.push_back(s);
    }
    for (const SliceId s : open) end_[s] = last;
  });
}

void Forest::add_meeting(std::span<const SliceId> producers, std::span<const SliceId> consumers) {
  if (producers.empty() || consumers.empty()) return;
  const auto id = static_cast<uint32_t>(meetings_.size());
  meetings_.push_back({static_cast<uint32_t>(members_.size()),
                       static_cast<uint32_t>(producers.size()),
                       static_cast<uint32_t>(consumers.size())});
  members_.insert(members_.end(), producers.begin(), producers.end());
  members_.insert(members_.end(), consumers.begin(), consumers.end());
  for (const SliceId s : producers) out_.push_back({s, id});
  for (const SliceId s : consumers) in_.push_back({s, id});
}

void Forest::connect_contexts() {
  const Keys& key = words_.key;
  if (key.producer_id == trace::kNone && key.consumer_id == trace::kNone) return;
  struct End {
    uint64_t id;
    uint32_t type;
    bool consumer;
    int32_t process;
    SliceId slice;
  };
  std::vector<End> ends;
  const bool several = words_.host_planes.size() > 1;
  const trace::KeyId process_key = trace_.key("process_id");
  for_each_node_line(trace_, words_, [&](TrackId, const trace::Track& track) {
    int32_t process = 0;
    if (several) {
      if (const auto pid = trace_.find(trace_.tracks()[track.parent].args, process_key))
        process = static_cast<int32_t>(pid->as_int());
    }
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      std::optional<uint64_t> pt, p, ct, c, pid;
      const trace::ArgRange range = trace_.args(s);
      for (uint32_t a = range.first; a < range.first + range.count; ++a) {
        const trace::Arg arg = trace_.arg(a);
        if (arg.key == key.producer_type) pt = arg.value.as_uint();
        if (arg.key == key.producer_id) p = arg.value.as_uint();
        if (arg.key == key.consumer_type) ct = arg.value.as_uint();
        if (arg.key == key.consumer_id) c = arg.value.as_uint();
        if (several && arg.key == key.consumer_pid) pid = arg.value.as_uint();
      }
      const auto scope = [&](uint64_t type) {
        return type == 9 || type == 12 ? 0 : process;  // launches cross processes
      };
      if (pt && p) ends.push_back({*p, static_cast<uint32_t>(*pt), false, scope(*pt), s});
      if (ct && c) {
        ends.push_back({*c, static_cast<uint32_t>(*ct), true,
                        pid ? static_cast<int32_t>(*pid) : scope(*ct), s});
      }
    }
  });
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
    return std::tie(a.type, a.process, a.id, a.consumer, a.slice) <
           std::tie(b.type, b.process, b.id, b.consumer, b.slice);
  });
  std::vector<SliceId> producers, consumers;
  for (size_t i = 0; i < ends.size();) {
    producers.clear();
    consumers.clear();
    const End& first = ends[i];
    for (; i < ends.size() && ends[i].type == first.type && ends[i].process == first.process &&
           ends[i].id == first.id;
         ++i) {
      (ends[i].consumer ? consumers : producers).push_back(ends[i].slice);
    }
    if (producers.size() >= kMaxSiblings && consumers.size() >= kMaxSiblings) continue;
    add_meeting(producers, consumers);
  }
}

void Forest::connect_launches() {
  if (words_.key.correlation_id == trace::kNone) return;
  struct Launch {
    uint64_t id;
    SliceId slice;
  };
  std::vector<Launch> launches, kernels;
  std::vector<size_t> launch_runs, kernel_runs;
  // Room for the most there can be: what is not used is never touched and costs nothing, while
  // growing would copy.
  size_t host_slices = 0, device_slices = 0;
  for_each_node_line(trace_, words_, [&](TrackId, const trace::Track& track) {
    (words_.planes[track.parent] == PlaneKind::kHost ? host_slices : device_slices) += track.slices;
  });
  launches.reserve(host_slices);
  kernels.reserve(device_slices);
  for_each_node_line(trace_, words_, [&](TrackId, const trace::Track& track) {
    const bool host = words_.planes[track.parent] == PlaneKind::kHost;
    auto& list = host ? launches : kernels;
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      const auto id = trace_.find(trace_.args(s), words_.key.correlation_id);
      if (!id || !id->is_number()) continue;
      if (words_.labels[trace_.label_id(s)].event != HostEvent::kUnknown) continue;
      list.push_back({id->as_uint(), s});
    }
    auto& runs = host ? launch_runs : kernel_runs;
    if (list.size() > (runs.empty() ? 0 : runs.back())) runs.push_back(list.size());
  });
  const auto by_id = [](const Launch& a, const Launch& b) {
    return std::tie(a.id, a.slice) < std::tie(b.id, b.slice);
  };
  merge_runs(launches, std::move(launch_runs), by_id);
  merge_runs(kernels, std::move(kernel_runs), by_id);
  meetings_.reserve(meetings_.size() + launches.size());
  std::vector<SliceId> consumers;
  size_t k = 0;
  for (size_t i = 0; i < launches.size(); ++i) {
    if (i + 1 < launches.size() && launches[i + 1].id == launches[i].id) continue;  // last wins
    while (k < kernels.size() && kernels[k].id < launches[i].id) ++k;
    consumers.clear();
    for (; k < kernels.size() && kernels[k].id == launches[i].id; ++k)
      consumers.push_back(kernels[k].slice);
    const SliceId producer = launches[i].slice;
    add_meeting({&producer, 1}, consumers);
  }
}

void Forest::connect_iterators() {
  const Keys& key = words_.key;
  boost::unordered_flat_map<std::pair<uint64_t, uint64_t>, SliceId> processes;
  const auto tuple_of = [&](SliceId s) -> std::optional<std::pair<uint64_t, uint64_t>> {
    const auto id = trace_.find(trace_.args(s), key.id);
    const auto iteration = trace_.find(trace_.args(s), key.iter_num);
    if (!id || !iteration) return std::nullopt;
    return std::pair{id->as_uint(), iteration->as_uint()};
  };
  std::vector<SliceId> waiting;
  for_each_node_line(trace_, words_, [&](TrackId, const trace::Track& track) {
    for (SliceId s = track.first_slice; s < track.first_slice + track.slices; ++s) {
      const HostEvent event = words_.labels[trace_.label_id(s)].event;
      if (event == HostEvent::kExecutorProcess) {
        if (const auto tuple = tuple_of(s)) processes[*tuple] = s;
      } else if (event == HostEvent::kIteratorGetNext ||
                 event == HostEvent::kIteratorGetNextAsOptional) {
        waiting.push_back(s);
      }
    }
  });
  for (const SliceId s : waiting) {
    const auto tuple = tuple_of(s);
    if (!tuple) continue;
    const auto found = processes.find(*tuple);
    if (found != processes.end()) add_meeting({&found->second, 1}, {&s, 1});
  }
}

}  // namespace sonde::capture
