#include "capture/report/render.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/report/row_pairs.h"
#include "capture/report/tree_changes.h"
#include "codec/html.h"

namespace sonde::capture {
namespace {

std::string_view type_name(Type type) {
  switch (type) {
    case Type::kText:
      return "string";
    case Type::kBool:
      return "boolean";
    case Type::kNumber:
      return "number";
  }
  return "string";
}

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kMinor:
      return "minor";
    case Severity::kMajor:
      return "major";
    case Severity::kCritical:
      return "critical";
  }
  return "info";
}

void write_table(JsonWriter& json, const Table& table, size_t inline_rows, const Report* baseline) {
  const RowPairs pairs = pairs_of(table, baseline ? baseline->find(table.id) : nullptr);
  json.object([&] {
    json.key("id").string(table.id);
    json.key("title").string(table.title);
    json.key("total").number(static_cast<uint64_t>(table.rows.size()));
    json.key("columns").array([&] {
      for (const Column& column : table.columns) {
        json.object([&] {
          json.key("id").string(column.id);
          json.key("label").string(column.label);
          json.key("type").string(type_name(column.type));
          if (!column.unit.empty()) json.key("unit").string(column.unit);
          if (!column.base.empty()) json.key("base").string(column.base);
          if (!column.link.empty()) json.key("link").string(column.link);
        });
      }
    });
    json.key("rows").array([&] {
      for (size_t r = 0; r < std::min(inline_rows, table.rows.size()); ++r)
        append_row(json, table.rows[r], pairs.base[r], baseline ? Paired::kYes : Paired::kNo);
    });
    if (!pairs.gone.empty()) {
      json.key("gone").array([&] {
        for (size_t r = 0; r < std::min(inline_rows, pairs.gone.size()); ++r)
          append_gone(json, *pairs.gone[r]);
      });
    }
    if (!table.properties.empty()) {
      json.key("properties").object([&] {
        for (const auto& [key, value] : table.properties) json.key(key).string(value);
      });
    }
  });
}

void write_finding(JsonWriter& json, const Finding& finding, size_t rank) {
  json.object([&] {
    json.key("id").string(finding.id);
    json.key("rank").number(static_cast<uint64_t>(rank));
    json.key("severity").string(severity_name(finding.severity));
    json.key("fired").boolean(finding.fired);
    json.key("text").string(finding.text);
    if (!finding.action.empty()) json.key("action").string(finding.action);
    if (finding.gain_ps) json.key("gain_ps").safe_integer(*finding.gain_ps);
    json.key("numbers").object([&] {
      for (const auto& [key, value] : finding.numbers) json.key(key).number(value);
    });
    json.key("evidence").array([&] {
      for (const Evidence& e : finding.evidence) {
        json.object([&] {
          if (!e.tool.empty()) {
            json.key("tool").string(e.tool);
            json.key("filter").string(e.filter);
          } else {
            json.key("t0").safe_integer(e.t0_ps);
            json.key("t1").safe_integer(e.t1_ps);
          }
        });
      }
    });
    if (!finding.diff.empty()) {
      json.key("change").object([&] {
        json.key("file").string(finding.file);
        json.key("diff").string(finding.diff);
      });
    }
  });
}

void write_figure(JsonWriter& json, const Figure& figure, const Report* baseline) {
  json.object([&] {
    json.key("id").string(figure.id);
    json.key("label").string(figure.label);
    append_cell(json.key("value"), figure.value);
    if (!figure.unit.empty()) json.key("unit").string(figure.unit);
    if (!figure.base.empty()) json.key("base").string(figure.base);
    if (!baseline) return;
    for (const Figure& other : baseline->figures) {
      if (other.id == figure.id) return append_cell(json.key("baseline"), other.value);
    }
  });
}

// --- the neutral shape ---

struct Neutral {
  struct NeutralTable {
    std::vector<std::string> columns;
    std::vector<std::vector<Json>> rows;

