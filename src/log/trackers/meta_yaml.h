// meta.yaml of MLflow's file store: one flat level of "name: value".
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace sonde::trackers {

struct Meta {
  std::map<std::string, std::string, std::less<>> values;
  // Empty when there is none.
  std::string at(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  }
};

// Empty when the file cannot be read.
Meta read_meta(const std::string& path);

}  // namespace sonde::trackers
