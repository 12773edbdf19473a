// One compiled program: its text, an instruction's neighbourhood as a graph, or the proto itself.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "capture/analysis/hlo/cost.h"
#include "capture/analysis/hlo/text.h"
#include "capture/analysis/merged.h"

namespace sonde::capture {
namespace {

using hlo::Instruction;
using hlo::Module;

std::string what_is_missing(const Session& session) {
  for (const auto& host : session.analysis().hosts) {
    if (!host->modules().all().empty()) return {};
  }
  return "no HLO module in this capture";
}

const Module* chosen_module(const std::vector<const HostAnalysis*>& hosts, const Options& options) {
  const std::string_view name = options.parameter("module_name"),
                         program = options.parameter("program_id");
  for (const HostAnalysis* host : hosts) {
    for (const auto& module : host->modules().all()) {
      if (!name.empty() && (module->display_name == name || module->name == name))
        return module.get();
      if (!program.empty() && fmt::format("{}", module->program_id) == program) return module.get();
    }
  }
  if (!name.empty() || !program.empty()) return nullptr;
  // The one that took most time is what people want to see first; without times, the largest.
  std::map<const Module*, int64_t> time;
  for (const HostAnalysis* host : hosts) {
    for (const DeviceOp& op : host->device_ops().ops) {
      if (op.module) time[op.module] += op.self_ps;
    }
  }
  const auto hottest = std::max_element(
      time.begin(), time.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (hottest != time.end() && hottest->second > 0) return hottest->first;
  const Module* largest = nullptr;
  for (const HostAnalysis* host : hosts) {
    for (const auto& module : host->modules().all()) {
      if (!largest || module->instructions.size() > largest->instructions.size())
        largest = module.get();
    }
  }
  return largest;
}

std::vector<const Instruction*> users_of(const Module& module, const Instruction& i) {
  std::vector<const Instruction*> users;
  const hlo::Computation& c = module.computations[i.computation];
  for (uint32_t k = 0; k < c.count; ++k) {
    const Instruction& other = module.instructions[c.first + k];
    if (std::find(other.operands.begin(), other.operands.end(), i.id) != other.operands.end())
      users.push_back(&other);
  }
  return users;
}

// Instructions at most `radius` edges away, nearest first.
std::vector<const Instruction*> neighbourhood(const Module& module, const Instruction& centre,
                                              int radius) {
  std::vector<const Instruction*> found{&centre};
  std::set<const Instruction*> seen{&centre};
  std::deque<std::pair<const Instruction*, int>> queue{{&centre, 0}};
  constexpr size_t kMaxNodes = 500;
  while (!queue.empty() && found.size() < kMaxNodes) {
    const auto [at, distance] = queue.front();
    queue.pop_front();
    if (distance == radius) continue;
    const auto visit = [&](const Instruction* next) {
      if (!next || !seen.insert(next).second) return;
      found.push_back(next);
      queue.emplace_back(next, distance + 1);
    };
    for (const int64_t id : at->operands) visit(module.with_id(id));
    for (const Instruction* user : users_of(module, *at)) visit(user);
  }
  return found;
}

std::string dot_of(const Module& module, const std::vector<const Instruction*>& nodes) {
  std::string out = "digraph hlo {\n  rankdir=TB;\n  node [shape=box];\n";
  std::set<const Instruction*> here(nodes.begin(), nodes.end());
  const auto quoted = [](std::string_view text) {
    std::string q = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') q += '\\';
      q += c;
    }
    return q + "\"";
  };
  for (const Instruction* i : nodes)
    out += fmt::format("  {} [label={}];\n", quoted(i->name),
                       quoted(i->name + "\\n" + i->opcode + " " + i->shape.text(false)));
  for (const Instruction* i : nodes) {
    for (const int64_t id : i->operands) {
      const Instruction* operand = module.with_id(id);
      if (operand && here.contains(operand))
        out += fmt::format("  {} -> {};\n", quoted(operand->name), quoted(i->name));
    }
  }
  return out + "}\n";
}

Table modules_table(const std::vector<const HostAnalysis*>& hosts) {
  Table table{"modules", "Compiled programs"};
  table.columns = {{"host", "Host", Type::kText},
                   {"module", "Program", Type::kText},
                   {"program_id", "Id", Type::kText},
                   {"computations", "Computations"},
                   {"instructions", "Instructions"},
                   {"proto_bytes", "Size", Type::kNumber, "bytes"},
                   {"has_buffers", "Has buffer assignment", Type::kBool}};
  for (const HostAnalysis* host : hosts) {
    for (const auto& module : host->modules().all()) {
      table.rows.push_back(
          {host->host().name, module->display_name, fmt::format("{}", module->program_id),
           static_cast<int64_t>(module->computations.size()),
           static_cast<int64_t>(module->instructions.size()),
           static_cast<int64_t>(module->proto.size()), !module->buffer_assignment.empty()});
    }
  }
  return table;
}

Result<Report> graph_viewer(const Session& session, const Options& options) {
  const auto hosts = chosen_hosts(session, options);
  Report report;
  report.tables.push_back(modules_table(hosts));
  const Module* module = chosen_module(hosts, options);
  if (!module) {
    if (!options.parameter("module_name").empty())
      return fail(Code::kNotFound,
                  fmt::format("no module '{}' in this capture", options.parameter("module_name")));
    report.missing.push_back({"compiled programs", what_is_missing(session),
                              "use JAX, or tf.function(jit_compile=True)"});
    return report;
  }
  report.figure("module", "Program", module->display_name);
  const std::string_view type = options.parameter("type", "short_txt");
  if (type == "pb") {
    report.text = as_text(module->proto);
    report.text_type = "application/octet-stream";
    return report;
  }
  if (type == "long_txt" || type == "pbtxt") {
    report.text = hlo::module_text(*module, hlo::TextStyle::kLong);
    report.text_type = "text/plain";
    return report;
  }
  if (type == "short_txt") {
    report.text = hlo::module_text(*module, hlo::TextStyle::kShort);
    report.text_type = "text/plain";
    return report;
  }
  const std::string_view node = options.parameter("node_name");
  const Instruction* centre = module->find(node);
  if (!centre && !node.empty())
    return fail(Code::kNotFound,
                fmt::format("no instruction '{}' in {}", node, module->display_name));
  if (!centre) {
    const hlo::Computation* entry = module->computation(module->entry_id);
    if (entry) centre = module->with_id(entry->root);
  }
  if (!centre) return fail(Code::kInvalid, "name an instruction with node_name");
  if (type == "adj_nodes") {
    Json operands = Json::array(), consumers = Json::array();
    for (const int64_t id : centre->operands) {
      if (const Instruction* operand = module->with_id(id)) operands.push(operand->name);
    }
    for (const Instruction* user : users_of(*module, *centre)) consumers.push(user->name);
    report.document = Json::object();
    report.document->set("consumer_names", std::move(consumers))
        .set("operand_names", std::move(operands));
    return report;
  }
  if (type != "graph")
    return fail(Code::kUnsupported, fmt::format("graph_viewer has no type '{}'", type));
  const int radius =
      std::clamp(std::atoi(std::string(options.parameter("graph_width", "3")).c_str()), 0, 20);
  const auto nodes = neighbourhood(*module, *centre, radius);
  Table graph{"nodes", "Neighbourhood"};
  graph.columns = {{"name", "Instruction", Type::kText},
                   {"opcode", "Op", Type::kText},
                   {"shape", "Shape", Type::kText},
                   {"category", "Category", Type::kText},
                   {"framework_op", "Framework op", Type::kText},
                   {"source", "Source", Type::kText},
                   {"operands", "Operands", Type::kText}};
  for (const Instruction* i : nodes) {
    std::string operands;
    for (const int64_t id : i->operands) {
      if (const Instruction* operand = module->with_id(id))
        operands += (operands.empty() ? "" : " ") + operand->name;
    }
    graph.rows.push_back({i->name, i->opcode, i->shape.text(true), hlo::category_of(*i),
                          i->framework_op(), module->source(*i), operands});
  }
  report.tables.push_back(std::move(graph));
  report.text = dot_of(*module, nodes);
  report.text_type = "text/vnd.graphviz";
  return report;
}

}  // namespace

extern const Tool kGraphViewer;
const Tool kGraphViewer{"graph_viewer", "HLO graph", graph_viewer, what_is_missing};

}  // namespace sonde::capture
