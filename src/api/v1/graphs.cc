// GET graphs and what is inside one: a laid-out level, search, a node, its traced inputs, the file.
#include <fmt/format.h>

#include <algorithm>

#include "api/services/graph_source.h"
#include "api/v1/area.h"
#include "api/v1/support.h"
#include "base/regex.h"
#include "graph/attributes.h"
#include "graph/level.h"
#include "graph/pbtxt.h"
#include "graph/pbtxt_read.h"

namespace sonde::api::v1 {
namespace {

using graph::EdgeKind;
using graph::Item;
using graph::ItemKind;
using graph::kNone;

std::string_view kind_name(EdgeKind kind) {
  return kind == EdgeKind::kControl     ? "control"
         : kind == EdgeKind::kReference ? "reference"
                                        : "data";
}

Answer list(const Context& context, const Request&) {
  std::string body;
  JsonWriter json(body);
  json.array([&] {
    for (const GraphEntry& entry : graph_entries(context)) {
      json.object([&] {
        json.key("id").string(entry.id);
        json.key("run").string(entry.run);
        json.key("tag").string(entry.tag);
        json.key("kind").string(entry.kind);
        json.key("metadata").array([&] {
          for (const auto& tag : entry.metadata) json.string(tag);
        });
      });
    }
  });
  return json_answer(context, context.store.snapshot()->revision, std::move(body));
}

Answer upload(const Context& context, const Request& request) {
  SONDE_ANSWER(allowed, may_write(request).map([] { return true; }));
  (void)allowed;
  SONDE_ANSWER(const content, request.content());
  std::string bytes(content);
  // Text or binary is told by content: a GraphDef's first byte is a field key, never a letter.
  const bool is_text = !bytes.empty() && bytes.find('\0') == std::string::npos &&
                       bytes.find("node") != std::string::npos && bytes.find('{') < 64;
  if (is_text) {
    SONDE_ANSWER(parsed, graph::from_pbtxt(bytes, graph::kGraphDef));
    bytes = std::move(parsed);
  }
  SONDE_ANSWER(model, graph::read_model(bytes));
  if (model.nodes.empty())
    return error({Code::kInvalid, "the file holds no graph: no node could be read"}, "",
                 "upload a GraphDef as .pb or .pbtxt");
  const std::string name(request.param("name").value_or("uploaded graph"));
  std::string body;
  JsonWriter json(body);
  json.object([&] { json.key("graph").string(keep_upload(context, name, std::move(bytes))); });
  return Answer::json(std::move(body));
}

void write_item(JsonWriter& json, const LoadedGraph& graph, const Item& item) {
  json.key("name").string(item.path);
  json.key("label").string(item.label);
  json.key("kind").string(item.kind == ItemKind::kOp       ? "op"
                          : item.kind == ItemKind::kSeries ? "series"
                                                           : "scope");
  json.key("count").number(item.ops);
  if (item.kind == ItemKind::kOp)
    json.key("op").string(graph.model.words.text(graph.model.nodes[item.node].op));
  if (item.kind == ItemKind::kSeries && !item.children.empty()) {
    json.key("op").string(
        graph.model.words.text(graph.model.nodes[graph.hierarchy.items[item.children[0]].node].op));
  }
  if (item.device != 0) json.key("device").string(graph.model.words.text(item.device));
  if (item.cluster != 0) json.key("cluster").string(graph.model.words.text(item.cluster));
  if (item.start_ps >= 0) json.key("time_ps").safe_integer(item.end_ps - item.start_ps);
  if (item.bytes > 0) json.key("bytes").number(item.bytes);
  if (item.structure != 0) json.key("same").number(item.structure);
}

void write_stubs(JsonWriter& json, const LoadedGraph& graph, std::string_view key,
                 const std::vector<graph::Stub>& stubs, uint32_t more) {
  if (stubs.empty()) return;
  json.key(key).object([&] {
    json.key("more").number(more);
    json.key("items").array([&] {
      for (const graph::Stub& stub : stubs) {
        json.object([&] {
          json.key("name").string(graph.hierarchy.items[stub.item].path);
          json.key("kind").string(kind_name(stub.kind));
        });
      }
    });
  });
}

void write_node(JsonWriter& json, const LoadedGraph& graph, const graph::PictureNode& node,
                size_t id) {
  json.object([&] {
    json.key("id").number(static_cast<uint64_t>(id));
    write_item(json, graph, graph.hierarchy.items[node.item]);
    json.key("x").number(node.x);
    json.key("y").number(node.y);
    json.key("w").number(node.width);
    json.key("h").number(node.height);
    if (node.is_open) json.key("open").boolean(true);
    if (node.is_aside) json.key("aside").boolean(true);
    if (node.constants > 0) json.key("constants").number(node.constants);
    if (node.summaries > 0) json.key("summaries").number(node.summaries);
    write_stubs(json, graph, "in", node.in, node.more_in);
    write_stubs(json, graph, "out", node.out, node.more_out);
  });
}

void write_picture(JsonWriter& json, const LoadedGraph& graph, const graph::Picture& picture) {
  json.key("width").number(picture.width);
  json.key("height").number(picture.height);
  json.key("ops").number(graph.hierarchy.items[0].ops);
  json.key("left_out").number(picture.left_out);
  json.key("stats").number(graph.stats);
  json.key("nodes").array([&] {
    for (size_t i = 0; i < picture.nodes.size(); ++i) write_node(json, graph, picture.nodes[i], i);
  });
  json.key("edges").array([&] {
    for (const graph::PictureEdge& edge : picture.edges) {
      json.object([&] {
        json.key("from").number(edge.from);
        json.key("to").number(edge.to);
        json.key("kind").string(kind_name(edge.kind));
        json.key("count").number(edge.count);
        json.key("elements").number(edge.elements);
        if (!edge.label.empty()) json.key("label").string(edge.label);
        json.key("at").array([&] {
          json.number(edge.label_at.x);
          json.number(edge.label_at.y);
        });
        json.key("points").array([&] {
          for (const graph::Point& p : edge.points) {
            json.number(p.x);
            json.number(p.y);
          }
        });
      });
    }
  });
  json.key("functions").array([&] {
    for (const uint32_t item : picture.functions) {
      json.object([&] {
        json.key("name").string(graph.hierarchy.items[item].path);
        json.key("count").number(graph.hierarchy.items[item].ops);
      });
    }
  });
  json.key("errors").array([&] {
    for (const auto& problem : graph.model.problems) json.string(problem);
  });
}

// Names in a body's list as items; unknown ones are left out (a link from an older graph).
Result<std::vector<uint32_t>> items_in(const JsonValue& body, std::string_view key,
                                       const graph::Hierarchy& hierarchy) {
  std::vector<uint32_t> items;
  const JsonValue* list = body.find(key);
  if (!list) return items;
  if (!list->is_array())
    return fail(Code::kInvalid, fmt::format("'{}' must be a list of names", key));
  for (const JsonValue& name : list->items) {
    const uint32_t item = name.is_string() ? hierarchy.find(name.text) : kNone;
    if (item != kNone) items.push_back(item);
  }
  return items;
}

Answer level(const Context& context, const Request& request, const LoadedGraph& graph) {
  SONDE_ANSWER(body, object_of(request));
  SONDE_ANSWER(scope, text_in(body, "scope", request.param("scope").value_or("")));
  graph::LevelQuery query;
  query.scope = graph.hierarchy.find(scope);
  if (query.scope == kNone)
    return error({Code::kNotFound, fmt::format("the graph has no scope '{}'", scope)});
  SONDE_ANSWER(open, items_in(body, "open", graph.hierarchy));
  SONDE_ANSWER(aside, items_in(body, "aside", graph.hierarchy));
  SONDE_ANSWER(inside, items_in(body, "inside", graph.hierarchy));
  for (const auto name : request.params("open")) {
    if (const uint32_t item = graph.hierarchy.find(name); item != kNone) open.push_back(item);
  }
  query.open = std::move(open);
  query.aside = std::move(aside);
  query.inside = std::move(inside);
  std::string out;
  JsonWriter json(out);
  json.object(
      [&] { write_picture(json, graph, graph::draw_level(graph.model, graph.hierarchy, query)); });
  return json_answer(context, context.store.snapshot()->revision, std::move(out));
}

// The scopes above an item, outermost first: what must be open to see it.
void write_path(JsonWriter& json, const graph::Hierarchy& hierarchy, uint32_t item) {
  std::vector<uint32_t> above;
  for (uint32_t i = hierarchy.items[item].parent; i != kNone && i != 0;
       i = hierarchy.items[i].parent)
    above.push_back(i);
  std::reverse(above.begin(), above.end());
  json.key("open").array([&] {
    for (const uint32_t i : above) json.string(hierarchy.items[i].path);
  });
}

Answer search(const Context& context, const Request& request, const LoadedGraph& graph) {
  SONDE_ANSWER(pattern, text_param(request, "re"));
  SONDE_ANSWER(limit, integer_param(request, "limit", 100));
  SONDE_ANSWER(regex, Regex::compile("(?i)" + pattern));
  uint64_t total = 0;
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("hits").array([&] {
      for (uint32_t i = 1; i < graph.hierarchy.items.size(); ++i) {
        if (!regex.found_in(graph.hierarchy.items[i].path)) continue;
        if (++total > static_cast<uint64_t>(std::max<int64_t>(0, limit))) continue;
        json.object([&] {
          write_item(json, graph, graph.hierarchy.items[i]);
          write_path(json, graph.hierarchy, i);
        });
      }
    });
    json.key("total").number(total);
  });
  return json_answer(context, context.store.snapshot()->revision, std::move(out));
}

