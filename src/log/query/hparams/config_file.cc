#include "log/query/hparams/config_file.h"

#include <algorithm>

#include "base/strings.h"
#include "io/write_file.h"

namespace sonde::query {
namespace {

constexpr size_t kMaxParams = 2000, kMaxBytes = 1u << 20;

void flatten(const JsonValue& value, const std::string& prefix, int depth, NamedCells& out) {
  for (const auto& [name, member] : value.members) {
    if (out.size() >= kMaxParams) return;
    const std::string full = prefix.empty() ? name : prefix + "." + name;
    if (!member.is_object()) {
      out.emplace_back(full, cell_from_json(member));
    } else if (depth < 16) {
      // Weights & Biases writes {"lr": {"value": 0.1, "desc": null}}.
      const bool boxed =
          member.members.size() <= 2 && member.find("value") && !member.find("value")->is_object();
      if (boxed) {
        out.emplace_back(full, cell_from_json(*member.find("value")));
      } else {
        flatten(member, full, depth + 1, out);
      }
    }
  }
}

// A '#' begins a comment at the start and after a space, outside quotes.
std::string_view without_comment(std::string_view line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (quote) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) {
      return line.substr(0, i);
    }
  }
  return line;
}

// The ':' that ends a key: followed by a space or the end, outside quotes.
size_t key_end(std::string_view text) {
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quote) {
      if (text[i] == quote) quote = 0;
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == ':' && (i + 1 == text.size() || text[i + 1] == ' ')) {
      return i;
    }
  }
  return text.npos;
}

std::string unquoted(std::string_view text) {
  text = trimmed(text);
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return std::string(quoted ? text.substr(1, text.size() - 2) : text);
}

Cell yaml_scalar(std::string_view text) {
  text = trimmed(text);
  if (text == "null" || text == "~" || text.empty()) return {};
  if (text.front() == '"' || text.front() == '\'') return Cell::of(unquoted(text));
  return cell_from_text(text);
}

bool is_separator(char c) { return c == ',' || c == ';' || c == ' ' || c == '/' || c == '\\'; }

bool is_number(std::string_view text) { return cell_from_text(text).kind == Cell::Kind::kNumber; }

// Where the value that begins at `begin` ends: at a separator, or at a '_' before the next key.
size_t value_end(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size() && !is_separator(text[end])) ++end;
  const size_t equals = text.substr(0, end).find('=', begin);
  if (equals == text.npos) return end;
  // value_key=…: the shortest value that is a number, else the first '_'.
  size_t first = text.npos;
  for (size_t i = begin; i < equals; ++i) {
    if (text[i] != '_' && text[i] != '-') continue;
    if (i > begin && is_number(text.substr(begin, i - begin)) && text[i] == '_') return i;
    if (first == text.npos && i > begin && text[i] == '_') first = i;
  }
  return first == text.npos ? equals : first;
}

}  // namespace

NamedCells read_config_json(std::string_view text) {
  NamedCells out;
  if (const auto value = read_json(text)) flatten(*value, "", 0, out);
  return out;
}

NamedCells read_config_yaml(std::string_view text) {
  struct Open {
    size_t indent;
    std::string name;
  };
  NamedCells out;
  std::vector<Open> open;
  for (std::string_view line : split(text, '\n')) {
    line = without_comment(line);
    const size_t indent = line.find_first_not_of(' ');
    if (indent == line.npos || trimmed(line).empty()) continue;
    const std::string_view rest = trimmed(line);
    if (rest.starts_with("---") || rest.starts_with("- ") || rest == "-" || rest.starts_with('%'))
      continue;
    while (!open.empty() && open.back().indent >= indent) open.pop_back();
    const size_t colon = key_end(rest);
    if (colon == rest.npos || open.size() > 16 || out.size() >= kMaxParams) continue;
    std::string name = unquoted(rest.substr(0, colon));
    const std::string_view value = trimmed(rest.substr(colon + 1));
    std::string full;
    for (const Open& one : open) full += one.name + ".";
    if (value.empty()) {
      open.push_back({indent, std::move(name)});
      continue;
    }
    if (value.front() == '!' || value.front() == '&' || value.front() == '|' ||
        value.front() == '>')
      continue;
    full += name;
    // The same box as in JSON, over two lines.
    if (name == "value" && !open.empty()) full = full.substr(0, full.size() - 6);
    if (name != "desc" || open.empty()) out.emplace_back(std::move(full), yaml_scalar(value));
  }
  return out;
}

NamedCells read_config(const std::string& folder) {
  for (const char* name : {"config.yaml", "config.json", "hparams.yaml", "args.json"}) {
    const auto text = io::read_whole(folder + "/" + name, kMaxBytes, io::Links::kRefuse);
    if (!text) continue;
    NamedCells cells = std::string_view(name).ends_with(".json") ? read_config_json(*text)
                                                                 : read_config_yaml(*text);
    if (!cells.empty()) return cells;
  }
  return {};
}

NamedCells params_in_name(std::string_view run) {
  NamedCells out;
  size_t from = 0;
  for (size_t equals; (equals = run.find('=', from)) != run.npos;) {
    size_t begin = equals;
    while (begin > from && !is_separator(run[begin - 1])) --begin;
    while (begin < equals && (run[begin] == '_' || run[begin] == '-')) ++begin;
    const size_t end = value_end(run, equals + 1);
    if (begin < equals && end > equals + 1) {
      out.emplace_back(std::string(run.substr(begin, equals - begin)),
                       cell_from_text(run.substr(equals + 1, end - equals - 1)));
    }
    from = std::max(end, equals + 1);
  }
  return out;
}

std::string_view named_part(std::string_view run) {
  const size_t last = run.rfind('=');
  if (last == run.npos) return {};
  const size_t end = run.find('/', last);
  return run.substr(0, end);
}

}  // namespace sonde::query