    size_t column(std::string_view name) {
      const auto found = std::find(columns.begin(), columns.end(), name);
      if (found != columns.end()) return static_cast<size_t>(found - columns.begin());
      columns.emplace_back(name);
      return columns.size() - 1;
    }
    std::vector<Json>& row() { return rows.emplace_back(); }
    void put(size_t row, std::string_view name, Json value) {
      const size_t c = column(name);
      if (rows[row].size() <= c) rows[row].resize(c + 1);
      rows[row][c] = std::move(value);
    }
  };
  std::vector<std::pair<std::string, NeutralTable>> tables;
  std::vector<std::pair<std::string, Json>> scalars;

  NeutralTable& table(const std::string& name) {
    for (auto& [id, table] : tables) {
      if (id == name) return table;
    }
    return tables.emplace_back(name, NeutralTable{}).second;
  }
};

constexpr int kMaxNesting = 100;

bool holds_objects(const Json::Array& list) {
  return std::any_of(list.begin(), list.end(), [](const Json& j) { return j.as_object(); });
}

// Leaves of a row as dotted columns; lists of objects are handed to `child`.
template <class Leaf, class Child>
void walk_row(const Json& value, const std::string& prefix, int nesting, const Leaf& leaf,
              const Child& child) {
  if (nesting > kMaxNesting) return;
  if (const auto* object = value.as_object()) {
    for (const auto& [key, member] : *object)
      walk_row(member, prefix.empty() ? key : prefix + "." + key, nesting + 1, leaf, child);
  } else if (const auto* list = value.as_array()) {
    if (holds_objects(*list)) {
      child(prefix, *list);
    } else {
      leaf(prefix, Json(value.dump()));
    }
  } else {
    leaf(prefix, value);
  }
}

using Items = std::vector<std::pair<int64_t, const Json*>>;  // parent row, object

void add_rows(Neutral& out, const std::string& path, const Items& items, bool has_parent,
              int nesting) {
  if (nesting > kMaxNesting) return;
  std::vector<std::pair<std::string, Items>> children;
  {
    auto& table = out.table(path);
    if (has_parent) table.column("_parent");
    for (size_t i = 0; i < items.size(); ++i) {
      table.row();
      if (has_parent) table.put(i, "_parent", Json(items[i].first));
      if (!items[i].second->as_object()) {
        table.put(i, "value", *items[i].second);
        continue;
      }
      walk_row(
          *items[i].second, "", 0,
          [&](const std::string& name, Json value) { table.put(i, name, std::move(value)); },
          [&](const std::string& name, const Json::Array& list) {
            auto found = std::find_if(children.begin(), children.end(),
                                      [&](const auto& c) { return c.first == name; });
            if (found == children.end()) found = children.insert(found, {name, {}});
            for (const Json& item : list) found->second.emplace_back(i, &item);
          });
    }
  }
  for (const auto& [name, list] : children)
    add_rows(out, path + "/" + name, list, true, nesting + 1);
}

void add_tree(Neutral& out, const std::string& root, const Json& node, const std::string& above,
              int depth) {
  if (depth > kMaxNesting) return;
  const Json* name = node.find("name");
  const std::string path =
      (above.empty() ? "" : above + " > ") + (name && name->as_string() ? *name->as_string() : "");
  auto& table = out.table(root);
  table.row();
  const size_t row = table.rows.size() - 1;
  table.put(row, "path", Json(path));
  table.put(row, "depth", Json(depth));
  for (const auto& [key, member] : *node.as_object()) {
    if (key == "name" || key == "children") continue;
    walk_row(
        member, key, 0,
        [&](const std::string& column, Json value) { table.put(row, column, std::move(value)); },
        [](const std::string&, const Json::Array&) {});
  }
  const Json* children = node.find("children");
  if (!children || !children->as_array()) return;
  for (const Json& child : *children->as_array()) {
    if (child.as_object()) add_tree(out, root, child, path, depth + 1);
  }
}