bool is_inside(const graph::Hierarchy& hierarchy, uint32_t item, uint32_t scope) {
  for (uint32_t i = item; i != kNone; i = hierarchy.items[i].parent) {
    if (i == scope) return true;
  }
  return false;
}

// Edges that cross the border of an item, inwards or outwards; at most kMost are listed.
void write_neighbours(JsonWriter& json, const LoadedGraph& graph, uint32_t item, bool inputs) {
  constexpr uint64_t kMost = 500;
  uint64_t total = 0;
  json.key(inputs ? "inputs" : "outputs").array([&] {
    for (const graph::Edge& edge : graph.model.edges) {
      const uint32_t from = graph.hierarchy.item_of_node[edge.from],
                     to = graph.hierarchy.item_of_node[edge.to];
      if (!is_inside(graph.hierarchy, inputs ? to : from, item) ||
          is_inside(graph.hierarchy, inputs ? from : to, item))
        continue;
      if (++total > kMost) continue;
      const graph::Node& source = graph.model.nodes[edge.from];
      json.object([&] {
        json.key("name").string(graph.model.nodes[inputs ? edge.from : edge.to].name);
        json.key("slot").number(edge.slot);
        json.key("kind").string(kind_name(edge.kind));
        if (edge.slot < source.shapes.size())
          json.key("shape").string(graph.model.words.text(source.shapes[edge.slot]));
      });
    }
  });
  json.key(inputs ? "inputs_total" : "outputs_total").number(total);
}

