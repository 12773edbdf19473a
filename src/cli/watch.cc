// `sonde watch LOGDIR`: tells when a run goes wrong, or ends when a metric has reached something.
// Commands and webhooks come from the command line only: a log directory may come from anywhere.
#include <fmt/core.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "api/services/alert_book.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/logdir.h"
#include "codec/json.h"
#include "io/file.h"
#include "log/query/alerts/rules.h"

namespace sonde::cli {
namespace {

constexpr int kAlertFired = 3, kTimedOut = 4;
constexpr int kHookSeconds = 30;

constexpr std::string_view kHelp =
    R"(sonde watch LOGDIR: tell when a run goes wrong, or end when a metric is reached

  sonde watch logs --until 'val/acc > 0.9' --timeout 3600 && ./publish
  sonde watch logs --command 'notify-send "$SONDE_RULE" "$SONDE_TEXT"'

Rules are read from LOGDIR/alerts.yaml: a name, and below it `when` (nan, spike, divergence, plateau,
stall, throughput, or an expression such as val/acc < 0.5) with `tag` and `runs` (regular expressions)
and `per: group` for one alert a group of runs. Rules made on the page count too; alerts that were
silenced or acknowledged there are not told.

  --until EXPR        end with exit code 0 as soon as a run fits: val/acc > 0.9, min(loss) < 0.1 and
                      step(loss) > 1000; functions: last, first, min, max, mean, step, count
  --runs RE           only runs whose name fits (for --until)
  --rules FILE        rules from this file instead of LOGDIR/alerts.yaml
  --command CMD       run by a shell for each alert, with SONDE_RULE, SONDE_RUN, SONDE_TAG, SONDE_STEP,
                      SONDE_VALUE, SONDE_TEXT, SONDE_URL
  --webhook URL       each alert is sent there as JSON (by the program curl)
  --url ADDRESS       address of the page (http://host:6006): each alert then links to its chart
  --notify            each alert as a desktop notification (by the program notify-send)
  --exit_on_alert     end with exit code 3 at the first alert
  --once              look once and end: 0 fits or nothing fired, 3 an alert fired, 4 --until does not hold
  --timeout SECONDS   end with exit code 4 when --until does not hold by then
  --interval SECONDS  between two looks (default 2)
  --json              one JSON object a line
)";

struct Options {
  LogdirFlags logdir;
  std::string until, runs, rules, command, webhook, url;
  bool notify = false, exit_on_alert = false, once = false, json = false;
  double timeout_s = 0, interval_s = 2;
};

double now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// An expression that fits exactly this text.
std::string exactly(std::string_view text) {
  std::string out = "^";
  for (const char c : text) {
    if (std::string_view("\\^$.*+?()[]{}|").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out + "$";
}

// The page's curve of an alert: an address as TensorBoard's links have it, which Sonde reads.
std::string link_of(const Options& o, const query::Alert& alert) {
  if (o.url.empty()) return "";
  std::string base = o.url;
  while (base.ends_with('/')) base.pop_back();
  return fmt::format("{}/?tagFilter={}&runFilter={}#timeseries", base,
                     percent_encoded(exactly(alert.tag)), percent_encoded(exactly(alert.run)));
}

std::string as_json(const Options& o, const query::Alert& alert) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("rule").string(alert.rule);
    json.key("run").string(alert.run);
    json.key("tag").string(alert.tag);
    json.key("step").safe_integer(alert.fired.step);
    json.key("wall").number(alert.fired.wall);
    json.key("value").number(alert.fired.value);
    json.key("text").string(alert.fired.text);
    if (!alert.group.empty()) json.key("group").string(alert.group);
    if (!o.url.empty()) json.key("url").string(link_of(o, alert));
  });
  return out;
}

// Runs a program with `input` on its stdin; waits, but never for ever.
void run_hook(const std::vector<std::string>& words, const std::string& input,
              const std::vector<std::pair<std::string, std::string>>& variables) {
  int ends[2];
  if (::pipe(ends) != 0) return;
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::alarm(kHookSeconds);
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[0]);
  if (child > 0) {
    // What does not fit the pipe is not sent: alerts are short.
    if (::write(ends[1], input.data(), input.size()) < 0)
      fmt::print(stderr, "sonde: the hook took no input\n");
    ::close(ends[1]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      fmt::print(stderr, "sonde: '{}' failed\n", words.front());
  } else {
    ::close(ends[1]);
  }
}

void tell(const Options& o, const query::Alert& alert) {
  if (o.json)
    fmt::print("{}\n", as_json(o, alert));
  else
    fmt::print("{}: {} (run {}){}{}\n", alert.rule, alert.fired.text, alert.run,
               o.url.empty() ? "" : " ", link_of(o, alert));
  std::fflush(stdout);
  const std::vector<std::pair<std::string, std::string>> variables = {
      {"SONDE_RULE", alert.rule},
      {"SONDE_RUN", alert.run},
      {"SONDE_TAG", alert.tag},
      {"SONDE_STEP", std::to_string(alert.fired.step)},
      {"SONDE_VALUE", fmt::format("{}", alert.fired.value)},
      {"SONDE_TEXT", alert.fired.text},
      {"SONDE_URL", link_of(o, alert)}};
  if (!o.command.empty()) run_hook({"/bin/sh", "-c", o.command}, as_json(o, alert), variables);
  if (o.notify)
    run_hook({"notify-send", "--app-name=Sonde", "--", alert.rule,
              fmt::format("{} (run {})", alert.fired.text, alert.run)},
             "", {});
  if (!o.webhook.empty())
    run_hook({"curl", "-fsS", "-m", "20", "-H", "Content-Type: application/json", "--data-binary",
              "@-", "-o", "/dev/null", "--", o.webhook},
             as_json(o, alert), {});
}

// The first run for which the expression holds.
const store::RunSnapshot* reached(const query::Expression& until, const Regex& runs,
                                  const store::Snapshot& snapshot) {
  for (const auto& run : snapshot.runs) {
    if (runs.found_in(run->name) && query::holds(until, *run) == true) return run.get();
  }
  return nullptr;
}

Result<std::vector<query::AlertRule>> rules_of(const Options& o, const std::string& root,
                                               const api::v1::AlertBook& book) {
  const bool is_given = !o.rules.empty();
  const std::string path = is_given ? o.rules : root + "/" + std::string(query::kRulesFile);
  const auto text = io::read_file(path, api::v1::kMaxRulesBytes);
  if (!text && (is_given || text.error().code != Code::kNotFound)) return fail(text.error());
  std::vector<query::AlertRule> out;
  if (text) {
    auto rules = query::read_rules(*text);
    if (!rules) return fail(std::move(rules.error()).in(path));
    out = std::move(*rules);
  }
  if (is_given) return out;
  const api::v1::AlertBook::Rules of_page = book.rules();
  if (!of_page.problem.empty()) fmt::print(stderr, "sonde: {}\n", of_page.problem);
  out.insert(out.end(), of_page.good.begin(), of_page.good.end());
  return out;
}

int watch(const Options& o, store::Store& store, api::v1::SidecarFile& sidecar,
          const std::vector<query::AlertRule>& rules, const std::optional<query::Expression>& until,
          const Regex& runs) {
  std::set<std::string> told;
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const auto snapshot = store.snapshot();
    for (const query::Alert& alert : query::fired_alerts(rules, *snapshot, now_s())) {
      if (told.contains(alert.key())) continue;
      // Looked up each time: somebody may open an alert again, and it is told then.
      if (api::v1::AlertBook(sidecar).state_of(alert.key()) != "open") continue;
      told.insert(alert.key());
      tell(o, alert);
      if (o.exit_on_alert) return kAlertFired;
    }
    if (until) {
      if (const store::RunSnapshot* run = reached(*until, runs, *snapshot)) {
        if (o.json) {
          std::string name;
          append_json_string(name, run->name);
          fmt::print("{{\"reached\":{}}}\n", name);
        } else {
          fmt::print("{} holds for run {}\n", until->text, run->name);
        }
        return 0;
      }
    }
    if (o.once) return until ? kTimedOut : told.empty() ? 0 : kAlertFired;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (o.timeout_s > 0 && passed.count() >= o.timeout_s) return until ? kTimedOut : 0;
    std::this_thread::sleep_for(std::chrono::duration<double>(o.interval_s));
  }
}

}  // namespace