void flatten(Neutral& out, const std::string& path, const Json& value, int nesting) {
  if (nesting > kMaxNesting) return;
  if (const auto* object = value.as_object()) {
    for (const auto& [key, member] : *object) {
      const std::string below = path.empty() ? key : path + "/" + key;
      if (nesting == 0 && member.as_object() && member.find("name") && member.find("metrics")) {
        add_tree(out, key, member, "", 0);
      } else {
        flatten(out, below, member, nesting + 1);
      }
    }
  } else if (const auto* list = value.as_array()) {
    Items items;
    for (const Json& item : *list) items.emplace_back(0, &item);
    if (!items.empty()) add_rows(out, path, items, false, nesting);
  } else {
    out.scalars.emplace_back(path, value);
  }
}

Json json_of(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return {};
        } else {
          return Json(value);
        }
      },
      cell);
}

Neutral neutral_of(const Report& report) {
  Neutral out;
  if (report.document) flatten(out, "", *report.document, 0);
  for (const Table& table : report.tables) {
    auto& t = out.table(table.id);
    for (const Column& column : table.columns) t.column(column.id);
    for (const auto& row : table.rows) {
      auto& cells = t.row();
      for (const Cell& cell : row) cells.push_back(json_of(cell));
    }
    for (const auto& [key, value] : table.properties)
      out.scalars.emplace_back(table.id + "." + key, Json(value));
  }
  for (const Figure& figure : report.figures)
    out.scalars.emplace_back(figure.id, json_of(figure.value));
  return out;
}

}  // namespace

void append_table(JsonWriter& json, const Table& table) {
  write_table(json, table, SIZE_MAX, nullptr);
}

void append_cell(JsonWriter& json, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return json.string(*text);
  if (const auto* integer = std::get_if<int64_t>(&cell)) return json.safe_integer(*integer);
  if (const auto* number = std::get_if<double>(&cell)) return json.number(*number);
  if (const auto* truth = std::get_if<bool>(&cell)) return json.boolean(*truth);
  json.null();
}

std::string cell_text(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* integer = std::get_if<int64_t>(&cell)) return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "true" : "false";
  return {};
}

std::string to_v1_json(const Report& report, size_t inline_rows, const Report* baseline) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("tool").string(report.tool);
    json.key("title").string(report.title);
    json.key("inferred").array([&] {
      for (const std::string& text : report.inferred) json.string(text);
    });
    json.key("figures").array([&] {
      for (const Figure& figure : report.figures) write_figure(json, figure, baseline);
    });
    json.key("tables").array([&] {
      for (const Table& table : report.tables) write_table(json, table, inline_rows, baseline);
    });
    json.key("charts").array([&] {
      for (const Chart& chart : report.charts) {
        json.object([&] {
          json.key("id").string(chart.id);
          json.key("kind").string(chart.kind);
          json.key("table").string(chart.table);
          json.key("x").string(chart.x);
          json.key("y").array([&] {
            for (const std::string& y : chart.y) json.string(y);
          });
          if (!chart.category.empty()) json.key("category").string(chart.category);
        });
      }
    });
    // What fired, and apart from it what was checked and is no problem.
    size_t rank = 0;
    for (const bool fired : {true, false}) {
      json.key(fired ? "findings" : "checked").array([&] {
        for (const Finding& finding : report.findings) {
          if (finding.fired == fired) write_finding(json, finding, ++rank);
        }
      });
    }
    json.key("missing").array([&] {
      for (const Missing& missing : report.missing) {
        json.object([&] {
          json.key("what").string(missing.what);
          json.key("why").string(missing.why);
          json.key("fix").string(missing.fix);
        });
      }
    });
    json.key("diagnostics").array([&] {
      for (const Note& note : report.diagnostics) {
        json.object([&] {
          json.key("severity").string(note.severity);
          json.key("text").string(note.text);
        });
      }
    });
    if (!report.text.empty()) {
      json.key("text").string(report.text);
      json.key("text_type").string(report.text_type);
    }
    if (report.document) report.document->write(json.key("document"));
    if (report.document && baseline && baseline->document)
      tree_changes(*report.document, *baseline->document).write(json.key("changes"));
  });
  return out;
}

