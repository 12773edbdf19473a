// GET alerts: what the rules of alerts.yaml say about the runs now, and what programs said
// themselves (run.alert). Nothing is run or sent from here; that is `sonde watch`.
#include <chrono>

#include "api/services/services.h"
#include "api/services/state.h"
#include "api/v1/area.h"
#include "api/v1/beside/table_rows_file.h"
#include "api/v1/support.h"
#include "io/file.h"
#include "log/query/alerts/rules.h"

namespace sonde::api::v1 {
namespace {

constexpr uint64_t kMaxRulesBytes = 1 << 20;
constexpr size_t kMostSaid = 200;

// What people said to alerts: settings.alerts of the sidecar, {"rule\nrun\ntag": state}.
class States {
 public:
  explicit States(const Context& context) {
    auto document = context.services.state().sidecar().read();
    if (!document) return;  // an alert is open until somebody is known to have seen it
    document_ = std::move(document->value);
    const JsonValue* settings = document_.find("settings");
    alerts_ = settings ? settings->find("alerts") : nullptr;
  }
  States(const States&) = delete;
  States& operator=(const States&) = delete;

  std::string_view of(const std::string& rule, const std::string& run,
                      const std::string& tag) const {
    const JsonValue* found = alerts_ ? alerts_->find(rule + '\n' + run + '\n' + tag) : nullptr;
    if (found && found->text == "acknowledged") return "acknowledged";
    return found && found->text == "silenced" ? "silenced" : "open";
  }

 private:
  JsonValue document_;
  const JsonValue* alerts_ = nullptr;
};

void write_said(JsonWriter& json, const Context& context, const store::Snapshot& snapshot,
                const States& states) {
  for (const auto& run : snapshot.runs) {
    const auto table = find_table(snapshot, run->name, "alerts");
    if (!table) continue;
    const auto index = index_of(context, *table);
    if (!index) continue;
    const uint64_t lines = (*index)->lines;
    (void)query::read_lines(
        table->path, **index, lines > kMostSaid ? lines - kMostSaid : 0,
        [&](uint64_t line, std::string_view text) {
          const auto row = read_json(text);
          if (!row) return true;
          json.object([&] {
            const JsonValue *title = row->find("title"), *said = row->find("text"),
                            *at = row->find("_time");
            json.key("rule").string(title ? title->text : "");
            json.key("run").string(run->name);
            json.key("tag").string("");
            json.key("step").safe_integer((*index)->steps[line]);
            json.key("wall").number(at ? at->number().value_or(0) : 0);
            json.key("text").string(said ? said->text : "");
            json.key("state").string(states.of(title ? title->text : "", run->name, ""));
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
      problem = read.error().text;
  }
  const States states(context);
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("rev").number(snapshot->revision);
    json.key("rules").array([&] {
      for (const query::AlertRule& rule : rules) {
        json.object([&] {
          json.key("name").string(rule.name);
          json.key("when").string(rule.when);
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
          json.key("state").string(states.of(alert.rule, alert.run, alert.tag));
        });
      }
      write_said(json, context, *snapshot, states);
    });
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/alerts", alerts}};

}  // namespace

std::span<const Route> alert_routes() { return kRoutes; }

}  // namespace sonde::api::v1