int watch_command(const Args& args) {
  if (asks_for_help(args)) {
    fmt::print("{}{}", kHelp, kLogdirHelp);
    return 0;
  }
  Options o;
  Flags flags("sonde watch");
  o.logdir.declare(flags);
  flags.text("until", o.until);
  flags.text("runs", o.runs);
  flags.text("rules", o.rules);
  flags.text("command", o.command);
  flags.text("webhook", o.webhook);
  flags.text("url", o.url);
  flags.on("notify", o.notify);
  flags.on("exit_on_alert", o.exit_on_alert);
  flags.on("once", o.once);
  flags.on("json", o.json);
  flags.real("timeout", o.timeout_s, 0);
  flags.real("interval", o.interval_s, 0.05);
  if (const auto parsed = flags.parse(args); !parsed) return failed(parsed.error().text, 2);
  std::optional<query::Expression> until;
  if (!o.until.empty()) {
    auto parsed = query::parse_expression(o.until);
    if (!parsed) return failed("--until: " + parsed.error().text, 2);
    until = std::move(*parsed);
  }
  const auto runs = Regex::compile(o.runs);
  if (!runs) return failed("--runs: " + runs.error().text, 2);
  o.logdir.follow = !o.once;
  ::signal(SIGPIPE, SIG_IGN);
  const auto store = open_logdir(o.logdir);
  if (!store) return failed(store.error().text, store.error().code == Code::kInvalid ? 2 : 1);
  const api::Settings settings;
  api::v1::SidecarFile sidecar((*store)->options(), settings);
  const auto rules =
      rules_of(o, (*store)->options().roots.front().path, api::v1::AlertBook(sidecar));
  if (!rules) return failed(rules.error().text, 2);
  for (const query::AlertRule& rule : *rules) {
    if (!rule.remark.empty()) fmt::print(stderr, "sonde: {}\n", rule.remark);
  }
  if (rules->empty() && !until)
    return failed(
        "nothing to watch for: give --until, or rules in LOGDIR/alerts.yaml or on the page", 2);
  return watch(o, **store, sidecar, *rules, until, *runs);
}

}  // namespace sonde::cli
