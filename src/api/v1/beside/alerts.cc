// GET alerts: what the rules of alerts.yaml and of the page say about the runs now, and what programs said
// themselves (run.alert). Nothing is run or sent from here; that is `sonde watch`.
#include <chrono>

#include "api/services/alert_book.h"
#include "api/services/services.h"
#include "api/services/state.h"
#include "api/v1/area.h"
#include "api/v1/beside/table_source.h"
#include "api/v1/support.h"
#include "io/file.h"
#include "log/query/alerts/rules.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMostSaid = 200;

void write_said(JsonWriter& json, const Context& context, const store::Snapshot& snapshot,
                const AlertBook& book) {
  for (const auto& run : snapshot.runs) {
    const auto file = logged_table(*run, "alerts");
    if (!file) continue;
    const auto table = TableSource::open(context, *file);
    if (!table) continue;
    const uint64_t lines = table->lines();
    (void)table->read(
        lines > kMostSaid ? lines - kMostSaid : 0, [&](uint64_t line, std::string_view text) {
          const auto row = read_json(text);
          if (!row) return true;
          json.object([&] {
            const JsonValue *title = row->find("title"), *said = row->find("text"),
                            *at = row->find("_time");
            json.key("rule").string(title ? title->text : "");
            json.key("run").string(run->name);
            json.key("tag").string("");
            json.key("step").safe_integer(table->step(line));
            json.key("wall").number(at ? at->number().value_or(0) : 0);
            json.key("text").string(said ? said->text : "");
            json.key("key").string((title ? title->text : "") + '\n' + run->name + '\n');
            json.key("state").string(
                book.state_of((title ? title->text : "") + '\n' + run->name + '\n'));
            json.key("said").boolean(true);
          });
          return true;
        });
  }
}

Answer alerts(const Context& context, const Request&) {
  const auto snapshot = context.store.snapshot();
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::string problem;
  std::vector<query::AlertRule> rules;
  for (const auto& root : context.store.options().roots) {
    const auto text =
        io::read_file(root.path + "/" + std::string(query::kRulesFile), kMaxRulesBytes);
    if (!text) continue;
    auto read = query::read_rules(*text);
    if (read)
      rules.insert(rules.end(), read->begin(), read->end());
    else
      problem = std::move(read.error()).in(root.path + "/" + std::string(query::kRulesFile)).text;
  }
  const AlertBook book(context.services.state().sidecar());
  const size_t rules_of_files = rules.size();
  const AlertBook::Rules of_page = book.rules();
  rules.insert(rules.end(), of_page.good.begin(), of_page.good.end());
  if (!of_page.problem.empty()) problem += (problem.empty() ? "" : "; ") + of_page.problem;
  for (const query::AlertRule& rule : rules) {
    if (!rule.remark.empty()) problem += (problem.empty() ? "" : "; ") + rule.remark;
  }
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("rev").number(snapshot->revision);
    json.key("rules").array([&] {
      for (size_t i = 0; i < rules.size(); ++i) {
        json.object([&] {
          json.key("name").string(rules[i].name);
          json.key("when").string(rules[i].when);
          json.key("of_page").boolean(i >= rules_of_files);
          json.key("settings").object([&] {
            for (const auto& [field, value] : rules[i].fields) json.key(field).string(value);
          });
        });
      }
    });
    if (!problem.empty()) json.key("problem").string(problem);
    json.key("alerts").array([&] {
      for (const query::Alert& alert : query::fired_alerts(rules, *snapshot, now)) {
        json.object([&] {
          json.key("rule").string(alert.rule);
          json.key("run").string(alert.run);
          json.key("tag").string(alert.tag);
          json.key("step").safe_integer(alert.fired.step);
          json.key("wall").number(alert.fired.wall);
          json.key("value").number(alert.fired.value);
          json.key("text").string(alert.fired.text);
          if (!alert.group.empty()) json.key("group").string(alert.group);
          json.key("key").string(alert.key());
          json.key("state").string(book.state_of(alert.key()));
        });
      }
      write_said(json, context, *snapshot, book);
    });
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/alerts", alerts}};

}  // namespace

std::span<const Route> alert_routes() { return kRoutes; }

}  // namespace sonde::api::v1
