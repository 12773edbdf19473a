// Groups of Parquet columns (structs, lists of values or of structs) as JSON texts, one a row: what
// conversations are written as. Lists within lists are not read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "table/parquet_read.h"

namespace sonde::table {

// One node of the schema, in the order of the file: a group's members follow it.
struct ParquetLeaf {
  std::string name;
  int64_t type = -1, repetition = 0, children = 0, converted = -1, scale = 0;
};

// A leaf below a top-level group. Levels as the format counts them: every optional or repeated node
// on the way from the root adds one.
struct NestedLeaf {
  const ParquetLeaf* leaf = nullptr;
  std::string path;  // of the chunk: names joined by dots
  std::string key;   // within the object; empty for a list of plain values
  uint32_t most_defined = 0, most_repeated = 0;
  uint32_t group_defined = 0;    // below it the whole is null
  uint32_t list_defined = 0;     // below it the list has no entry; 0: there is no list
  uint32_t element_defined = 0;  // below it an entry is null
};
struct NestedGroup {
  std::string name;
  std::vector<NestedLeaf> leaves;
  bool is_left_out = false;  // leaves that are not read were left out
};
// The group at `index` of the schema. Its leaves are empty when nothing of it can be read.
NestedGroup nested_group(const std::vector<ParquetLeaf>& schema, size_t index);

// What was read of a leaf: an entry a level, with its value in `column`.
struct LeafEntries {
  ParquetColumn column;
  std::vector<uint32_t> repeated, defined;
};
// kCorrupt when the leaves do not agree on the entries of `rows` rows.
Result<ParquetColumn> json_column(const NestedGroup& group, const std::vector<LeafEntries>& leaves,
                                  uint64_t rows);

bool is_readable_leaf(const ParquetLeaf& leaf);

}  // namespace sonde::table
