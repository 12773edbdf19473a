// Modules of a PyTorch model by time: the tree as the program called it, merged over calls, with
// host and device time of each.
#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>

#include "capture/analysis/merged.h"
#include "capture/analysis/pytorch/views.h"

namespace sonde::capture {
namespace {

using namespace pytorch;

constexpr std::string_view kPrefix = "nn.Module: ";
constexpr size_t kMaxDepth = 90;

struct Stats {
  int64_t calls = 0, operators = 0;
  int64_t host_ps = 0, self_host_ps = 0, device_ps = 0, self_device_ps = 0, launch_ps = 0;

  double average_us() const {
    return us(device_ps > 0 ? device_ps : host_ps) /
           static_cast<double>(std::max<int64_t>(1, calls));
  }
};
using ModuleKey = std::pair<trace::StringId, int64_t>;  // name, module id

// One kind of module with its children; equal structures are one entry.
struct Shape {
  ModuleKey key;
  std::vector<uint32_t> children;
  friend auto operator<=>(const Shape&, const Shape&) = default;
};

struct Modules {
  std::map<ModuleKey, Stats> stats;
  std::vector<Shape> shapes;
  std::vector<uint32_t> roots;  // distinct shapes, by name
};

int64_t number(const Capture& c, trace::SliceId s, trace::KeyId key, int64_t otherwise) {
  const auto value = c.trace.find(c.trace.args(s), key);
  return value && value->is_number() ? value->as_int() : otherwise;
}

ModuleKey key_of(const Capture& c, trace::SliceId s) {
  return {c.trace.label(s).name, number(c, s, c.words.python_module, 0)};
}

void add_stats(const Capture& c, Modules& out) {
  std::vector<int64_t> operators(c.nodes.size(), 0), operator_device(c.nodes.size(), 0);
  for (const Node& node : c.nodes) {
    if (!node.is_row || node.merged || node.parent == pytorch::kNone) continue;
    ++operators[node.parent];
    operator_device[node.parent] += node.device_ps;
  }
  for (uint32_t n = 0; n < c.nodes.size(); ++n) {
    const Node& node = c.nodes[n];
    if (node.kind != Kind::kModule) continue;
    Stats& stats = out.stats[key_of(c, node.slice)];
    ++stats.calls;
    stats.operators += operators[n];
    stats.host_ps += node.duration();
    stats.self_host_ps += node.self_host_ps();
    stats.launch_ps += node.launch_ps;
    stats.device_ps += node.device_ps;
    stats.self_device_ps += node.self_device_ps + operator_device[n];
  }
}

// The module calls around every module call, by the Python tracer's own links: a call of another
// thread has its parent there too.
std::vector<std::pair<trace::SliceId, uint32_t>> call_tree(const Capture& c) {
  std::vector<std::pair<trace::SliceId, uint32_t>> calls;  // slice, index of the parent call
  boost::unordered_flat_map<int64_t, uint32_t> innermost;  // by Python id
  for (trace::SliceId s = 0; s < c.trace.slice_count(); ++s) {
    const Kind kind = c.words.of(c.trace, s).kind;
    if (kind != Kind::kPython && kind != Kind::kModule) continue;
    const int64_t parent_id = number(c, s, c.words.python_parent, -1);
    const auto parent = innermost.find(parent_id);
    uint32_t module = parent == innermost.end() ? pytorch::kNone : parent->second;
    if (kind == Kind::kModule) {
      calls.emplace_back(s, module);
      module = static_cast<uint32_t>(calls.size() - 1);
    }
    innermost[number(c, s, c.words.python_id, -2)] = module;
  }
  return calls;
}

Modules modules_of(const Capture& c) {
  Modules out;
  add_stats(c, out);
  const auto calls = call_tree(c);
  std::vector<std::vector<uint32_t>> children(calls.size());
  for (uint32_t i = 0; i < calls.size(); ++i) {
    if (calls[i].second != pytorch::kNone) children[calls[i].second].push_back(i);
  }
  std::vector<uint32_t> shape_of(calls.size());
  std::map<Shape, uint32_t> known;
  for (size_t i = calls.size(); i-- > 0;) {
    Shape shape{key_of(c, calls[i].first), {}};
    for (const uint32_t child : children[i]) shape.children.push_back(shape_of[child]);
    const auto [at, is_new] = known.try_emplace(shape, static_cast<uint32_t>(out.shapes.size()));
    if (is_new) out.shapes.push_back(std::move(shape));
    shape_of[i] = at->second;
  }
  for (uint32_t i = 0; i < calls.size(); ++i) {
    const bool is_root = calls[i].second == pytorch::kNone;
    if (is_root && std::find(out.roots.begin(), out.roots.end(), shape_of[i]) == out.roots.end())
      out.roots.push_back(shape_of[i]);
  }
  std::stable_sort(out.roots.begin(), out.roots.end(), [&](uint32_t a, uint32_t b) {
    return c.trace.text(out.shapes[a].key.first) < c.trace.text(out.shapes[b].key.first);
  });
  return out;
}

std::string shown_name(const Capture& c, const ModuleKey& key) {
  std::string_view name = c.trace.text(key.first);
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return std::string(name);
}

Json recorded_module(const Capture& c, const Modules& modules, uint32_t shape, size_t depth) {
  const Shape& s = modules.shapes[shape];
  static constexpr Stats kNothing;
  const auto found = modules.stats.find(s.key);
  const Stats& stats = found == modules.stats.end() ? kNothing : found->second;
  Json row = Json::object();
  row.set("name", Json(shown_name(c, s.key)));
  row.set("id", Json(s.key.second));
  row.set("occurences", Json(stats.calls));
  row.set("operators", Json(stats.operators));
  row.set("host_duration", Json(us(stats.host_ps)));
  row.set("self_host_duration", Json(us(stats.self_host_ps)));
  row.set("device_duration", Json(us(stats.device_ps)));
  row.set("self_device_duration", Json(us(stats.self_device_ps)));
  row.set("launch_duration", Json(us(stats.launch_ps)));
  row.set("avg_duration", Json(stats.average_us()));
  Json children = Json::array();
  if (depth < kMaxDepth) {
    for (const uint32_t child : s.children)
      children.push(recorded_module(c, modules, child, depth + 1));
  }
  row.set("children", std::move(children));
  return row;
}

Report recorded(const Capture& c, const Modules& modules) {
  Report report;
  if (modules.roots.empty()) return report;
  Json columns = Json::array();
  struct Named {
    const char *name, *type, *key;
  };
  for (const Named& n : {Named{"Module Name", "string", "name"},
                         {"Occurences", "number", "occurences"},
                         {"Operators", "number", "operators"},
                         {"Host Total Time", "number", "host_duration"},
                         {"Host Self Time", "number", "self_host_duration"},
                         {"Device Total Time", "number", "device_duration"},
                         {"Device Self Time", "number", "self_device_duration"}}) {
    Json column = Json::object();
    column.set("name", Json(n.name)).set("type", Json(n.type)).set("key", Json(n.key));
    columns.push(std::move(column));
  }
  Json data = Json::array();
  for (const uint32_t root : modules.roots) data.push(recorded_module(c, modules, root, 0));
  report.document = Json::object();
  report.document->set("columns", std::move(columns));
  report.document->set("data", std::move(data));
  return report;
}

// Siblings of one kind are shown once, with how often they occur below their parent.
void add_rows(const Capture& c, const Modules& modules, uint32_t shape, int64_t parent,
              size_t depth, Table& table) {
  const Shape& s = modules.shapes[shape];
  const auto found = modules.stats.find(s.key);
  if (found == modules.stats.end() || depth > kMaxDepth) return;
  const Stats& stats = found->second;
  const auto id = static_cast<int64_t>(table.rows.size());
  table.rows.push_back({shown_name(c, s.key), id, parent, static_cast<int64_t>(depth), stats.calls,
                        stats.operators, us(stats.host_ps), us(stats.self_host_ps),
                        us(stats.device_ps), us(stats.self_device_ps), stats.average_us()});
  std::vector<ModuleKey> done;
  for (const uint32_t child : s.children) {
    if (std::find(done.begin(), done.end(), modules.shapes[child].key) != done.end()) continue;
    done.push_back(modules.shapes[child].key);
    add_rows(c, modules, child, id, depth + 1, table);
  }
}

Result<Report> run(const Session& session, const Options& options) {
  const auto hosts = workers(session, options);
  if (hosts.empty()) return without_capture(session);
  const Capture& c = hosts.front()->pytorch();
  const Modules modules = modules_of(c);
  if (options.parameter("view") == "module") return recorded(c, modules);
  Report report;
  if (modules.roots.empty()) {
    report.missing.push_back({"module calls", "the capture was taken without Python frames",
                              "torch.profiler.profile(with_stack=True) or with_modules=True"});
    return report;
  }
  Table& table = report.table("modules", "Modules");
  table.columns = {{"name", "Module", Type::kText},
                   {"id", "Row"},
                   {"parent", "Parent row"},
                   {"depth", "Depth"},
                   {"calls", "Calls"},
                   {"operators", "Operators"},
                   {"host_duration", "Host total", Type::kNumber, "us"},
                   {"self_host_duration", "Host self", Type::kNumber, "us"},
                   {"device_duration", "Device total", Type::kNumber, "us"},
                   {"self_device_duration", "Device self", Type::kNumber, "us"},
                   {"avg_duration", "A call", Type::kNumber, "us"}};
  for (const uint32_t root : modules.roots) add_rows(c, modules, root, -1, 0, table);
  const std::string y = c.has_kernels ? "device_duration" : "host_duration";
  report.charts.push_back({"modules", "tree", "modules", "name", {y}, "parent"});
  report.figure("modules", "Modules", static_cast<int64_t>(modules.stats.size()));
  return report;
}

std::string what_is_missing(const Session& session) {
  std::string why = missing_capture(session);
  if (!why.empty()) return why;
  return holds(session, Kind::kModule) ? "" : "no module call: profile with with_stack=True";
}

}  // namespace

extern const Tool kTorchModule;
const Tool kTorchModule{"torch.module", "PyTorch modules", run, what_is_missing};

}  // namespace sonde::capture
