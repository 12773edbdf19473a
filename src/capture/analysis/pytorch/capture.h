// A PyTorch capture of one worker, put in order: the operator tree of every thread, the runtime
// calls in it, the device work each of them launched, and the steps. Every PyTorch view is computed
// from this. Operator, launch and device work are tied together by correlation and by nesting in
// time, which holds for captures of every release; external ids are used only where they agree.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/analysis/pytorch/ranges.h"
#include "capture/analysis/pytorch/words.h"
#include "capture/trace/trace.h"

namespace sonde::capture::pytorch {

inline constexpr uint32_t kNone = trace::kNone;

// A node of the operator tree, in preorder: a parent comes before its children, and the nodes of a
// thread are neighbours.
struct Node {
  trace::SliceId slice = kNone;
  uint32_t parent = kNone;
  trace::TrackId track = kNone;
  Kind kind = Kind::kOther;
  bool is_row = false, eligible = false;
  bool merged = false;  // an operator that only calls itself again: counted with its parent
  int64_t begin = 0, end = 0;
  int64_t children_ps = 0, launch_ps = 0;  // time of direct children and of its own runtime calls
  int64_t self_device_ps = 0, device_ps = 0;
  int64_t self_tensor_core_ps = 0, tensor_core_ps = 0;

  int64_t duration() const { return end - begin; }
  int64_t self_host_ps() const { return duration() - children_ps - launch_ps; }
};

struct Launch {
  trace::SliceId slice = kNone;
  uint32_t node = kNone;         // innermost tree node around it
  trace::SliceId owner = kNone;  // innermost annotation or Python frame, where no operator is
  int64_t begin = 0, end = 0;
  int64_t correlation = 0;
  uint32_t device_events = 0;
};

struct DeviceEvent {
  trace::SliceId slice = kNone;
  Kind kind = Kind::kKernel;
  bool is_communication = false, uses_tensor_cores = false;
  int32_t device = 0;
  int64_t stream = 0;
  uint32_t launch = kNone, node = kNone;  // kNone: launched before the capture began
  int64_t begin = 0, end = 0;

  int64_t duration() const { return end - begin; }
};

enum class Role : uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kCommunication,
  kRuntime,
  kDataLoader,
  kCpu,
  kOther,
};
inline constexpr size_t kRoleCount = 8;
std::string_view role_name(Role role);

struct CaptureStep {
  std::string name;
  Range host;    // the annotation
  Range extent;  // with the device work it launched
  std::array<int64_t, kRoleCount> cost{};
  uint32_t device_events = 0;
  int64_t of(Role role) const { return cost[static_cast<size_t>(role)]; }
};

struct DeviceInfo {
  int64_t id = 0;
  std::string name;
  uint64_t memory_bytes = 0;
  int64_t major = -1, minor = -1, multiprocessors = 0;
};

struct Capture {
  explicit Capture(const trace::Trace& trace);

  const trace::Trace& trace;
  Words words;
  std::vector<Node> nodes;
  std::vector<Launch> launches;        // by thread, then time
  std::vector<DeviceEvent> device;     // by begin
  std::vector<trace::SliceId> memory;  // [memory] instants by time
  std::vector<CaptureStep> steps;
  bool steps_marked = false;            // the program wrote ProfilerStep#N
  uint32_t dropped_steps = 0;           // at the end, whose device work was not recorded whole
  std::array<Ranges, kRoleCount> role;  // merged; kOther stays empty
  Ranges operators;                     // merged: any operator running on the host
  int64_t first_ps = 0;                 // of everything the views look at
  std::vector<DeviceInfo> devices;      // header
  bool has_gpu = false, has_kernels = false, has_communication = false, has_python = false;
  bool is_rocm = false;
  int64_t rank = -1, world_size = 0;  // header
  std::string backend;

  std::array<double, kRoleCount> average_us() const;  // per step
  double average_step_us() const;
  const DeviceInfo* device_info(int32_t device) const;
  std::string_view name_of(const Node& node) const { return trace.name(node.slice); }
  // Who launched this: operator, or what stands in for it.
  std::string owner_of(const DeviceEvent& event) const;
};

// "[[2,3],[]]" as Python prints a list: one space after each comma, none elsewhere.
std::string spaced_list(std::string_view json);

}  // namespace sonde::capture::pytorch
