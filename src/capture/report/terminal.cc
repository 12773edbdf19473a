#include "capture/report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "capture/report/render.h"

namespace sonde::capture {
namespace {

std::string number_text(double value, std::string_view unit) {
  if (unit == "bytes") return human_bytes(static_cast<uint64_t>(std::max(0.0, value)));
  if (unit == "fraction") return fmt::format("{:.1f}%", 100 * value);
  if (std::abs(value) >= 1e6) return fmt::format("{:.4g}", value);
  if (value == std::floor(value)) return fmt::format("{:.0f}", value);
  return std::abs(value) >= 100 ? fmt::format("{:.1f}", value) : fmt::format("{:.3f}", value);
}

std::string shown(const Cell& cell, std::string_view unit) {
  if (const auto* number = std::get_if<double>(&cell)) return number_text(*number, unit);
  if (const auto* integer = std::get_if<int64_t>(&cell))
    return unit == "bytes" ? number_text(static_cast<double>(*integer), unit)
                           : fmt::format("{}", *integer);
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "";
  return cell_text(cell);
}

std::string cut(std::string text, size_t width) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > width) {
    text.resize(width - 3);
    text = to_utf8(text) + "...";
  }
  return text;
}

std::string wrapped(std::string_view text, size_t width, std::string_view indent) {
  std::string out(indent);
  size_t column = indent.size();
  for (const std::string_view word : split(text, ' ')) {
    if (column + word.size() + 1 > width && column > indent.size()) {
      out += "\n";
      out += indent;
      column = indent.size();
    } else if (column > indent.size()) {
      out += " ";
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

// Columns from the left until the line is full; text keeps 24 to 48 characters.
void add_table(const Table& table, const TerminalStyle& style, std::string& out) {
  if (table.rows.empty() || table.columns.empty()) return;
  const size_t shown_rows = std::min(style.rows, table.rows.size());
  struct Shown {
    size_t column, width;
  };
  std::vector<Shown> columns;
  size_t used = 2;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].id == "tooltip" || table.columns[c].id == "source_info" ||
        table.columns[c].id == "source_stack")
      continue;
    const bool text = table.columns[c].type == Type::kText;
    const std::string head = table.columns[c].label +
                             (table.columns[c].unit.empty() || table.columns[c].unit == "fraction"
                                  ? ""
                                  : " " + table.columns[c].unit);
    size_t width = std::min<size_t>(head.size(), 16);
    for (size_t r = 0; r < shown_rows && c < table.rows[r].size(); ++r)
      width = std::max(width, shown(table.rows[r][c], table.columns[c].unit).size());
    width = std::min<size_t>(width, text ? 48 : 16);
    if (used + width + 2 > style.width) continue;
    used += width + 2;
    columns.push_back({c, width});
  }
  out += fmt::format("\n{}\n", table.title);
  const auto line = [&](const auto& text_of) {
    std::string row = " ";
    for (const Shown& s : columns) {
      const std::string text = cut(text_of(s.column), s.width);
      row += table.columns[s.column].type == Type::kText ? fmt::format(" {:<{}}", text, s.width)
                                                         : fmt::format(" {:>{}}", text, s.width);
      row += " ";
    }
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  };
  line([&](size_t c) {
    const Column& column = table.columns[c];
    return column.label +
           (column.unit.empty() || column.unit == "fraction" ? "" : " " + column.unit);
  });
  for (size_t r = 0; r < shown_rows; ++r) {
    line([&](size_t c) {
      return c < table.rows[r].size() ? shown(table.rows[r][c], table.columns[c].unit)
                                      : std::string();
    });
  }
  if (shown_rows < table.rows.size())
    out += fmt::format("  ... {} more rows (--json or --csv has all)\n",
                       table.rows.size() - shown_rows);
}

}  // namespace

std::string to_terminal(const Report& report, const TerminalStyle& style) {
  std::string out = report.title + "\n";
  for (const std::string& text : report.inferred)
    out += wrapped("inferred: " + text, style.width, "  ");
  for (const Figure& figure : report.figures) {
    out += fmt::format("  {:<44} {} {}\n", figure.label, shown(figure.value, figure.unit),
                       figure.unit == "bytes"
                           ? ""
                           : figure.unit + (figure.base.empty() ? "" : " of " + figure.base));
  }
  size_t rank = 0;
  for (const Finding& finding : report.findings) {
    if (!finding.fired) continue;
    out += fmt::format("\n{}. [{}]\n", ++rank, finding.id);
    out += wrapped(finding.text, style.width, "   ");
    if (!finding.action.empty()) out += wrapped(finding.action, style.width, "   ");
    if (!finding.diff.empty()) {
      for (const std::string_view line : split(finding.diff, '\n'))
        out += fmt::format("       {}\n", line);
    }
  }
  for (const Table& table : report.tables) add_table(table, style, out);
  if (!report.text.empty() && report.text_type.starts_with("text/")) out += "\n" + report.text;
  for (const Missing& missing : report.missing) {
    out += wrapped(fmt::format("No {}: {}. To get it: {}.", missing.what, missing.why, missing.fix),
                   style.width, "  ");
  }
  for (const Note& note : report.diagnostics)
    out += wrapped(fmt::format("{}: {}", note.severity, note.text), style.width, "  ");
  return out;
}

}  // namespace sonde::capture
