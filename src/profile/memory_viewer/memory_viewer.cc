// Device memory of one compiled program over its own order: the compiler's heap simulation
// replayed, and what is alive at the peak.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/wire.h"
#include "profile/merged.h"

namespace sonde::profile {
namespace {

using hlo::Instruction;
using hlo::Module;
constexpr int64_t kSmallBytes = 16384;

struct Buffer {
  int64_t id = 0, size = 0, instruction = 0, color = 0;
  std::vector<int64_t> shape_index;
  std::string instruction_name;
};

struct Assigned {
  int64_t buffer = 0, offset = 0, size = 0;
};

struct Allocation {
  int64_t index = 0, size = 0, color = 0, parameter_number = 0;
  bool thread_local_ = false, parameter = false, live_out = false, is_tuple = false,
       constant = false;
  std::vector<Assigned> assigned;
  bool indefinite() const { return thread_local_ || parameter || live_out || constant; }
  bool reusable() const { return !thread_local_ && !is_tuple; }
};

struct HeapEvent {
  int64_t kind = 0, buffer = 0, shared_with = 0;
  std::string_view instruction;
};

struct HeapTrace {
  std::vector<HeapEvent> events;
  int64_t allocation = 0;
};

struct Assignment {
  std::map<int64_t, Buffer> buffers;
  std::vector<Allocation> allocations;
  std::vector<HeapTrace> traces;
};

Buffer parse_buffer(Bytes message) {
  Buffer b;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 1) b.id = f.as_int();
    if (f.number == 2) b.size = f.as_int();
    if (f.number == 4) b.color = f.as_int();
    if (f.number != 3 || !f.is_bytes()) continue;
    wire::Cursor place(f.bytes);
    for (wire::Field p; place.next(p);) {
      if (p.number == 2) b.instruction_name = p.text();
      if (p.number == 3)
        (void)wire::for_each_varint(
            p, [&](uint64_t v) { b.shape_index.push_back(static_cast<int64_t>(v)); });
      if (p.number == 4) b.instruction = p.as_int();
    }
  }
  return b;
}

Allocation parse_allocation(Bytes message) {
  Allocation a;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    switch (f.number) {
      case 1:
        a.index = f.as_int();
        break;
      case 2:
        a.size = f.as_int();
        break;
      case 3:
        a.thread_local_ = f.as_bool();
        break;
      case 5:
        a.parameter = f.as_bool();
        break;
      case 6:
        a.parameter_number = f.as_int();
        break;
      case 7:
        a.live_out = f.as_bool();
        break;
      case 8:
        a.color = f.as_int();
        break;
      case 9: {
        Assigned assigned;
        wire::Cursor inner(f.bytes);
        for (wire::Field x; inner.next(x);) {
          if (x.number == 1) assigned.buffer = x.as_int();
          if (x.number == 2) assigned.offset = x.as_int();
          if (x.number == 3) assigned.size = x.as_int();
        }
        a.assigned.push_back(assigned);
        break;
      }
      case 11:
        a.is_tuple = f.as_bool();
        break;
      case 12:
        a.constant = f.as_bool();
        break;
      default:
        break;
    }
  }
  return a;
}

HeapTrace parse_trace(Bytes message) {
  HeapTrace trace;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 3) trace.allocation = f.as_int();
    if (f.number != 1 || !f.is_bytes()) continue;
    HeapEvent event;
    wire::Cursor inner(f.bytes);
    for (wire::Field e; inner.next(e);) {
      if (e.number == 1) event.kind = e.as_int();
      if (e.number == 2) event.buffer = e.as_int();
      if (e.number == 4) event.instruction = e.text();
      if (e.number == 5) event.shared_with = e.as_int();
    }
    trace.events.push_back(event);
  }
  return trace;
}

Assignment parse_assignment(Bytes message) {
  Assignment a;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (!f.is_bytes()) continue;
    if (f.number == 1) {
      Buffer b = parse_buffer(f.bytes);
      const int64_t id = b.id;
      a.buffers[id] = std::move(b);
    }
    if (f.number == 3) a.allocations.push_back(parse_allocation(f.bytes));
    if (f.number == 4) a.traces.push_back(parse_trace(f.bytes));
  }
  return a;
}

