#include "log/query/alerts/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/strings.h"
#include "codec/yaml.h"
#include "io/file.h"
#include "log/query/hparams/config_file.h"

namespace sonde::query {
namespace {

constexpr uint64_t kMostPoints = 1'000'000;  // newest of a curve that are looked at
constexpr size_t kMostRules = 200;
constexpr uint64_t kMaxAboutBytes = 4 << 20;
constexpr std::array<std::string_view, 12> kFields = {"when",
                                                      "tag",
                                                      "runs",
                                                      "per",
                                                      "min_z",
                                                      "factor",
                                                      "min_delta",
                                                      "stall_factor",
                                                      "stall_least_s",
                                                      "slow_factor",
                                                      "higher_is_better",
                                                      "patience"};

double number_in(const std::map<std::string, std::string>& fields, const std::string& name,
                 double otherwise) {
  const auto found = fields.find(name);
  return found == fields.end() ? otherwise : std::strtod(found->second.c_str(), nullptr);
}

Result<AlertRule> rule_of(const std::string& name,
                          const std::map<std::string, std::string>& fields) {
  AlertRule rule;
  rule.name = name;
  const auto text = [&](const std::string& field) {
    const auto found = fields.find(field);
    return found == fields.end() ? std::string() : found->second;
  };
  for (const auto& [field, value] : fields) {
    if (std::ranges::find(kFields, field) == kFields.end())
      rule.remark = fmt::format("rule '{}': there is no setting '{}'; there are {}", name, field,
                                fmt::join(kFields, ", "));
    rule.fields.emplace_back(field, value);
  }
  rule.when = text("when");
  if (rule.when == "NaN") rule.when = "nan";  // YAML takes the word for a number
  if (rule.when.empty()) return fail(Code::kInvalid, fmt::format("rule '{}' has no 'when'", name));
  if (!is_curve_word(rule.when)) {
    auto expression = parse_expression(rule.when);
    if (!expression)
      return fail(Code::kInvalid, fmt::format("rule '{}': {}", name, expression.error().text));
    rule.expression = std::move(*expression);
  }
  for (const auto& [field, into] : {std::pair{"tag", &rule.tags}, std::pair{"runs", &rule.runs}}) {
    const std::string pattern = text(field);
    if (pattern.empty()) continue;
    auto regex = Regex::compile(pattern);
    if (!regex) return fail(Code::kInvalid, fmt::format("rule '{}': {}", name, regex.error().text));
    *into = std::move(*regex);
  }
  const std::string per = text("per");
  if (!per.empty() && per != "run" && per != "group")
    return fail(Code::kInvalid,
                fmt::format("rule '{}': 'per' is run or group, not '{}'", name, per));
  rule.per_group = per == "group";
  rule.limits.min_z = number_in(fields, "min_z", rule.limits.min_z);
  rule.limits.factor = number_in(fields, "factor", rule.limits.factor);
  rule.limits.min_delta = number_in(fields, "min_delta", rule.limits.min_delta);
  rule.limits.patience = static_cast<size_t>(std::clamp(
      number_in(fields, "patience", static_cast<double>(rule.limits.patience)), 1.0, 1e9));
  rule.limits.stall_factor = number_in(fields, "stall_factor", rule.limits.stall_factor);
  rule.limits.stall_least_s = number_in(fields, "stall_least_s", rule.limits.stall_least_s);
  rule.limits.slow_factor = number_in(fields, "slow_factor", rule.limits.slow_factor);
  const std::string higher = text("higher_is_better");
  rule.limits.higher_is_better = higher == "true" || higher == "yes" || higher == "1";
  return rule;
}

std::optional<Fired> expression_fired(const AlertRule& rule, const store::RunSnapshot& run) {
  if (holds(*rule.expression, run) != true) return std::nullopt;
  const store::Series* series = run.find(rule.expression->parts.front().tag);
  Fired fired;
  fired.text = rule.expression->text;
  if (series && series->is_scalar()) {
    Points points;
    const ViewReader reader(*series, store::View::kNewest);
    if (reader.size() > 0) reader.read(reader.size() - 1, reader.size(), points);
    if (points.size() > 0) {
      fired.step = points.steps[0], fired.wall = points.walls[0], fired.value = points.values[0];
      fired.text += fmt::format(" ({} is {:.6g} at step {})", to_utf8(series->tag()), fired.value,
                                fired.step);
    }
  }
  return fired;
}

// The alerts of one rule from `first` on, one a group and tag: the newest stands for the others.
void fold_groups(std::vector<Alert>& alerts, size_t first, const store::Snapshot& snapshot) {
  std::map<std::string, std::string> groups;  // by run
  std::vector<Alert> folded;
  for (size_t i = first; i < alerts.size(); ++i) {
    Alert& one = alerts[i];
    auto [group, is_new] = groups.try_emplace(one.run);
    if (const auto* run = is_new ? snapshot.find(one.run) : nullptr) group->second = group_of(*run);
    one.group = group->second;
    const auto twin = std::ranges::find_if(folded, [&](const Alert& other) {
      return other.group == one.group && other.tag == one.tag;
    });
    if (twin == folded.end()) {
      folded.push_back(std::move(one));
      continue;
    }
    const uint64_t others = twin->others + 1;
    if (one.fired.wall > twin->fired.wall) *twin = std::move(one);
    twin->others = others;
  }
  for (Alert& one : folded) {
    if (one.others > 0)
      one.fired.text += fmt::format(", and so {} {} more {}", one.others == 1 ? "does" : "do",
                                    one.others, one.others == 1 ? "run" : "runs");
    one.fired.text += fmt::format(" (group {})", one.group);
  }
  alerts.resize(first);
  std::ranges::move(folded, std::back_inserter(alerts));
}

}  // namespace

std::string group_of(const store::RunSnapshot& run) {
  if (const auto text = io::read_file(run.folder + "/sonde_run.json", kMaxAboutBytes)) {
    const auto about = read_json(*text);
    const JsonValue* group = about ? about->find("group") : nullptr;
    if (group && group->is_string() && !group->text.empty()) return group->text;
  }
  const size_t slash = run.name.rfind('/');
  return slash == std::string::npos ? "." : run.name.substr(0, slash);
}

Result<std::vector<AlertRule>> read_rules(std::string_view yaml) {
  SONDE_TRY(const tree, read_yaml(yaml));
  return read_rules(tree);
}

Result<std::vector<AlertRule>> read_rules(const JsonValue& tree) {
  std::map<std::string, std::map<std::string, std::string>> rules;
  std::vector<std::string> order;
  for (const auto& [name, cell] : flat_config(tree)) {
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos)
      return fail(Code::kInvalid,
                  fmt::format("'{}' is no rule; a rule is a name with 'when' below it", name));
    const std::string rule = name.substr(0, dot);
    if (!rules.contains(rule)) order.push_back(rule);
    rules[rule][name.substr(dot + 1)] = text_of(cell);
    if (rules.size() > kMostRules) return fail(Code::kTooLarge, "more than 200 rules");
  }
  std::vector<AlertRule> out;
  for (const std::string& name : order) {
    SONDE_TRY(rule, rule_of(name, rules[name]));
    out.push_back(std::move(rule));
  }
  return out;
}

