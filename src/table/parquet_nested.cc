#include "table/parquet_nested.h"

#include <fmt/format.h>

#include <cmath>

#include "base/intern.h"
#include "codec/json.h"

namespace sonde::table {
namespace {

constexpr int64_t kOptional = 1, kRepeated = 2;
constexpr int kDeepest = 16;

struct Walk {
  const std::vector<ParquetLeaf>& schema;
  NestedGroup& out;
  size_t at;

  // The node at `at` and what lies below it; `so_far` holds the levels above it.
  void node(NestedLeaf so_far, int depth, bool below_list) {
    const ParquetLeaf& here = schema[at++];
    so_far.path += (so_far.path.empty() ? "" : ".") + here.name;
    if (here.repetition == kOptional || here.repetition == kRepeated) ++so_far.most_defined;
    if (here.repetition == kRepeated) {
      ++so_far.most_repeated;
      so_far.list_defined = so_far.most_defined;
      so_far.key.clear();
    } else if (below_list) {
      so_far.element_defined = so_far.most_defined;
    } else if (depth == 0) {
      so_far.group_defined = so_far.most_defined;
    } else {
      so_far.key += (so_far.key.empty() ? "" : ".") + here.name;
    }
    if (here.children <= 0) {
      so_far.leaf = &here;
      if (is_readable_leaf(here) && so_far.most_repeated <= 1 && depth <= kDeepest)
        out.leaves.push_back(so_far);
      else
        out.is_left_out = true;
      return;
    }
    // A list is a repeated group around one node, the element, whose name means nothing.
    const bool is_list = here.repetition == kRepeated && here.children == 1 && depth == 1;
    for (int64_t i = 0; i < here.children && at < schema.size(); ++i)
      node(so_far, std::min(depth + 1, 1000), is_list);
  }
};

void append_value(std::string& out, const ParquetColumn& column, const ParquetLeaf& leaf,
                  size_t entry) {
  if (column.is_text) {
    append_json_string(out, column.words[column.codes[entry]]);
    return;
  }
  const double number = column.numbers[entry];
  if (leaf.type == 0)
    out += number != 0 ? "true" : "false";
  else if (column.is_integer && std::abs(number) < 9e15)
    out += fmt::format("{}", static_cast<int64_t>(number));
  else
    append_json_number(out, number);
}

bool is_object(const NestedGroup& group) { return !group.leaves.front().key.empty(); }

void append_element(std::string& out, const NestedGroup& group,
                    const std::vector<LeafEntries>& leaves, size_t entry) {
  const NestedLeaf& first = group.leaves.front();
  const uint32_t least = first.list_defined > 0 ? first.element_defined : first.group_defined;
  if (leaves.front().defined[entry] < least) {
    out += "null";
    return;
  }
  if (is_object(group)) out += '{';
  for (size_t i = 0; i < group.leaves.size(); ++i) {
    const NestedLeaf& leaf = group.leaves[i];
    if (is_object(group)) {
      if (i > 0) out += ',';
      append_json_string(out, leaf.key);
      out += ':';
    }
    if (leaves[i].defined[entry] < leaf.most_defined)
      out += "null";
    else
      append_value(out, leaves[i].column, *leaf.leaf, entry);
  }
  if (is_object(group)) out += '}';
}

}  // namespace

bool is_readable_leaf(const ParquetLeaf& leaf) {
  constexpr int64_t kByteArray = 6, kDecimal = 5;
  const bool is_known = leaf.type == 0 || leaf.type == 1 || leaf.type == 2 || leaf.type == 4 ||
                        leaf.type == 5 || leaf.type == kByteArray;
  // A decimal in bytes is neither a number that is read nor a text.
  return is_known && leaf.children <= 0 && !(leaf.type == kByteArray && leaf.converted == kDecimal);
}

NestedGroup nested_group(const std::vector<ParquetLeaf>& schema, size_t index) {
  NestedGroup out;
  out.name = schema[index].name;
  Walk{schema, out, index}.node({}, 0, false);
  // Leaves of the list and leaves beside it do not share their entries.
  if (!out.leaves.empty()) {
    const uint32_t depth = out.leaves.front().most_repeated;
    const auto others = std::erase_if(
        out.leaves, [&](const NestedLeaf& leaf) { return leaf.most_repeated != depth; });
    out.is_left_out = out.is_left_out || others > 0;
  }
  return out;
}

Result<ParquetColumn> json_column(const NestedGroup& group, const std::vector<LeafEntries>& leaves,
                                  uint64_t rows) {
  const auto disagree = [&] {
    return fail(Code::kCorrupt, fmt::format("column '{}': its parts do not agree", group.name));
  };
  ParquetColumn out;
  out.name = group.name;
  out.is_text = true;
  const size_t entries = leaves.front().defined.size();
  for (const LeafEntries& leaf : leaves) {
    if (leaf.defined.size() != entries || leaf.repeated.size() != entries) return disagree();
  }
  const NestedLeaf& first = group.leaves.front();
  StringTable words;
  std::string text;
  for (size_t entry = 0; entry < entries;) {
    if (leaves.front().repeated[entry] != 0 || out.codes.size() >= rows) return disagree();
    const uint32_t defined = leaves.front().defined[entry];
    if (defined < first.group_defined) {
      out.codes.push_back(ParquetColumn::kNull);
      ++entry;
      continue;
    }
    text.clear();
    if (first.list_defined == 0) {
      append_element(text, group, leaves, entry++);
    } else {
      text += '[';
      if (defined < first.list_defined) {
        ++entry;
      } else {
        do {
          if (text.size() > 1) text += ',';
          append_element(text, group, leaves, entry++);
        } while (entry < entries && leaves.front().repeated[entry] != 0);
      }
      text += ']';
    }
    out.codes.push_back(words.id(text));
  }
  if (out.codes.size() != rows) return disagree();
  for (uint32_t i = 0; i < words.size(); ++i) out.words.emplace_back(words.text(i));
  return out;
}

}  // namespace sonde::table
