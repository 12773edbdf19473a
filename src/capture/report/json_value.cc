#include "capture/report/json_value.h"

namespace sonde::capture {

Json& Json::set(std::string_view key, Json value) {
  if (is_null()) value_ = Object{};
  auto* object = std::get_if<Object>(&value_);
  if (!object) return *this;
  for (auto& [name, old] : *object) {
    if (name == key) {
      old = std::move(value);
      return *this;
    }
  }
  object->emplace_back(std::string(key), std::move(value));
  return *this;
}

void Json::push(Json value) {
  if (is_null()) value_ = Array{};
  if (auto* array = std::get_if<Array>(&value_)) array->push_back(std::move(value));
}

const Json* Json::find(std::string_view key) const {
  if (const Object* object = as_object()) {
    for (const auto& [name, value] : *object) {
      if (name == key) return &value;
    }
  }
  return nullptr;
}

void Json::write(JsonWriter& json) const {
  if (is_null()) return json.null();
  if (const auto* b = std::get_if<bool>(&value_)) return json.boolean(*b);
  if (const auto* i = std::get_if<int64_t>(&value_)) return json.number(*i);
  if (const auto* d = std::get_if<double>(&value_)) return json.number(*d);
  if (const auto* s = as_string()) return json.string(*s);
  if (const Array* array = as_array()) {
    json.array([&] {
      for (const Json& item : *array) item.write(json);
    });
    return;
  }
  json.object([&] {
    for (const auto& [name, value] : *as_object()) {
      json.key(name);
      value.write(json);
    }
  });
}

std::string Json::dump() const {
  std::string out;
  JsonWriter json(out);
  write(json);
  return out;
}

}  // namespace sonde::capture
