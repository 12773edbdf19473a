// Hyper-parameters from files beside the events (config.yaml, config.json, hparams.yaml,
// args.json): flat names with dots for nesting; lists are kept as text. A file that cannot be read
// counts as none.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log/query/hparams/cell.h"

namespace sonde::query {

using NamedCells = std::vector<std::pair<std::string, Cell>>;

NamedCells flat_config(const JsonValue& value);
NamedCells read_config_json(std::string_view text);
NamedCells read_config_yaml(std::string_view text);

// The first such file in a folder; empty when there is none.
NamedCells read_config(const std::string& folder);

// "lr=0.01_bs=32/train" gives lr and bs.
NamedCells params_in_name(std::string_view run);
// The part of a run's name up to the last component that holds a '='; empty when none does.
std::string_view named_part(std::string_view run);

}  // namespace sonde::query