Answer node(const Context& context, const Request& request, const LoadedGraph& graph) {
  SONDE_ANSWER(name, text_param(request, "name"));
  uint32_t item = graph.hierarchy.find(name);
  if (item == kNone) {
    const uint32_t renamed = graph.model.find(name);
    if (renamed == kNone)
      return error({Code::kNotFound, fmt::format("the graph has no node '{}'", name)});
    item = graph.hierarchy.item_of_node[renamed];
  }
  const Item& found = graph.hierarchy.items[item];
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    write_item(json, graph, found);
    write_path(json, graph.hierarchy, item);
    json.key("attributes").array([&] {
      if (found.node == kNone) return;
      for (const graph::Attribute& attribute :
           graph::attributes(graph.model.nodes[found.node].def)) {
        json.object([&] {
          json.key("key").string(attribute.key);
          json.key("text").string(attribute.text);
          json.key("bytes").number(attribute.size_bytes);
        });
      }
    });
    json.key("shapes").array([&] {
      if (found.node == kNone) return;
      for (const uint32_t shape : graph.model.nodes[found.node].shapes)
        json.string(graph.model.words.text(shape));
    });
    write_neighbours(json, graph, item, true);
    write_neighbours(json, graph, item, false);
  });
  return json_answer(context, context.store.snapshot()->revision, std::move(out));
}

