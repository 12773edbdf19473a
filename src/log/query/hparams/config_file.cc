#include "log/query/hparams/config_file.h"

#include <algorithm>

#include "codec/yaml.h"
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

NamedCells flat_config(const JsonValue& value) {
  NamedCells out;
  flatten(value, "", 0, out);
  return out;
}

NamedCells read_config_json(std::string_view text) {
  const auto value = read_json(text);
  return value ? flat_config(*value) : NamedCells{};
}

NamedCells read_config_yaml(std::string_view text) {
  const auto value = read_yaml(text);
  return value ? flat_config(*value) : NamedCells{};
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
