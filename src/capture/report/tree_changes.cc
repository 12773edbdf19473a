#include "capture/report/tree_changes.h"

#include <map>
#include <string>

namespace sonde::capture {
namespace {

constexpr int kDeepest = 200;

std::string name_of(const Json& node) {
  const Json* name = node.find("name");
  return name && name->as_string() ? *name->as_string() : std::string();
}

bool is_node_list(const Json& value) {
  const Json::Array* items = value.as_array();
  return items && !items->empty() && items->front().find("name");
}

bool is_number(const Json& value) {
  if (value.as_object() || value.as_array() || value.as_string()) return false;
  const std::string text = value.dump();
  return text[0] == '-' || (text[0] >= '0' && text[0] <= '9');
}

Json changed(const Json* now, const Json* before, int depth);

Json changed_nodes(const Json::Array& now, const Json::Array* before, int depth) {
  std::map<std::string, std::vector<const Json*>> left;  // by name, the first at the end
  if (before) {
    for (size_t i = before->size(); i-- > 0;) left[name_of((*before)[i])].push_back(&(*before)[i]);
  }
  Json out = Json::array();
  for (const Json& node : now) {
    auto& same = left[name_of(node)];
    const Json* other = same.empty() ? nullptr : same.back();
    if (other) same.pop_back();
    out.push(changed(&node, other, depth + 1));
  }
  if (!before) return out;
  for (const Json& node : *before) {
    auto& same = left[name_of(node)];
    if (same.empty() || same.back() != &node) continue;
    same.pop_back();
    Json gone = changed(nullptr, &node, depth + 1);
    out.push(std::move(gone.set("gone", true)));
  }
  return out;
}

Json changed_members(const Json* now, const Json* before, int depth) {
  Json out = Json::object();
  for (const auto& [key, value] : *(now ? now : before)->as_object()) {
    const Json* other = now && before ? before->find(key) : nullptr;
    out.set(key, now ? changed(&value, other, depth + 1) : changed(nullptr, &value, depth + 1));
  }
  if (!now || !before) return out;
  for (const auto& [key, value] : *before->as_object()) {
    if (is_node_list(value) && !now->find(key)) out.set(key, changed(nullptr, &value, depth + 1));
  }
  return out;
}

// One of the two may be absent.
Json changed(const Json* now, const Json* before, int depth) {
  const Json& shape = now ? *now : *before;
  if (depth > kDeepest) return shape;
  if (shape.as_object())
    return changed_members(now, before && before->as_object() ? before : nullptr, depth);
  if (is_node_list(shape)) {
    static const Json::Array kNothing;
    return changed_nodes(now ? *now->as_array() : kNothing, before ? before->as_array() : nullptr,
                         depth);
  }
  if (!is_number(shape)) return shape;
  Json pair = Json::array();
  pair.push(now ? *now : Json());
  pair.push(before && is_number(*before) ? *before : Json());
  return pair;
}

}  // namespace

Json tree_changes(const Json& now, const Json& before) { return changed(&now, &before, 0); }

}  // namespace sonde::capture