Answer outline(const Context& context, const Request& request, const LoadedGraph& graph) {
  const uint32_t scope = graph.hierarchy.find(request.param("scope").value_or(""));
  if (scope == kNone) return error({Code::kNotFound, "the graph has no such scope"});
  std::string out;
  JsonWriter json(out);
  json.array([&] {
    for (const uint32_t child : graph.hierarchy.items[scope].children) {
      json.object([&] { write_item(json, graph, graph.hierarchy.items[child]); });
    }
  });
  return json_answer(context, context.store.snapshot()->revision, std::move(out));
}

Answer trace(const Context& context, const Request& request, const LoadedGraph& graph) {
  SONDE_ANSWER(name, text_param(request, "name"));
  const uint32_t start = graph.model.find(name);
  if (start == kNone)
    return error({Code::kNotFound, fmt::format("the graph has no operation '{}'", name)});
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("names").array([&] {
      for (const uint32_t i : graph::traced_inputs(graph.model, start))
        json.string(graph.model.nodes[i].name);
    });
  });
  return json_answer(context, context.store.snapshot()->revision, std::move(out));
}

Answer file(const Context&, const Request& request, const LoadedGraph& graph) {
  Answer answer;
  const bool as_text = request.param("as").value_or("pb") == "pbtxt";
  if (as_text) {
    SONDE_ANSWER(text, graph::to_pbtxt(as_bytes(*graph.model.bytes), graph::kGraphDef));
    answer.body = std::move(text);
    answer.content_type = "text/plain; charset=utf-8";
  } else {
    answer.body = graph.model.bytes;
    answer.content_type = "application/octet-stream";
  }
  answer.headers.emplace_back(
      "Content-Disposition",
      fmt::format("attachment; filename=\"graph.{}\"", as_text ? "pbtxt" : "pb"));
  return answer;
}

// /api/v1/graphs/<id>/<question>
Answer one(const Context& context, const Request& request) {
  constexpr std::string_view kPrefix = "/api/v1/graphs/";
  const std::string_view rest = std::string_view(request.path).substr(kPrefix.size());
  const size_t slash = rest.find('/');
  const std::string_view question = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  SONDE_ANSWER(
      graph, loaded_graph(context, rest.substr(0, slash), request.param("metadata").value_or("")));
  if (question == "level") return level(context, request, *graph);
  if (question == "outline") return outline(context, request, *graph);
  if (question == "search") return search(context, request, *graph);
  if (question == "node") return node(context, request, *graph);
  if (question == "trace") return trace(context, request, *graph);
  if (question == "file") return file(context, request, *graph);
  return error(
      {Code::kNotFound,
       fmt::format("a graph answers level, outline, search, node, trace and file, not '{}'",
                   question)});
}

constexpr Route kRoutes[] = {
    {"GET", "/api/v1/graphs", list},
    {"POST", "/api/v1/graphs", upload, kMaxUploadBytes},
    {"GET", "/api/v1/graphs/*", one},
    {"POST", "/api/v1/graphs/*", one},
};

}  // namespace

std::span<const Route> graph_routes() { return kRoutes; }

}  // namespace sonde::api::v1