double mib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

const hlo::Shape* shape_of(const Instruction* i, const std::vector<int64_t>& index) {
  if (!i) return nullptr;
  const hlo::Shape* shape = &i->shape;
  for (const int64_t k : index) {
    if (k < 0 || static_cast<size_t>(k) >= shape->tuple.size()) return shape;
    shape = &shape->tuple[static_cast<size_t>(k)];
  }
  return shape;
}

class Viewer {
 public:
  Viewer(const Module& module, int64_t color)
      : module_(module), color_(color), assignment_(parse_assignment(module.buffer_assignment)) {}

  Json run(Report& report) {
    replay();
    Json out = Json::object();
    list(out, "heapSizes", heap_);
    list(out, "unpaddedHeapSizes", unpadded_heap_);
    peak_objects(out);
    if (!spans_.empty()) {
      Json spans = Json::object();
      for (const auto& [id, span] : spans_) {
        Json s = Json::object();
        if (span.first != 0) s.set("start", span.first);
        if (span.second != 0) s.set("limit", span.second);
        spans.set(fmt::format("{}", id), std::move(s));
      }
      out.set("logicalBufferSpans", std::move(spans));
    }
    out.set("moduleName", module_.name).set("entryComputationName", module_.entry_name);
    number(out, "peakHeapMib", mib(peak_ + indefinite_));
    number(out, "peakUnpaddedHeapMib", mib(unpadded_peak_ + indefinite_));
    if (peak_position_ != 0) out.set("peakHeapSizePosition", peak_position_);
    int64_t parameters = 0, live_out = 0, total = 0, not_reusable = 0;
    for (const Allocation& a : assignment_.allocations) {
      if (a.color != color_) continue;
      if (a.parameter) parameters += a.size;
      if (a.live_out) live_out += a.size;
      if (!a.reusable()) not_reusable += a.size;
      if (!a.thread_local_) total += a.size;
    }
    number(out, "entryComputationParametersMib", mib(parameters));
    number(out, "nonReusableMib", mib(not_reusable));
    number(out, "maybeLiveOutMib", mib(live_out));
    indefinite_lifetimes(out);
    number(out, "totalBufferAllocationMib", mib(total));
    number(out, "indefiniteBufferAllocationMib", mib(indefinite_));
    Json names = Json::array();
    for (const std::string& name : names_) names.push(name);
    if (!names_.empty()) out.set("hloInstructionNames", std::move(names));
    buffer_blocks(out);
    tables(report);
    return out;
  }

 private:
  static void number(Json& out, std::string_view key, double value) {
    if (value != 0) out.set(key, value);  // the answer leaves zero fields out
  }
  static void list(Json& out, std::string_view key, const std::vector<double>& values) {
    if (values.empty()) return;
    Json array = Json::array();
    for (const double v : values) array.push(v);
    out.set(key, std::move(array));
  }

  // The allocation the heap trace simulates: it holds the traced buffers. (CPU traces name none.)
  bool in_heap(const Allocation& a) const {
    return std::any_of(a.assigned.begin(), a.assigned.end(),
                       [&](const Assigned& x) { return traced_.contains(x.buffer); });
  }