std::string to_csv(const Table& table) {
  std::string out;
  const auto quoted = [&](std::string_view text) {
    out += '"';
    for (const char c : text) {
      if (c == '"') out += '"';
      out += c;
    }
    out += '"';
  };
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (c != 0) out += ',';
    quoted(table.columns[c].id);
  }
  out += "\r\n";
  for (const auto& row : table.rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      if (c != 0) out += ',';
      quoted(cell_text(row[c]));
    }
    out += "\r\n";
  }
  return out;
}

std::string to_neutral(const Report& report, std::string_view tool, std::string_view capture) {
  const Neutral neutral = neutral_of(report);
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("neutral").number(1);
    json.key("tool").string(tool);
    json.key("capture").string(capture);
    json.key("tables").object([&] {
      for (const auto& [name, table] : neutral.tables) {
        json.key(name).object([&] {
          json.key("columns").array([&] {
            for (const std::string& column : table.columns) json.string(column);
          });
          json.key("rows").array([&] {
            for (const auto& row : table.rows) {
              json.array([&] {
                for (size_t c = 0; c < table.columns.size(); ++c) {
                  if (c < row.size()) {
                    row[c].write(json);
                  } else {
                    json.null();
                  }
                }
              });
            }
          });
        });
      }
    });
    json.key("scalars").object([&] {
      for (const auto& [name, value] : neutral.scalars) {
        json.key(name);
        value.write(json);
      }
    });
  });
  return out;
}

namespace {

// Cell `c` of a row as xprof writes it: a line of source is markup there, its stack the tooltip.
void append_gviz_cell(JsonWriter& json, const Table& table, const Row& row, size_t c) {
  const std::string source = table.columns[c].id == "source_info" ? cell_text(row[c]) : "";
  if (source.empty()) return append_cell(json, row[c]);
  const bool has_stack = c + 1 < row.size() && table.columns[c + 1].id == "source_stack";
  json.string("<div class='source-info-cell' title='" +
              html_escaped(has_stack ? cell_text(row[c + 1]) : "") + "'>" + html_escaped(source) +
              "</div>");
}

}  // namespace

std::string to_gviz(const Table& table) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("cols").array([&] {
      for (const Column& column : table.columns) {
        if (column.own) continue;
        json.object([&] {
          json.key("id").string(column.id);
          json.key("label").string(column.label);
          json.key("type").string(type_name(column.type));
        });
      }
    });
    json.key("rows").array([&] {
      for (const auto& row : table.rows) {
        json.object([&] {
          json.key("c").array([&] {
            for (size_t c = 0; c < row.size(); ++c) {
              if (table.columns[c].own) continue;
              json.object([&] { append_gviz_cell(json.key("v"), table, row, c); });
            }
          });
        });
      }
    });
    if (!table.properties.empty()) {
      json.key("p").object([&] {
        for (const auto& [key, value] : table.properties) json.key(key).string(value);
      });
    }
  });
  return out;
}

std::string to_xprof(const Report& report, const Tool& tool) {
  if (report.document) return report.document->dump();
  if (!report.text.empty() && tool.gviz.empty()) return report.text;
  std::vector<std::string> parts;
  for (const std::string_view name : tool.gviz) {
    const Table* table = report.find(name);
    parts.push_back(table ? to_gviz(*table) : "{}");
  }
  if (tool.gviz.empty()) {
    for (const Table& table : report.tables) parts.push_back(to_gviz(table));
  }
  if (parts.size() == 1) return parts[0];
  return fmt::format("[{}]", fmt::join(parts, ","));
}

}  // namespace sonde::capture
