#include "graph/keras.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "codec/json_read.h"
#include "codec/wire.h"

namespace sonde::graph {
namespace {

// Numbers of tensorflow.DataType for the names Keras uses; 0 when unknown.
int32_t data_type(std::string_view name) {
  static constexpr std::pair<std::string_view, int32_t> kTypes[] = {
      {"float32", 1}, {"float64", 2},   {"double", 2},   {"int32", 3},       {"uint8", 4},
      {"int16", 5},   {"int8", 6},      {"string", 7},   {"complex64", 8},   {"int64", 9},
      {"bool", 10},   {"qint8", 11},    {"quint8", 12},  {"qint32", 13},     {"bfloat16", 14},
      {"qint16", 15}, {"quint16", 16},  {"uint16", 17},  {"complex128", 18}, {"float16", 19},
      {"half", 19},   {"resource", 20}, {"variant", 21}, {"uint32", 22},     {"uint64", 23},
      {"float", 1}};
  for (const auto& [known, number] : kTypes) {
    if (known == name) return number;
  }
  return 0;
}

struct Inbound {
  std::string layer;
  size_t tensor = 0;
};

std::string text_of(const JsonValue* value) {
  return value && value->is_string() ? value->text : std::string();
}

std::string scoped(const std::string& scope, const std::string& name) {
  return scope.empty() ? name : scope + "/" + name;
}

// [layer, node, tensor] as both Keras versions write it.
std::optional<Inbound> inbound_of(const JsonValue& triple) {
  if (!triple.is_array() || triple.items.size() < 3 || !triple.items[0].is_string())
    return std::nullopt;
  const int64_t tensor = triple.items[2].integer().value_or(0);
  return Inbound{triple.items[0].text, static_cast<size_t>(std::max<int64_t>(tensor, 0))};
}

// Keras 3: {"args": [{"config": {"keras_history": [...]}} or a list of them]}.
void add_keras3(const JsonValue& call, std::vector<Inbound>& found) {
  const JsonValue* arguments = call.find("args");
  if (!arguments || !arguments->is_array()) return;
  const auto add = [&](const JsonValue& argument) {
    const JsonValue* config = argument.find("config");
    const JsonValue* history = config ? config->find("keras_history") : nullptr;
    if (!history) return;
    if (auto inbound = inbound_of(*history)) found.push_back(std::move(*inbound));
  };
  for (const JsonValue& argument : arguments->items) {
    if (!argument.is_array()) {
      add(argument);
      continue;
    }
    for (const JsonValue& item : argument.items) add(item);
  }
}

std::vector<Inbound> inbound_nodes(const JsonValue& layer) {
  std::vector<Inbound> found;
  const JsonValue* calls = layer.find("inbound_nodes");
  if (!calls || !calls->is_array()) return found;
  for (const JsonValue& call : calls->items) {
    if (call.is_object()) {
      add_keras3(call, found);
    } else if (auto single = inbound_of(call)) {  // Keras 2: ["layer", 0, 0, {}]
      found.push_back(std::move(*single));
    } else {  // Keras 2: [["layer", 0, 0, {}], ...]
      for (const JsonValue& item : call.items) {
        if (auto inbound = inbound_of(item)) found.push_back(std::move(*inbound));
      }
    }
  }
  return found;
}

// Names of a model's "input_layers" or "output_layers": ["a", 0, 0] or [["a", 0, 0], ...].
std::vector<std::string> layer_names(const JsonValue* list) {
  std::vector<std::string> names;
  if (!list || !list->is_array() || list->items.empty()) return names;
  if (!list->items[0].is_array()) return {text_of(&list->items[0])};
  for (const JsonValue& item : list->items) {
    if (item.is_array() && !item.items.empty()) names.push_back(text_of(&item.items[0]));
  }
  return names;
}

class Converter {
 public:
  std::string convert(const JsonValue& model) {
    walk("", model);
    return std::move(graph_);
  }

 private:
  void walk(const std::string& scope, const JsonValue& layer) {
    const JsonValue* config = layer.find("config");
    if (!config || !config->is_object()) return;
    const JsonValue* layers = config->find("layers");
    const bool is_model = layers && layers->is_array();
    if (!is_model) {
      add_node(scope, layer, *config);
      return;
    }
    if (layers->items.empty()) return;
    enter_model(scope, layer, *config, *layers);
    const std::string inner = scoped(scope, text_of(config->find("name")));
    for (const JsonValue& item : layers->items)
      walk(inner, item);  // depth is limited by the reader
  }