  void replay() {
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
  void apply(const HeapEvent& event, size_t position) {
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
      if (const auto found = references_.find(id);
          found != references_.end() && found->second > 0) {
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
  std::vector<int64_t> alive_at_peak() const {
    std::vector<int64_t> alive;
    for (const auto& [id, span] : spans_) {
      if (span.first <= peak_position_ && span.second >= peak_position_) alive.push_back(id);
    }
    std::stable_sort(alive.begin(), alive.end(),
                     [&](int64_t a, int64_t b) { return spans_.at(a).first < spans_.at(b).first; });
    return alive;
  }

  int64_t size_of(int64_t id) const {
    const auto found = assignment_.buffers.find(id);
    return found == assignment_.buffers.end() ? 0 : found->second.size;
  }
  // What the shape needs, without the padding of its layout; a tuple is its table of pointers.
  int64_t unpadded_size_of(int64_t id) const {
    const auto found = assignment_.buffers.find(id);
    if (found == assignment_.buffers.end()) return 0;
    const hlo::Shape* shape = shape_of(instruction_of(found->second), found->second.shape_index);
    if (!shape) return found->second.size;
    return shape->is_tuple() ? static_cast<int64_t>(8 * shape->tuple.size()) : shape->bytes();
  }

  const Instruction* instruction_of(const Buffer& b) const {
    if (const Instruction* i = module_.with_id(b.instruction)) return i;
    return module_.find(b.instruction_name);
  }

  struct Object {
    int64_t buffer;
    std::string group;
    int64_t size = 0, unpadded = 0;
    std::string hlo_name, name, shape, op, opcode, source, stack;
    std::vector<int64_t> shape_index;
  };

  Object object_of(int64_t id, std::string group) const {
    Object o;
    o.buffer = id;
    o.group = std::move(group);
    const auto found = assignment_.buffers.find(id);
    o.size = size_of(id);
    o.unpadded = unpadded_size_of(id);
    const Instruction* i =
        found == assignment_.buffers.end() ? nullptr : instruction_of(found->second);
    if (!i) return o;
    o.name = o.hlo_name = i->name;
    o.shape_index = found->second.shape_index;
    if (!found->second.shape_index.empty()) {
      o.name += "{";
      for (size_t k = 0; k < found->second.shape_index.size(); ++k)
        o.name += fmt::format("{}{}", k == 0 ? "" : ",", found->second.shape_index[k]);
      o.name += "}";
    }
    if (const hlo::Shape* shape = shape_of(i, found->second.shape_index))
      o.shape = shape->text(true);
    o.op = i->op_name;
    o.opcode = i->opcode;
    o.source = module_.source(*i);
    o.stack = module_.source_stack(*i);
    return o;
  }

  std::vector<Object> objects() const {
    std::vector<Object> all;
    int64_t small = 0;
    for (const Allocation& a : assignment_.allocations) {
      if (a.color != color_ || a.thread_local_ || a.assigned.empty()) continue;
      if (!a.indefinite() && trace_) continue;
      const std::string group = a.parameter  ? "Parameter"
                                : a.live_out ? "Output"
                                : a.constant ? "Constant"
                                             : "Temporary";
      // The largest buffer stands for the allocation.
      int64_t largest = a.assigned[0].buffer, most = 0;
      for (const Assigned& x : a.assigned) {
        const int64_t unpadded = unpadded_size_of(x.buffer);
        if (unpadded > most) most = unpadded, largest = x.buffer;
      }
      Object o = object_of(largest, group);
      if (!a.indefinite()) o.size = o.unpadded = a.size;
      if (o.size < kSmallBytes) {
        small += o.size;
      } else {
        all.push_back(std::move(o));
      }
    }
    for (const int64_t id : alive_at_peak()) {
      Object o = object_of(id, "Temporary");
      if (o.size < kSmallBytes) {
        small += o.size;
      } else {
        all.push_back(std::move(o));
      }
    }
    if (small != 0) {
      Object o;
      o.buffer = -1;
      o.size = small;
      o.name = "";
      all.push_back(o);
    }
    return all;
  }

  static Json source_json(const Object& o) {
    Json info = Json::object();
    std::string file = o.source;
    if (const size_t colon = file.rfind(':'); colon != std::string::npos) {
      const int64_t line = std::atoll(file.c_str() + colon + 1);
      file.resize(colon);
      info.set("fileName", file);
      if (line != 0) info.set("lineNumber", line);
    }
    if (!o.stack.empty()) info.set("stackFrame", o.stack);
    return info;
  }

  Json object_json(const Object& o, size_t number_) const {
    Json j = Json::object();
    j.set("numbered", static_cast<int64_t>(number_));
    if (o.buffer < 0) {
      j.set("label", fmt::format("small (<{} bytes)", kSmallBytes)).set("logicalBufferId", -1);
      j.set("logicalBufferSizeMib", mib(o.size));
      return j;
    }
    j.set("label", fmt::format("{}: {} # {}", o.hlo_name, o.shape, o.op));
    if (o.buffer != 0) j.set("logicalBufferId", o.buffer);
    j.set("logicalBufferSizeMib", mib(o.size))
        .set("unpaddedShapeMib", mib(o.unpadded))
        .set("instructionName", o.name);
    j.set("shapeString", o.shape);
    if (!o.op.empty()) j.set("tfOpName", o.op);
    j.set("groupName", o.group).set("opCode", o.opcode);
    if (!o.source.empty()) j.set("sourceInfo", source_json(o));
    return j;
  }

  void peak_objects(Json& out) const {
    const auto all = objects();
    if (all.empty()) return;
    std::vector<size_t> order(all.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return all[a].size > all[b].size; });
    Json heap = Json::array(), by_size = Json::array(), to = Json::array(), from = Json::array();
    std::vector<int64_t> place(all.size());
    for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int64_t>(i);
    for (size_t i = 0; i < all.size(); ++i) {
      heap.push(object_json(all[i], i));
      by_size.push(object_json(all[order[i]], order[i]));
      to.push(place[i]);
      from.push(static_cast<int64_t>(order[i]));
    }
    out.set("maxHeap", std::move(heap)).set("maxHeapBySize", std::move(by_size));
    out.set("maxHeapToBySize", std::move(to)).set("bySizeToMaxHeap", std::move(from));
  }

  void indefinite_lifetimes(Json& out) const {
    Json all = Json::array();
    for (const Allocation& a : assignment_.allocations) {
      if (!a.indefinite() || a.thread_local_ || a.color != color_) continue;
      Json j = Json::object();
      if (a.index != 0) j.set("id", fmt::format("{}", a.index));
      number(j, "sizeMib", mib(a.size));
      Json attributes = Json::array();
      if (a.parameter) attributes.push("entry computation parameter");
      if (a.live_out) attributes.push("may-be live out");
      if (a.reusable()) attributes.push("reusable");
      j.set("attributes", std::move(attributes));
      Json buffers = Json::array();
      std::set<std::string> shapes;
      for (const Assigned& x : a.assigned) {
        const Object o = object_of(x.buffer, "");
        shapes.insert(o.shape);
        Json buffer = Json::object();
        if (x.buffer != 0) buffer.set("id", fmt::format("{}", x.buffer));
        buffer.set("shape", o.shape);
        number(buffer, "sizeMib", mib(x.size));
        buffer.set("hloName", o.hlo_name);
        if (!o.shape_index.empty()) {
          Json index = Json::array();
          for (const int64_t k : o.shape_index) index.push(fmt::format("{}", k));
          buffer.set("shapeIndex", std::move(index));
        }
        buffers.push(std::move(buffer));
      }
      j.set("logicalBuffers", std::move(buffers));
      if (shapes.size() == 1) j.set("commonShape", *shapes.begin());
      all.push(std::move(j));
    }
    if (!all.as_array()->empty()) out.set("indefiniteLifetimes", std::move(all));
  }

  void buffer_blocks(Json& out) const {
    if (!trace_) return;
    Json blocks = Json::array();
    for (const Allocation& a : assignment_.allocations) {
      if (!in_heap(a)) continue;
      Json whole = Json::object();
      whole.set("logicalBufferId", -1).set("name", "Temporary").set("size", a.size);
      whole.set("endStep", static_cast<int64_t>(trace_->events.size()))
          .set("category", "Temporary")
          .set("color", "#ffffff");
      blocks.push(std::move(whole));
      for (const Assigned& x : a.assigned) {
        const auto span = spans_.find(x.buffer);
        if (span == spans_.end()) continue;
        const Object o = object_of(x.buffer, "Temporary");
        Json j = Json::object();
        j.set("logicalBufferId", x.buffer).set("name", o.name);
        if (x.offset != 0) j.set("offset", x.offset);
        if (x.size != 0) j.set("size", x.size);
        if (span->second.first != 0) j.set("startStep", span->second.first);
        j.set("endStep", span->second.second);
        if (!o.op.empty()) j.set("tfOpName", o.op);
        j.set("category", "Temporary");
        if (!o.source.empty()) j.set("sourceInfo", source_json(o));
        j.set("shapeString", o.shape);
        if (o.unpadded != 0) j.set("unpaddedSize", o.unpadded);
        blocks.push(std::move(j));
      }
    }
    out.set("bufferBlocks", std::move(blocks));
  }

  void tables(Report& report) const {
    Table timeline{"timeline", "Memory over the program's order"};
    timeline.columns = {{"position", "Position"},
                        {"instruction", "Instruction", Type::kText},
                        {"memory", "Memory", Type::kNumber, "MiB"}};
    for (size_t i = 0; i < heap_.size(); ++i)
      timeline.rows.push_back({static_cast<int64_t>(i), names_[i], heap_[i]});
    Table peak{"alive_at_peak", "Alive at the peak"};
    peak.columns = {{"instruction", "Instruction", Type::kText},
                    {"size", "Size", Type::kNumber, "MiB"},
                    {"kind", "Kind", Type::kText},
                    {"shape", "Shape", Type::kText},
                    {"framework_op", "Framework op", Type::kText},
                    {"source", "Source", Type::kText}};
    auto all = objects();
    std::stable_sort(all.begin(), all.end(),
                     [](const Object& a, const Object& b) { return a.size > b.size; });
    for (const Object& o : all)
      peak.rows.push_back({o.buffer < 0 ? fmt::format("all below {} bytes", kSmallBytes) : o.name,
                           mib(o.size), o.group, o.shape, o.op, o.source});
    report.tables.push_back(std::move(timeline));
    report.tables.push_back(std::move(peak));
    report.charts.push_back({"memory", "line", "timeline", "position", {"memory"}, ""});
    report.figure("peak", "Peak", mib(peak_ + indefinite_), "MiB");
    if (damaged_)
      report.diagnostics.push_back(
          {"warning", "the compiler's heap trace frees a buffer twice; the curve may be off"});
  }

  const Module& module_;
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

std::string missing(const Session& session) {
  for (const auto& host : session.analysis().hosts) {
    for (const auto& module : host->modules().all()) {
      if (!module->buffer_assignment.empty()) return {};
    }
  }
  return "no HLO module with a buffer assignment in this capture";
}

Result<Report> memory_viewer(const Session& session, const Options& options) {
  const auto hosts = chosen_hosts(session, options);
  const std::string_view name = options.parameter("module_name"),
                         program = options.parameter("program_id");
  const Module* chosen = nullptr;
  for (const HostAnalysis* host : hosts) {
    for (const auto& module : host->modules().all()) {
      const bool asked =
          (!name.empty() && (module->display_name == name || module->name == name)) ||
          (!program.empty() && fmt::format("{}", module->program_id) == program);
      const bool larger =
          name.empty() && program.empty() && !module->buffer_assignment.empty() &&
          (!chosen || module->buffer_assignment.size() > chosen->buffer_assignment.size());
      if (asked || larger) chosen = module.get();
    }
  }
  Report report;
  if (!chosen) {
    if (!name.empty())
      return fail(Code::kNotFound, fmt::format("no module '{}' in this capture", name));
    report.missing.push_back({"memory of compiled programs", missing(session),
                              "use JAX, or tf.function(jit_compile=True)"});
    return report;
  }
  report.document =
      Viewer(*chosen, std::atoll(std::string(options.parameter("memory_space", "0")).c_str()))
          .run(report);
  return report;
}

}  // namespace

extern const Tool kMemoryViewer;
const Tool kMemoryViewer{"memory_viewer", "Memory of a compiled program", memory_viewer, missing};

}  // namespace sonde::profile
