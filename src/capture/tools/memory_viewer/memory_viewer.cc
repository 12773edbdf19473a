// Device memory of one compiled program over its own order: the compiler's heap simulation
// replayed (heap.h), and what is alive at the peak.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "capture/analysis/merged.h"
#include "capture/tools/memory_viewer/heap.h"

namespace sonde::capture {
namespace {

using hlo::Instruction;
using hlo::Module;
using memory_viewer::Allocation;
using memory_viewer::Assigned;
using memory_viewer::Heap;
using memory_viewer::mib;
using memory_viewer::shape_of;
constexpr int64_t kSmallBytes = 16384;

class Viewer {
 public:
  Viewer(const Module& module, int64_t color) : heap_(module, color) {}

  Json run(Report& report) {
    Json out = Json::object();
    list(out, "heapSizes", heap_.sizes());
    list(out, "unpaddedHeapSizes", heap_.unpadded_sizes());
    peak_objects(out);
    if (!heap_.spans().empty()) {
      Json spans = Json::object();
      for (const auto& [id, span] : heap_.spans()) {
        Json s = Json::object();
        if (span.first != 0) s.set("start", span.first);
        if (span.second != 0) s.set("limit", span.second);
        spans.set(fmt::format("{}", id), std::move(s));
      }
      out.set("logicalBufferSpans", std::move(spans));
    }
    out.set("moduleName", heap_.module().name)
        .set("entryComputationName", heap_.module().entry_name);
    number(out, "peakHeapMib", mib(heap_.peak_bytes()));
    number(out, "peakUnpaddedHeapMib", mib(heap_.unpadded_peak_bytes()));
    if (heap_.peak_position() != 0) out.set("peakHeapSizePosition", heap_.peak_position());
    int64_t parameters = 0, live_out = 0, total = 0, not_reusable = 0;
    for (const Allocation& a : heap_.assignment().allocations) {
      if (!heap_.is_here(a)) continue;
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
    number(out, "indefiniteBufferAllocationMib", mib(heap_.indefinite_bytes()));
    Json names = Json::array();
    for (const std::string& name : heap_.instructions()) names.push(name);
    if (!heap_.instructions().empty()) out.set("hloInstructionNames", std::move(names));
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
    const auto found = heap_.assignment().buffers.find(id);
    o.size = heap_.size_of(id);
    o.unpadded = heap_.unpadded_size_of(id);
    const Instruction* i =
        found == heap_.assignment().buffers.end() ? nullptr : heap_.instruction_of(found->second);
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
    o.source = heap_.module().source(*i);
    o.stack = heap_.module().source_stack(*i);
    return o;
  }

  std::vector<Object> objects() const {
    std::vector<Object> all;
    int64_t small = 0;
    for (const Allocation& a : heap_.assignment().allocations) {
      if (!heap_.is_here(a) || a.thread_local_ || a.assigned.empty()) continue;
      if (!a.indefinite() && heap_.has_trace()) continue;
      const std::string group = a.parameter  ? "Parameter"
                                : a.live_out ? "Output"
                                : a.constant ? "Constant"
                                             : "Temporary";
      // The largest buffer stands for the allocation.
      int64_t largest = a.assigned[0].buffer, most = 0;
      for (const Assigned& x : a.assigned) {
        const int64_t unpadded = heap_.unpadded_size_of(x.buffer);
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
    for (const int64_t id : heap_.alive_at_peak()) {
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
    for (const Allocation& a : heap_.assignment().allocations) {
      if (!a.indefinite() || a.thread_local_ || !heap_.is_here(a)) continue;
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
    if (!heap_.has_trace()) return;
    Json blocks = Json::array();
    for (const Allocation& a : heap_.assignment().allocations) {
      if (!heap_.simulates(a)) continue;
      Json whole = Json::object();
      whole.set("logicalBufferId", -1).set("name", "Temporary").set("size", a.size);
      whole.set("endStep", static_cast<int64_t>(heap_.event_count()))
          .set("category", "Temporary")
          .set("color", "#ffffff");
      blocks.push(std::move(whole));
      for (const Assigned& x : a.assigned) {
        const auto span = heap_.spans().find(x.buffer);
        if (span == heap_.spans().end()) continue;
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

  // The memories the program has allocations in, by the compiler's number of each.
  Table memories() const {
    struct Sum {
      int64_t allocations = 0, bytes = 0;
    };
    std::map<int64_t, Sum> sums;
    for (const Allocation& a : heap_.assignment().allocations) {
      if (a.thread_local_) continue;
      ++sums[a.color].allocations;
      sums[a.color].bytes += a.size;
    }
    Table table{"memories", "Memories"};
    table.columns = {{"memory_space", "Memory space", Type::kText},
                     {"allocations", "Allocations"},
                     {"size", "Size", Type::kNumber, "MiB"}};
    for (const auto& [color, sum] : sums)
      table.rows.push_back({fmt::format("{}", color), sum.allocations, mib(sum.bytes)});
    return table;
  }

  void tables(Report& report) const {
    Table timeline{"timeline", "Memory over the program's order"};
    timeline.columns = {{"position", "Position"},
                        {"instruction", "Instruction", Type::kText},
                        {"memory", "Memory", Type::kNumber, "MiB"}};
    for (size_t i = 0; i < heap_.sizes().size(); ++i)
      timeline.rows.push_back({static_cast<int64_t>(i), heap_.instructions()[i], heap_.sizes()[i]});
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
    report.tables.push_back(memories());
    report.charts.push_back({"memory", "line", "timeline", "position", {"memory"}, ""});
    report.figure("peak", "Peak", mib(heap_.peak_bytes()), "MiB");
    if (heap_.is_damaged())
      report.diagnostics.push_back(
          {"warning", "the compiler's heap trace frees a buffer twice; the curve may be off"});
  }

  const Heap heap_;
};

std::string what_is_missing(const Session& session) {
  for (const auto& host : session.analysis().hosts) {
    for (const auto& module : host->modules().all()) {
      if (!module->buffer_assignment.empty()) return {};
    }
  }
  return "no HLO module with a buffer assignment in this capture";
}

Result<Report> run(const Session& session, const Options& options) {
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
    report.missing.push_back({"memory of compiled programs", what_is_missing(session),
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
const Tool kMemoryViewer{"memory_viewer", "Compiled-program memory", run, what_is_missing};

}  // namespace sonde::capture