std::vector<Alert> fired_alerts(const std::vector<AlertRule>& rules,
                                const store::Snapshot& snapshot, double now, size_t most) {
  std::vector<Alert> out;
  for (const AlertRule& rule : rules) {
    CurveLimits limits = rule.limits;
    limits.now = now;
    const size_t first = out.size();
    for (const auto& run : snapshot.runs) {
      if (rule.runs && !rule.runs->found_in(run->name)) continue;
      if (rule.expression) {
        if (auto fired = expression_fired(rule, *run))
          out.push_back({rule.name, run->name, rule.expression->parts.front().tag, *fired, {}, 0});
        continue;
      }
      for (const auto& series : run->series) {
        if (!series->is_scalar()) continue;
        const std::string tag = to_utf8(series->tag());
        if (tag.starts_with("system/") || (rule.tags && !rule.tags->found_in(tag))) continue;
        Points points;
        const ViewReader reader(*series, store::View::kNewest);
        reader.read(reader.size() > kMostPoints ? reader.size() - kMostPoints : 0, reader.size(),
                    points);
        if (auto fired = look_at(rule.when, points, limits)) {
          fired->text = tag + " " + fired->text;
          out.push_back({rule.name, run->name, tag, *fired, {}, 0});
        }
      }
    }
    if (rule.per_group) fold_groups(out, first, snapshot);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Alert& a, const Alert& b) { return a.fired.wall > b.fired.wall; });
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace sonde::query
