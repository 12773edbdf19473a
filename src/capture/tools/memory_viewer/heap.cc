#include "capture/tools/memory_viewer/heap.h"

#include <algorithm>

namespace sonde::capture::memory_viewer {

using hlo::Instruction;

const hlo::Shape* shape_of(const Instruction* i, const std::vector<int64_t>& index) {
  if (!i) return nullptr;
  const hlo::Shape* shape = &i->shape;
  for (const int64_t k : index) {
    if (k < 0 || static_cast<size_t>(k) >= shape->tuple.size()) return shape;
    shape = &shape->tuple[static_cast<size_t>(k)];
  }
  return shape;
}

Heap::Heap(const hlo::Module& module, int64_t color)
    : module_(module), color_(color), assignment_(parse_assignment(module.buffer_assignment)) {
  choose_trace();
  replay();
}

bool Heap::simulates(const Allocation& a) const {
  return std::any_of(a.assigned.begin(), a.assigned.end(),
                     [&](const Assigned& x) { return traced_.contains(x.buffer); });
}

void Heap::choose_trace() {
  for (const HeapTrace& trace : assignment_.traces) {
    for (const Allocation& a : assignment_.allocations) {
      if (a.index == trace.allocation && a.color == color_ && !a.indefinite()) trace_ = &trace;
    }
  }
  if (!trace_) {
    for (const HeapTrace& trace : assignment_.traces) {
      const bool fits =
          std::any_of(trace.events.begin(), trace.events.end(), [&](const HeapEvent& e) {
            const auto found = assignment_.buffers.find(e.buffer);
            return found != assignment_.buffers.end() && found->second.color == color_;
          });
      if (fits && !trace_) trace_ = &trace;
    }
  }
  if (trace_) {
    for (const HeapEvent& e : trace_->events) traced_.insert(e.buffer);
  }
}

void Heap::replay() {
  for (const Allocation& a : assignment_.allocations) {
    if (a.color != color_ || a.thread_local_) continue;
    if (a.indefinite()) {
      indefinite_ += a.size;
    } else if (!trace_) {  // its order is unknown, but the program needs it
      peak_ += a.size;
      unpadded_peak_ += a.size;
    }
  }
  if (!trace_) return;
  for (size_t i = 0; i < trace_->events.size(); ++i) apply(trace_->events[i], i);
  heap_.push_back(mib(now_ + indefinite_));
  unpadded_heap_.push_back(mib(unpadded_now_ + indefinite_));
  names_.emplace_back();
}

// One event of the simulation. Buffers that share a live one only keep it alive; one that shares
// a freed one takes its place and lives from here.
void Heap::apply(const HeapEvent& event, size_t position) {
  heap_.push_back(mib(now_ + indefinite_));
  unpadded_heap_.push_back(mib(unpadded_now_ + indefinite_));
  names_.emplace_back(event.instruction);
  const auto at = static_cast<int64_t>(position);
  const auto holder_of = [&](int64_t id) {
    const auto found = holder_.find(id);
    return found == holder_.end() ? id : found->second;
  };
  if (event.kind == 1) {
    if (successors_.contains(event.buffer)) spans_[event.buffer].second = at;
    const int64_t id = holder_of(event.buffer);
    const auto found = references_.find(id);
    if (found == references_.end() || found->second == 0) {
      damaged_ = true;
    } else if (--found->second == 0) {
      now_ -= size_of(id);
      unpadded_now_ -= unpadded_size_of(id);
      if (!successors_.contains(id)) spans_[id].second = at;
    }
    return;
  }
  if (event.kind == 2) {
    const int64_t id = holder_of(event.shared_with);
    if (const auto found = references_.find(id); found != references_.end() && found->second > 0) {
      ++found->second;
      holder_[event.buffer] = id;
      return;
    }
    holder_[event.shared_with] = event.buffer;
    successors_.insert(event.buffer);
  }
  holder_[event.buffer] = event.buffer;
  references_[event.buffer] = 1;
  now_ += size_of(event.buffer);
  unpadded_now_ += unpadded_size_of(event.buffer);
  spans_[event.buffer] = {at, static_cast<int64_t>(trace_->events.size()) - 1};
  if (now_ > peak_) {
    peak_ = now_;
    unpadded_peak_ = unpadded_now_;
    peak_position_ = at;
  }
}

// In order of allocation. The peak's event allocates, so a span that ends there was never freed.
std::vector<int64_t> Heap::alive_at_peak() const {
  std::vector<int64_t> alive;
  for (const auto& [id, span] : spans_) {
    if (span.first <= peak_position_ && span.second >= peak_position_) alive.push_back(id);
  }
  std::stable_sort(alive.begin(), alive.end(),
                   [&](int64_t a, int64_t b) { return spans_.at(a).first < spans_.at(b).first; });
  return alive;
}

int64_t Heap::size_of(int64_t id) const {
  const auto found = assignment_.buffers.find(id);
  return found == assignment_.buffers.end() ? 0 : found->second.size;
}
// What the shape needs, without the padding of its layout; a tuple is its table of pointers.
int64_t Heap::unpadded_size_of(int64_t id) const {
  const auto found = assignment_.buffers.find(id);
  if (found == assignment_.buffers.end()) return 0;
  const hlo::Shape* shape = shape_of(instruction_of(found->second), found->second.shape_index);
  if (!shape) return found->second.size;
  return shape->is_tuple() ? static_cast<int64_t>(8 * shape->tuple.size()) : shape->bytes();
}

const Instruction* Heap::instruction_of(const Buffer& b) const {
  if (const Instruction* i = module_.with_id(b.instruction)) return i;
  return module_.find(b.instruction_name);
}

}  // namespace sonde::capture::memory_viewer
