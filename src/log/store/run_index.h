// How RunSnapshot::find and Snapshot::find are quick. The keys live in the series and runs that
// the same snapshot holds, or in the files that those keep.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string_view>

namespace sonde::store {

using NameIndex = boost::unordered_flat_map<std::string_view, uint32_t>;

struct SnapshotIndex {
  NameIndex by_name;
  boost::unordered_flat_map<uint32_t, uint32_t> by_id;
};

}  // namespace sonde::store
