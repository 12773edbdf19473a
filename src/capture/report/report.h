// A tool's result: single figures, tables with typed unit-carrying columns, charts over those
// tables, findings with their evidence, and what is missing. The page, the terminal, CSV, Compare
// and the xprof-shaped answer are renderings of this one thing (see render.h).
//
// Ids of tables, columns and properties are wire names: where xprof or the PyTorch plug-in has a
// name for the same thing, it is that name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "capture/report/json_value.h"

namespace sonde::capture {

using Cell = std::variant<std::monostate, std::string, int64_t, double, bool>;

enum class Type : uint8_t { kText, kNumber, kBool };

struct Column {
  std::string id;
  std::string label = {};
  Type type = Type::kNumber;
  std::string unit = {};  // "ps", "us", "ms", "s", "bytes", "%", "fraction", "GFLOP/s", "GiB/s", ""
  std::string base = {};  // what a percentage or rate is relative to: "device time"
  std::string link = {};  // tool that shows more about the cell's value, filtered by it
  bool own = false;       // Sonde's addition: left out of the xprof-shaped answer
};

struct Table {
  std::string id;
  std::string title = {};
  std::vector<Column> columns = {};
  std::vector<std::vector<Cell>> rows = {};
  std::vector<std::pair<std::string, std::string>> properties = {};  // gviz "p": always text

  void property(std::string_view key, std::string value) {
    properties.emplace_back(std::string(key), std::move(value));
  }
};

struct Figure {
  std::string id, label;
  Cell value;
  std::string unit, base;
};

struct Chart {
  std::string id;
  std::string kind;  // stack, pairs (bars side by side), line, pie, scatter, flame, tree
  std::string table;
  std::string x;
  std::vector<std::string> y;
  std::string category;
};

enum class Severity : uint8_t { kInfo, kMinor, kMajor, kCritical };

struct Evidence {
  std::string tool = {}, filter = {};  // a view to open, or
  int64_t t0_ps = 0, t1_ps = 0;        // a place on the timeline (tool empty)
};

struct Finding {
  std::string id;  // rule: "IN-WAIT"
  Severity severity = Severity::kMinor;
  std::string text;                // number first, cause second
  std::string action;              // what to change, in words
  std::string file, diff;          // the concrete line to add or change; file may be empty
  std::optional<int64_t> gain_ps;  // at most this much less per step
  std::vector<std::pair<std::string, double>> numbers;
  std::vector<Evidence> evidence;
  bool fired = true;  // false: checked, not a problem; shown collapsed
};

struct Missing {
  std::string what, why, fix;
};

struct Note {
  std::string severity;  // info, warning, error
  std::string text;
};

struct Report {
  std::string tool, title;
  std::vector<std::string>
      inferred;  // what was derived rather than recorded: "steps from step_num"
  std::vector<Figure> figures;
  std::vector<Table> tables;
  std::vector<Chart> charts;
  std::vector<Finding> findings;
  std::vector<Missing> missing;
  std::vector<Note> diagnostics;
  // Tools whose xprof answer is a tree or text instead of tables.
  std::optional<Json> document;
  std::string text, text_type;  // e.g. HLO text and its content type

  Table& table(std::string_view id, std::string_view title);  // appends
  const Table* find(std::string_view id) const;
  void figure(std::string_view id, std::string_view label, Cell value, std::string_view unit = "",
              std::string_view base = "");
  bool has_data() const;
};

}  // namespace sonde::capture
