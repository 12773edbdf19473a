// Device time as a tree: program, category, op, and what is fused into it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "capture/analysis/hlo/cost.h"
#include "capture/analysis/hlo/text.h"
#include "capture/analysis/ops/device_rates.h"

namespace sonde::capture {
namespace {

struct Node {
  std::string name;
  double time_ps = 0, flops = 0, model_flops = 0, bytes = 0, vmem_read = 0, vmem_write = 0;
  int64_t occurrences = 0;
  const DeviceOp* op = nullptr;
  bool is_idle = false, counts = false;  // counts: occurrences and averages are shown
  Json xla;
  std::vector<Node> children;

  void add(const DeviceOp& o) {
    time_ps += static_cast<double>(o.self_ps);
    flops += o.flops;
    model_flops += o.model_flops;
    bytes += o.hbm_bytes;
    vmem_read += o.vmem_read;
    vmem_write += o.vmem_write;
    occurrences += o.occurrences;
  }
};

Json xla_json(std::string_view expression, std::string_view provenance, std::string_view category,
              uint64_t program, std::string_view source, std::string_view stack, int64_t no_line) {
  std::string file(source);
  int64_t line = no_line;
  if (const size_t colon = file.rfind(':'); colon != std::string::npos) {
    line = std::atoll(file.c_str() + colon + 1);
    file.resize(colon);
  }
  Json info = Json::object();
  info.set("fileName", file).set("lineNumber", line).set("stackFrame", stack);
  Json out = Json::object();
  out.set("op", "")
      .set("expression", expression)
      .set("provenance", provenance)
      .set("category", category);
  out.set("computationPrimitiveSize", 0)
      .set("fingerprint", "0")
      .set("programId", fmt::format("{}", program));
  out.set("sourceInfo", std::move(info)).set("xprofKernelMetadata", "");
  return out;
}

std::string fused_category(const hlo::Instruction& i) {
  static constexpr std::string_view kPlain[] = {
      "broadcast",   "reduce", "convolution", "dot",     "transpose", "copy",   "slice",
      "concatenate", "iota",   "bitcast",     "reshape", "pad",       "gather", "scatter"};
  return std::ranges::find(kPlain, i.opcode) != std::end(kPlain) ? i.opcode
                                                                 : "non-fusion elementwise";
}

Node leaf_of(const DeviceOp& op, bool tpu) {
  Node node;
  node.name = op.name;
  node.op = &op;
  node.counts = true;
  node.add(op);
  node.xla = xla_json(op.expression, op.provenance, op.category, op.program_id, op.source,
                      op.source_stack, tpu ? 0 : -1);
  if (!tpu || !op.instruction || op.instruction->opcode != "fusion" ||
      op.instruction->called.empty())
    return node;
  const hlo::Computation* body = op.module->computation(op.instruction->called[0]);
  for (uint32_t k = 0; body && k < body->count; ++k) {
    const hlo::Instruction& inner = op.module->instructions[body->first + k];
    if (inner.opcode == "parameter") continue;
    Node child;
    child.name = inner.name;
    child.occurrences = 1;
    child.counts = true;
    child.xla = xla_json(hlo::instruction_text(*op.module, inner, hlo::TextStyle::kOneLine),
                         inner.op_name + ":" + inner.op_type, fused_category(inner), 0, "", "", 0);
    node.children.push_back(std::move(child));
  }
  return node;
}

void sort_children(Node& node) {
  std::stable_sort(node.children.begin(), node.children.end(),
                   [](const Node& a, const Node& b) { return a.time_ps > b.time_ps; });
  for (Node& child : node.children) {
    if (!child.op) sort_children(child);
  }
}

// Ops of one category; those the compiler made from one are put together.
Node category_node(const std::string& name, const std::vector<const DeviceOp*>& ops, bool tpu) {
  Node node;
  node.name = name;
  node.counts = true;
  std::map<std::string, std::vector<const DeviceOp*>> groups;
  std::vector<std::string> order;
  for (const DeviceOp* op : ops) {
    const std::string key = op->deduplicated_name.empty() ? op->name : op->deduplicated_name;
    if (groups[key].empty()) order.push_back(key);
    groups[key].push_back(op);
    node.add(*op);
  }
  for (const std::string& key : order) {
    const auto& members = groups[key];
    if (members.size() == 1) {
      node.children.push_back(leaf_of(*members[0], tpu));
      continue;
    }
    Node group;
    group.counts = true;
    for (const DeviceOp* op : members) {
      group.add(*op);
      group.children.push_back(leaf_of(*op, tpu));
    }
    sort_children(group);
    const DeviceOp& first = *group.children[0].op;
    group.name = first.name + " and its duplicate(s)";
    group.xla = xla_json(first.expression, "", first.category, first.program_id, first.source,
                         first.source_stack, tpu ? 0 : -1);
    node.children.push_back(std::move(group));
  }
  return node;
}

Node by_categories(std::string name, const std::vector<const DeviceOp*>& ops, bool tpu) {
  Node node;
  node.name = std::move(name);
  std::map<std::string, std::vector<const DeviceOp*>> categories;
  for (const DeviceOp* op : ops) {
    categories[op->category].push_back(op);
    node.add(*op);
  }
  for (const auto& [category, list] : categories)
    node.children.push_back(category_node(category, list, tpu));
  return node;
}

void add_by_provenance(Node& root, const DeviceOp& op, bool tpu) {
  Node* at = &root;
  const std::string_view full = parse_op_name(op.provenance).name;
  std::string_view rest = full.empty() ? "(no framework op)" : full;
  for (int depth = 0; depth < 64 && !rest.empty(); ++depth) {
    const size_t slash = rest.find('/');
    const std::string part(rest.substr(0, slash));
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    auto found = std::find_if(at->children.begin(), at->children.end(),
                              [&](const Node& n) { return n.name == part && !n.op; });
    if (found == at->children.end()) {
      Node node;
      node.name = part;
      node.counts = true;
      at->children.push_back(std::move(node));
      found = at->children.end() - 1;
    }
    at = &*found;
    at->add(op);
  }
  at->children.push_back(leaf_of(op, tpu));
}

struct Scale {
  double total_ps;
  const Peaks& peaks;
  bool tpu;
};

Json node_json(const Node& n, const Scale& scale) {
  const double seconds = n.time_ps / 1e12;
  const double use = ratio(ratio(n.flops / 1e9, seconds), scale.peaks.gflops);
  const double share = ratio(n.time_ps, scale.total_ps);
  const auto bandwidth = [&](double bytes, double peak) {
    return std::min(1.0, ratio(ratio(bytes / 1e9, seconds), peak));
  };
  const auto exact = [](double v) {
    return v == std::floor(v) && std::abs(v) < 9e15 ? Json(static_cast<int64_t>(v)) : Json(v);
  };
  const auto count = [](double v) { return Json(static_cast<int64_t>(std::floor(v + 0.5))); };
  Json metrics = Json::object();
  metrics.set("flops", std::min(1.0, use) * share).set("uncappedFlops", use * share);
  metrics.set("bandwidthUtils",
              Json(Json::Array{exact(bandwidth(n.bytes, scale.peaks.hbm_gb_per_s)),
                               exact(bandwidth(n.vmem_read, scale.peaks.vmem_read)),
                               exact(bandwidth(n.vmem_write, scale.peaks.vmem_write))}));
  metrics.set("rawTime", count(n.time_ps))
      .set("rawFlops", count(n.model_flops))
      .set("bf16Flops", count(n.flops));
  metrics.set("normalizedTimePs", scale.tpu && !n.is_idle ? count(n.time_ps) : Json(0));
  metrics.set("rawBytesAccessedArray",
              Json(Json::Array{count(n.bytes), count(n.vmem_read), count(n.vmem_write)}));
  metrics.set("occurrences", n.counts ? n.occurrences : int64_t{0});
  metrics.set("avgTimePs", n.counts ? ratio(n.time_ps, static_cast<double>(n.occurrences)) : 0.0);
  Json children = Json::array();
  for (const Node& child : n.children) children.push(node_json(child, scale));
  Json out = Json::object();
  out.set("name", n.name).set("metrics", std::move(metrics)).set("children", std::move(children));
  if (!n.xla.is_null()) out.set("xla", n.xla);
  out.set("numChildren", static_cast<int64_t>(n.children.size()));
  return out;
}

void flatten(const Node& n, const std::string& above, int depth, double total, Table& table) {
  if (depth > 64) return;
  const std::string path = above.empty() ? n.name : above + " / " + n.name;
  table.rows.push_back({path, int64_t{depth}, micros(static_cast<int64_t>(n.time_ps)),
                        100 * ratio(n.time_ps, total), n.occurrences, n.flops, n.bytes});
  for (const Node& child : n.children) {
    if (child.time_ps > 0) flatten(child, path, depth + 1, total, table);
  }
}

Node tree_of(const DeviceOps& device, std::string_view group_by, bool tpu, bool with_idle) {
  Node root;
  root.name = fmt::format("by_{}", group_by);
  std::map<uint64_t, std::vector<const DeviceOp*>> programs;
  std::vector<const DeviceOp*> all;
  for (const DeviceOp& op : device.ops) {
    if (!op.is_hlo || op.name.starts_with("region")) continue;
    programs[op.program_id].push_back(&op);
    all.push_back(&op);
    root.add(op);
  }
  root.occurrences = 0;
  if (group_by == "category") {
    root.children = by_categories("", all, tpu).children;
  } else if (group_by == "provenance") {
    for (const DeviceOp* op : all) add_by_provenance(root, *op, tpu);
  } else {
    for (const auto& [id, ops] : programs) {
      const hlo::Module* module = ops[0]->module;
      root.children.push_back(by_categories(module    ? module->display_name
                                            : id == 0 ? "main"
                                                      : fmt::format("main({})", id),
                                            ops, tpu));
    }
  }
  if (with_idle && device.idle_ps > 0 && !device.on_host && !all.empty()) {
    Node idle;
    idle.name = "IDLE";
    idle.is_idle = true;
    idle.time_ps = static_cast<double>(device.total_ps) - root.time_ps;
    idle.xla = xla_json("", "", "IDLE", 0, "", "", 0);
    root.children.push_back(std::move(idle));
    root.time_ps = static_cast<double>(device.total_ps);
  }
  sort_children(root);
  return root;
}

Result<Report> op_profile(const Session& session, const Options& options) {
  const auto hosts = chosen_hosts(session, options);
  const DeviceOps device = merged_device_ops(hosts);
  Report report;
  const Machine machine = machine_with_peaks(hosts, options, report);
  std::string_view group_by = options.parameter("group_by", "program");
  if (group_by != "program" && group_by != "category" && group_by != "provenance")
    return fail(Code::kInvalid, "group_by is program, category or provenance");
  const bool tpu = machine.hardware_type == "TPU";
  std::string key = fmt::format("by{}", group_by);
  key[2] = static_cast<char>(key[2] - 32);
  Json document = Json::object();
  Table table{"tree", "Operations"};
  table.columns = {{"path", "Operation", Type::kText},
                   {"depth", "Level"},
                   {"time_us", "Time", Type::kNumber, "us"},
                   {"percent", "Time", Type::kNumber, "%", "device time"},
                   {"occurrences", "Occurrences"},
                   {"flops", "Operations done", Type::kNumber, "FLOP"},
                   {"bytes", "Memory traffic", Type::kNumber, "bytes"}};
  for (const bool with_idle : {true, false}) {
    const Node root = tree_of(device, group_by, tpu, with_idle);
    document.set(with_idle ? key : key + "ExcludeIdle",
                 node_json(root, {root.time_ps, machine.peaks, tpu}));
    if (!with_idle) flatten(root, "", 0, root.time_ps, table);
  }
  document.set("deviceType", machine.hardware_type);
  document.set("aggDvfsTimeScaleMultiplier", tpu ? 1 : 0);
  report.document = std::move(document);
  const bool empty = table.rows.size() <= 1;
  report.tables.push_back(std::move(table));
  report.charts.push_back({"tree", "tree", "tree", "path", {"time_us"}, ""});
  if (device.on_host && !empty)
    report.inferred.push_back("the ops ran on host threads: times are thread time");
  if (empty) {
    report.missing.push_back({"HLO operations",
                              "the capture holds no op of a program compiled by XLA",
                              "use JAX, or tf.function(jit_compile=True)"});
  }
  return report;
}

std::string what_is_missing(const Session& session) {
  for (const auto& host : session.analysis().hosts) {
    for (const DeviceOp& op : host->device_ops().ops) {
      if (op.is_hlo) return {};
    }
  }
  return "no operation of a program compiled by XLA in this capture";
}

}  // namespace

extern const Tool kOpProfile;
const Tool kOpProfile{"op_profile", "Op profile", op_profile, what_is_missing};

}  // namespace sonde::capture
