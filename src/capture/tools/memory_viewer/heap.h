// The compiler's heap simulation of one program and memory space, replayed: how much is in use
// after each event, which buffers live from where to where, and what is alive at the peak.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "capture/analysis/hlo/module.h"
#include "capture/tools/memory_viewer/assignment.h"

namespace sonde::capture::memory_viewer {

inline double mib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

const hlo::Shape* shape_of(const hlo::Instruction* i, const std::vector<int64_t>& index);

class Heap {
 public:
  Heap(const hlo::Module& module, int64_t color);

  const hlo::Module& module() const { return module_; }
  const Assignment& assignment() const { return assignment_; }
  // Allocations of this memory space.
  bool is_here(const Allocation& a) const { return a.color == color_; }
  // Whether the allocation is the one the heap trace simulates: it holds the traced buffers. (CPU
  // traces name none.)
  bool simulates(const Allocation& a) const;

  bool has_trace() const { return trace_ != nullptr; }
  size_t event_count() const { return trace_ ? trace_->events.size() : 0; }
  // After each event, and at the end; MiB with what lives throughout.
  const std::vector<double>& sizes() const { return heap_; }
  const std::vector<double>& unpadded_sizes() const { return unpadded_heap_; }
  const std::vector<std::string>& instructions() const { return names_; }
  // First and last event of a buffer's life.
  const std::map<int64_t, std::pair<int64_t, int64_t>>& spans() const { return spans_; }
  std::vector<int64_t> alive_at_peak() const;

  int64_t indefinite_bytes() const { return indefinite_; }
  int64_t peak_bytes() const { return peak_ + indefinite_; }
  int64_t unpadded_peak_bytes() const { return unpadded_peak_ + indefinite_; }
  int64_t peak_position() const { return peak_position_; }
  bool is_damaged() const { return damaged_; }  // a buffer is freed twice

  int64_t size_of(int64_t buffer) const;
  int64_t unpadded_size_of(int64_t buffer) const;
  const hlo::Instruction* instruction_of(const Buffer& b) const;

 private:
  void choose_trace();
  void replay();
  void apply(const HeapEvent& event, size_t position);

  const hlo::Module& module_;
  int64_t color_;
  Assignment assignment_;
  const HeapTrace* trace_ = nullptr;
  std::set<int64_t> traced_;
  std::vector<double> heap_, unpadded_heap_;
  std::vector<std::string> names_;
  std::map<int64_t, std::pair<int64_t, int64_t>> spans_;
  std::map<int64_t, int64_t> references_;  // of buffers that hold memory
  std::set<int64_t> successors_;           // took a freed buffer's place; end with their own FREE
  std::map<int64_t, int64_t> holder_;      // buffer -> the one that holds its memory
  int64_t now_ = 0, unpadded_now_ = 0, unpadded_peak_ = 0;
  int64_t indefinite_ = 0, peak_ = 0, peak_position_ = 0;
  bool damaged_ = false;
};

}  // namespace sonde::capture::memory_viewer
