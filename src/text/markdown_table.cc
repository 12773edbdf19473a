// Tables of Markdown: a head row, a row of dashes, rows. A pipe inside a code span is no border.
#include <algorithm>
#include <map>
#include <optional>

#include "base/strings.h"
#include "text/markdown_parts.h"

namespace sonde::text::markdown {
namespace {

constexpr uint64_t kStepsPerCell = 16;

std::string_view stripped(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

bool ends_in_border(std::string_view row) {
  if (!row.ends_with('|')) return false;
  size_t slashes = 0;
  while (slashes + 1 < row.size() && row[row.size() - 2 - slashes] == '\\') ++slashes;
  return slashes % 2 == 0;
}

struct Ticks {
  size_t length;       // as a closing mark
  size_t open_length;  // as an opening mark: an escaped first tick does not count
  size_t begin, end;   // end is the last character
};

std::vector<std::string_view> cells_of(std::string_view row, bool has_border) {
  if (has_border) {
    if (row.starts_with('|')) row.remove_prefix(1);
    if (ends_in_border(row)) row.remove_suffix(1);
  }
  std::vector<size_t> pipes;
  std::vector<Ticks> ticks;
  for (size_t i = 0; i < row.size(); ++i) {
    const bool is_escape = row[i] == '\\' && i + 1 < row.size();
    if (is_escape && (row[i + 1] == '\\' || row[i + 1] == '|')) {
      ++i;
    } else if (row[i] == '`' || (is_escape && row[i + 1] == '`')) {
      const size_t escape = is_escape ? 1 : 0;
      const size_t end = std::min(row.find_first_not_of('`', i + escape), row.size());
      const size_t length = end - i - escape;
      ticks.push_back({length, length - escape, i, end - 1});
      i = end - 1;
    } else if (row[i] == '|') {
      pipes.push_back(i);
    }
  }
  std::vector<std::pair<size_t, size_t>> spans;
  std::map<size_t, std::vector<size_t>> by_length;  // indices of tick groups, ascending
  for (size_t k = 0; k < ticks.size(); ++k) by_length[ticks[k].length].push_back(k);
  for (size_t k = 0; k < ticks.size();) {
    const auto group = by_length.find(ticks[k].open_length);
    std::optional<size_t> close;
    if (ticks[k].open_length > 0 && group != by_length.end()) {
      const auto found = std::upper_bound(group->second.begin(), group->second.end(), k);
      if (found != group->second.end()) close = *found;
    }
    if (close) spans.emplace_back(ticks[k].begin, ticks[*close].end);
    k = close ? *close + 1 : k + 1;
  }
  std::vector<std::string_view> cells;
  size_t start = 0, span = 0;
  for (const size_t pipe : pipes) {
    while (span < spans.size() && spans[span].second < pipe) ++span;
    if (span < spans.size() && spans[span].first <= pipe) continue;
    cells.push_back(row.substr(start, pipe - start));
    start = pipe + 1;
  }
  cells.push_back(row.substr(start));
  return cells;
}

bool is_rule(const std::vector<std::string_view>& cells) {
  return std::all_of(cells.begin(), cells.end(), [](std::string_view cell) {
    return cell.find_first_not_of("|:- ") == std::string_view::npos;
  });
}

void add_row(Node& parent, std::string_view cell_tag, const std::vector<std::string_view>& cells,
             size_t columns) {
  Node& row = parent.add("tr");
  for (size_t i = 0; i < columns; ++i) {
    Node& cell = row.add(cell_tag);
    if (i < cells.size()) cell.text = stripped(cells[i]);
  }
}

}  // namespace

bool parse_table(std::string_view block, const Document& document, Node& parent) {
  const size_t newline = block.find('\n');
  if (newline == std::string_view::npos) return false;
  const std::string_view second = block.substr(newline + 1);
  if (second.substr(0, second.find('\n')).find_first_not_of("|:- ") != std::string_view::npos)
    return false;
  if (!document.spend(block.size())) return false;
  const std::vector<std::string_view> lines = split(block, '\n');
  const std::string_view head = stripped(lines[0]);
  const bool has_border = head.starts_with('|') || ends_in_border(head);
  const std::vector<std::string_view> titles = cells_of(head, has_border);
  if (titles.size() == 1) {
    // A table of one column needs a pipe on every row.
    if (!has_border) return false;
    for (size_t i = 1; i < lines.size(); ++i) {
      const std::string_view row = stripped(lines[i]);
      if (!row.starts_with('|') && !ends_in_border(row)) return false;
    }
  }
  const std::vector<std::string_view> rule = cells_of(stripped(lines[1]), has_border);
  if (rule.size() != titles.size() || !is_rule(rule)) return false;

  Node& table = parent.add("table");
  add_row(table.add("thead"), "th", titles, titles.size());
  Node& body = table.add("tbody");
  if (lines.size() == 2) add_row(body, "td", {}, titles.size());
  for (size_t i = 2; i < lines.size(); ++i) {
    // Each row has as many cells as the head, also a short one.
    if (!document.spend(titles.size() * kStepsPerCell)) break;
    add_row(body, "td", cells_of(stripped(lines[i]), has_border), titles.size());
  }
  return true;
}

}  // namespace sonde::text::markdown