  // Notes how edges into and out of a nested model reach its layers.
  void enter_model(const std::string& scope, const JsonValue& layer, const JsonValue& config,
                   const JsonValue& layers) {
    const std::string name = scoped(scope, text_of(config.find("name")));
    const std::vector<std::string> inputs = layer_names(config.find("input_layers"));
    const std::vector<std::string> outputs = layer_names(config.find("output_layers"));
    const std::vector<Inbound> inbound = inbound_nodes(layer);
    const bool is_functional = !inputs.empty() && !outputs.empty();
    if (!inbound.empty() && is_functional) {
      for (size_t i = 0; i < std::min(inputs.size(), inbound.size()); ++i) {
        fed_by_[scoped(name, inputs[i])] =
            output_of(scoped(scope, inbound[i].layer), inbound[i].tensor);
      }
    } else if (!inbound.empty()) {
      previous_ = scoped(scope, inbound[0].layer);
    } else if (!previous_.empty() && is_functional) {
      fed_by_[scoped(name, inputs[0])] = previous_;
    }
    std::vector<std::string>& ends = outputs_[name];
    if (is_functional) {
      // NOLINTNEXTLINE(readability-suspicious-call-argument): the model's name is the scope here
      for (const std::string& output : outputs) ends.push_back(scoped(name, output));
    } else {
      const JsonValue* last = layers.items.back().find("config");
      ends.push_back(scoped(name, last ? text_of(last->find("name")) : std::string()));
    }
  }

  // A model stands for its output layers; a tensor beyond the last one means the last one.
  std::string output_of(const std::string& name, size_t tensor) const {
    const auto found = outputs_.find(name);
    if (found == outputs_.end()) return name;
    return found->second[std::min(tensor, found->second.size() - 1)];
  }

  void add_node(const std::string& scope, const JsonValue& layer, const JsonValue& config) {
    const std::string name = scoped(scope, text_of(config.find("name")));
    std::vector<std::string> inputs;
    if (layer.find("inbound_nodes")) {
      for (const Inbound& inbound : inbound_nodes(layer)) {
        inputs.push_back(output_of(scoped(scope, inbound.layer), inbound.tensor));
      }
    } else if (!previous_.empty()) {
      inputs.push_back(previous_);
    }
    if (const auto found = fed_by_.find(name); found != fed_by_.end())
      inputs.push_back(found->second);
    wire::Encoder(graph_).message(1, [&](wire::Encoder& node) {
      node.bytes(1, name);
      for (const std::string& input : inputs) node.bytes(3, input);
      attributes(node, layer, config);
    });
    previous_ = name;
  }

  static void attributes(wire::Encoder& node, const JsonValue& layer, const JsonValue& config) {
    const auto add = [&](std::string_view key, auto&& fn) {
      node.message(5, [&](wire::Encoder& entry) {
        entry.bytes(1, key);
        entry.message(2, fn);
      });
    };
    if (const JsonValue* name = layer.find("class_name"); name && name->is_string()) {
      add("keras_class", [&](wire::Encoder& value) { value.bytes(2, name->text); });
    }
    const JsonValue* type = config.find("dtype");
    if (type && type->is_object()) {  // a policy: {"config": {"name": "float32"}}
      const JsonValue* policy = type->find("config");
      type = policy ? policy->find("name") : nullptr;
    }
    if (const int32_t number = data_type(text_of(type)); number != 0) {
      add("dtype", [&](wire::Encoder& value) { value.varint(6, static_cast<uint64_t>(number)); });
    }
  }

  std::string graph_;
  std::string previous_;                       // the layer before, for Sequential models
  std::map<std::string, std::string> fed_by_;  // input layer of a nested model -> its feeder
  std::map<std::string, std::vector<std::string>> outputs_;  // model -> its output layers
};

}  // namespace

Result<std::string> keras_to_graph(std::string_view model_json) {
  auto model = read_json(model_json);
  if (!model) return fail(std::move(model).error().in("Keras model"));
  if (!model->find("config"))
    return fail(Code::kInvalid, "the value is no Keras model: it has no config");
  return Converter().convert(*model);
}

}  // namespace sonde::graph
