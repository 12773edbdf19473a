#include "graph/model.h"

#include <fmt/core.h>

#include <algorithm>

#include "codec/wire.h"

namespace sonde::graph {
namespace {

using wire::Cursor;
using wire::Field;

struct RawInput {
  std::string_view name;  // without '^' and ':slot'
  uint32_t slot = 0;
  bool control = false;
};

struct RawNode {
  std::string name;
  std::vector<RawInput> inputs;
};

// "^a" is a control input, "a:1" the second output of a, "a:out:1" the same inside a function.
RawInput parse_input(std::string_view text) {
  RawInput input;
  if (text.starts_with('^')) {
    input.control = true;
    text.remove_prefix(1);
  }
  const size_t last = text.rfind(':');
  if (last != std::string_view::npos && last + 1 < text.size()) {
    uint32_t slot = 0;
    bool is_number = true;
    for (const char c : text.substr(last + 1)) {
      is_number = is_number && c >= '0' && c <= '9';
      slot = slot * 10 + static_cast<uint32_t>(c - '0');
    }
    if (is_number) {
      input.slot = slot;
      text = text.substr(0, text.find(':'));
    }
  }
  input.name = text;
  return input;
}

std::string shape_text(Bytes shape, uint64_t& elements) {
  std::string text;
  elements = 1;
  bool unknown_rank = false;
  Cursor cursor(shape);
  for (Field f; cursor.next(f);) {
    if (f.number == 3) unknown_rank = f.as_bool();
    if (f.number != 2) continue;
    int64_t size = 0;
    Cursor dim(f.bytes);
    for (Field d; dim.next(d);) {
      if (d.number == 1) size = d.as_int();
    }
    if (!text.empty()) text += "×";
    text += size < 0 ? "?" : std::to_string(size);
    if (size > 0)
      elements = elements > (UINT64_MAX >> 1) / static_cast<uint64_t>(size)
                     ? UINT64_MAX >> 1
                     : elements * static_cast<uint64_t>(size);
  }
  if (unknown_rank) return "?";
  return text.empty() ? "scalar" : text;
}

void read_attribute(Bytes entry, Node& node, StringTable& words) {
  std::string_view key;
  Bytes value;
  Cursor cursor(entry);
  for (Field f; cursor.next(f);) {
    if (f.number == 1) key = f.text();
    if (f.number == 2) value = f.bytes;
  }
  if (key != "_output_shapes" && key != "_XlaCluster" && key != "keras_class") return;
  Cursor attribute(value);
  for (Field f; attribute.next(f);) {
    if (key == "_XlaCluster" && f.number == 2) node.cluster = words.id(f.text());
    if (key == "keras_class" && f.number == 2) node.op = words.id(f.text());
    if (key != "_output_shapes" || f.number != 1) continue;
    Cursor list(f.bytes);
    for (Field item; list.next(item);) {
      if (item.number != 7) continue;
      uint64_t elements;
      node.shapes.push_back(words.id(shape_text(item.bytes, elements)));
      node.elements.push_back(elements);
    }
  }
}

Role role_of(std::string_view op) {
  if (op.find("Const") != std::string_view::npos) return Role::kConstant;
  const bool letters =
      std::all_of(op.begin(), op.end(), [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; });
  return letters && op.size() > 7 && op.ends_with("Summary") ? Role::kSummary : Role::kOp;
}

bool is_reference(std::string_view op, size_t input) {
  static constexpr std::string_view kOps[] = {
      "Assign",        "AssignAdd",   "AssignSub",     "ScatterAdd", "ScatterSub",
      "ScatterUpdate", "assign",      "assign_add",    "assign_sub", "count_up_to",
      "scatter_add",   "scatter_sub", "scatter_update"};
  return input == 0 && std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

class Reader {
 public:
  explicit Reader(Model& model) : model_(model) { model_.words.id(""); }

  bool read() {
    Cursor cursor(as_bytes(*model_.bytes));
    for (Field f; cursor.next(f);) {
      if (f.number == 1 && f.is_bytes()) read_node(f.bytes, "");
      if (f.number == 2 && f.is_bytes()) read_library(f.bytes);
    }
    return cursor.ok();
  }

  void finish() {
    make_strict();
    connect();
  }

 private:
  void problem(std::string text) {
    if (model_.problems.size() < 100) model_.problems.push_back(std::move(text));
  }

  void read_node(Bytes def, std::string_view prefix) {
    Node node;
    RawNode raw;
    node.def = def;
    node.in_function = !prefix.empty();
    Cursor cursor(def);
    for (Field f; cursor.next(f);) {
      switch (f.number) {
        case 1:
          node.name = std::string(prefix) + std::string(f.text());
          break;
        case 2:
          node.op = node.op == 0 ? model_.words.id(f.text()) : node.op;
          break;
        case 3: {
          const RawInput input = parse_input(f.text());
          const bool repeated = !raw.inputs.empty() && raw.inputs.back().name == input.name;
          if (!repeated) raw.inputs.push_back(input);
          break;
        }
        case 4:
          node.device = model_.words.id(f.text());
          break;
        case 5:
          read_attribute(f.bytes, node, model_.words);
          break;
        default:
          break;
      }
    }
    if (!cursor.ok() || node.name.empty()) {
      return problem(
          fmt::format("node {} of the graph is damaged and left out", model_.nodes.size()));
    }
    node.role = role_of(model_.words.text(node.op));
    raw.name = node.name;
    add(std::move(node), std::move(raw), prefix);
  }

  void add(Node node, RawNode raw, std::string_view prefix) {
    const uint32_t id = names_.id(node.name);
    if (id < by_name_.size())
      return problem(fmt::format("node '{}' occurs twice; the first is shown", node.name));
    by_name_.push_back(static_cast<uint32_t>(model_.nodes.size()));
    model_.nodes.push_back(std::move(node));
    raw_.push_back(std::move(raw));
    prefixes_.emplace_back(prefix);
  }

  void read_library(Bytes library) {
    Cursor cursor(library);
    for (Field f; cursor.next(f);) {
      if (f.number == 1 && f.is_bytes()) read_function(f.bytes);
    }
  }

  void read_function(Bytes function) {
    std::string name;
    std::vector<std::pair<std::string, uint64_t>> arguments;
    Cursor cursor(function);
    for (Field f; cursor.next(f);) {
      if (f.number != 1) continue;
      Cursor signature(f.bytes);
      for (Field s; signature.next(s);) {
        if (s.number == 1) name = s.text();
        if (s.number != 2) continue;
        Cursor argument(s.bytes);
        for (Field a; argument.next(a);) {
          if (a.number == 1) arguments.emplace_back(a.text(), 0);
        }
      }
    }
    if (name.empty()) return problem("a library function has no name and is left out");
    model_.functions.push_back(name);
    const std::string prefix = std::string(kFunctionPrefix) + name + "/";
    for (const auto& [argument, type] : arguments) {
      Node node;
      node.name = prefix + argument;
      node.op = model_.words.id("input_arg");
      node.in_function = true;
      add(std::move(node), {}, prefix);
    }
    Cursor again(function);
    for (Field f; again.next(f);) {
      if (f.number == 3 && f.is_bytes()) read_node(f.bytes, prefix);
    }
  }

  // A node that is also a scope moves into it, so that every name is either a node or a scope.
  void make_strict() {
    StringTable scopes;
    for (const Node& node : model_.nodes) {
      const size_t end = label_start(node.name);
      for (size_t at = node.name.find('/'); at < end; at = node.name.find('/', at + 1)) {
        scopes.id(std::string_view(node.name).substr(0, at));
      }
    }
    for (size_t i = 0; i < model_.nodes.size(); ++i) {
      Node& node = model_.nodes[i];
      if (scopes.find(node.name) != UINT32_MAX) {
        node.name += "/(" + node.name.substr(label_start(node.name)) + ")";
      }
      if (model_.names.id(node.name) == model_.name_nodes.size())
        model_.name_nodes.push_back(static_cast<uint32_t>(i));
    }
  }

  void connect() {
    for (uint32_t to = 0; to < model_.nodes.size(); ++to) {
      const auto op = model_.words.text(model_.nodes[to].op);
      for (size_t i = 0; i < raw_[to].inputs.size(); ++i) {
        const RawInput& input = raw_[to].inputs[i];
        const uint32_t id = names_.find(prefixes_[to] + std::string(input.name));
        if (id == UINT32_MAX) {
          ++model_.dropped_edges;
          problem(fmt::format("input '{}' of node '{}' names no node of the graph", input.name,
                              model_.nodes[to].name));
          continue;
        }
        const uint32_t from = by_name_[id];
        if (from == to) continue;
        const EdgeKind kind = input.control         ? EdgeKind::kControl
                              : is_reference(op, i) ? EdgeKind::kReference
                                                    : EdgeKind::kData;
        model_.edges.push_back({from, to, input.slot, kind});
      }
    }
  }

  Model& model_;
  StringTable names_;  // names as written
  std::vector<uint32_t> by_name_;
  std::vector<RawNode> raw_;
  std::vector<std::string> prefixes_;
};

}  // namespace

size_t label_start(std::string_view name) {
  size_t start = 0;
  for (size_t depth = 0; depth < kMaxDepth; ++depth) {
    const size_t at = name.find('/', start);
    if (at == std::string_view::npos) break;
    start = at + 1;
  }
  return start;
}

uint32_t Model::find(std::string_view name) const {
  uint32_t id = names.find(name);
  if (id == UINT32_MAX) {
    id = names.find(std::string(name) + "/(" + std::string(name.substr(label_start(name))) + ")");
  }
  return id == UINT32_MAX ? kNone : name_nodes[id];
}

Result<Model> read_model(std::string graph_def) {
  Model model;
  model.bytes = std::make_shared<const std::string>(std::move(graph_def));
  Reader reader(model);
  const bool intact = reader.read();
  if (!intact && model.nodes.empty())
    return fail(Code::kCorrupt, "the graph's bytes are no GraphDef");
  if (!intact)
    model.problems.insert(model.problems.begin(),
                          "the graph's bytes end in damage; what came before it is shown");
  reader.finish();
  return model;
}

}  // namespace sonde::graph
