// `sonde numerics DIR`: which op made the first NaN, in one sentence; `sonde numerics diff A B`
// where two recordings of one program part.
#include <fmt/core.h>

#include <memory>

#include "cli/commands.h"
#include "codec/json.h"
#include "io/file.h"
#include "io/scan.h"
#include "numerics/compare.h"
#include "numerics/first_fault.h"
#include "numerics/torch_log.h"

namespace sonde::cli {
namespace {

constexpr int kFaultFound = 3;

constexpr std::string_view kHelp = R"(sonde numerics DIR: which op made the first NaN or infinity

DIR holds recordings of sonde.debug or of TensorFlow's enable_dump_debug_info, at any depth. A log
of torch's DebugMode (save_logs, with log_tensor_hashes on) is read too: sonde numerics FILE.json

  --json        the fault and the ops before and after it as JSON
  --tolerance X for diff: how much the size of values may differ (default 0.001 = 0.1 %)

sonde numerics diff A B: the first tensor in which two recordings of one program differ

Exit code: 0 when all is well, 3 when a fault or a difference was found, 1 when nothing could be
read, 2 for wrong usage.
)";

using Dumps = std::vector<std::unique_ptr<numerics::Dump>>;

Result<Dumps> load(const std::string& path) {
  std::vector<std::string> problems;
  Dumps dumps;
  for (numerics::DumpFiles& files :
       numerics::find_dumps({{"", io::absolute_path(path)}}, &problems)) {
    dumps.push_back(std::make_unique<numerics::Dump>(std::move(files)));
    dumps.back()->update();
  }
  for (const std::string& problem : problems) fmt::print(stderr, "sonde: {}\n", problem);
  if (dumps.empty())
    return fail(Code::kNotFound,
                path + ": no recording of numerics here; looked for tfdbg_events.*.metadata");
  return dumps;
}

void write_link(JsonWriter& json, const numerics::Link& link) {
  json.object([&] {
    json.key("op").string(link.op_name);
    json.key("type").string(link.op_type);
    json.key("path").string(link.where.path);
    json.key("line").number(link.where.line);
    json.key("nan").number(link.health.nan);
    json.key("pos_inf").number(link.health.pos_inf);
    json.key("neg_inf").number(link.health.neg_inf);
    json.key("size").number(link.health.size);
    if (!link.numbers) return;
    json.key("rms").number(link.numbers->rms);
    json.key("min").number(link.numbers->min);
    json.key("max").number(link.numbers->max);
  });
}

void print_json(const std::optional<numerics::Fault>& fault, const std::string& text,
                const std::string& dump) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("sentence").string(text);
    json.key("dump").string(dump);
    if (!fault) return;
    const numerics::Link& link = fault->link();
    json.key("op").string(link.op_name);
    json.key("type").string(link.op_type);
    json.key("path").string(link.where.path);
    json.key("line").number(link.where.line);
    json.key("step").number(fault->step);
    json.key("rank").number(fault->rank);
    json.key("followers").number(fault->followers);
    json.key("advice").string(numerics::advice(*fault));
    json.key("chain").array([&] {
      for (const numerics::Link& one : fault->chain) write_link(json, one);
    });
  });
  fmt::print("{}\n", out);
}

std::string numbers_of(const numerics::Link& link) {
  std::string out;
  const auto add = [&](const char* name, double value) {
    if (value > 0) out += fmt::format(" {:g} {}", value, name);
  };
  add("NaN", link.health.nan);
  add("+inf", link.health.pos_inf);
  add("-inf", link.health.neg_inf);
  add("zero", link.health.zero);
  if (link.health.size >= 0) out += fmt::format(" of {:g}", link.health.size);
  if (link.numbers)
    out +=
        fmt::format("  min {:.4g}  max {:.4g}  rms {:.4g}", static_cast<double>(link.numbers->min),
                    static_cast<double>(link.numbers->max), static_cast<double>(link.numbers->rms));
  return out;
}

constexpr uint64_t kMostLogBytes = uint64_t{1} << 30;

// A log of torch's DebugMode; nothing when the path is a folder or another file.
std::optional<Result<numerics::TorchLog>> torch_log(const std::string& path) {
  const auto stat = io::stat_of(path);
  if (!stat || !stat->regular) return std::nullopt;
  const auto text = io::read_file(path, kMostLogBytes);
  if (!text) return Result<numerics::TorchLog>(fail(text.error()));
  if (!numerics::is_torch_log(*text))
    return Result<numerics::TorchLog>(
        fail(Code::kInvalid, path + ": neither a folder nor a log of torch's DebugMode"));
  auto log = numerics::parse_torch_log(*text);
  if (!log) return Result<numerics::TorchLog>(fail(Code::kInvalid, path + ": " + log.error().text));
  return log;
}

int show_fault(const std::optional<numerics::Fault>& fault, const std::string& text,
               const std::string& dump, bool as_json);

int show(const std::string& path, bool as_json) {
  if (const auto log = torch_log(path)) {
    if (!*log) return failed(log->error().text);
    const auto fault = numerics::first_fault(**log);
    return show_fault(fault, fault ? numerics::sentence(*fault) : numerics::healthy_sentence(**log),
                      path, as_json);
  }
  const auto dumps = load(path);
  if (!dumps) return failed(dumps.error().text);
  std::optional<numerics::Fault> first;
  const numerics::Dump* where = nullptr;
  std::string healthy;
  for (const auto& dump : *dumps) {
    if (healthy.empty()) healthy = numerics::healthy_sentence(*dump->view());
    auto fault = numerics::first_fault(*dump);
    if (!fault || (first && first->wall_time <= fault->wall_time)) continue;
    first = std::move(fault);
    where = dump.get();
  }
  return show_fault(first, first ? numerics::sentence(*first) : healthy,
                    where ? where->files().name : dumps->front()->files().name, as_json);
}

int show_fault(const std::optional<numerics::Fault>& first, const std::string& text,
               const std::string& dump, bool as_json) {
  if (as_json) {
    print_json(first, text, dump);
  } else {
    fmt::print("{}.\n", text);
    if (first) {
      const std::string advice = numerics::advice(*first);
      if (!advice.empty()) fmt::print("{}\n", advice);
      for (size_t i = 0; i < first->chain.size() && i < 20; ++i) {
        const numerics::Link& link = first->chain[i];
        fmt::print("  {} {:<14} {:<32} {:<20}{}\n", i == first->at ? '>' : ' ', link.op_type,
                   link.op_name, link.where.is_known() ? link.where.text() : "", numbers_of(link));
      }
    }
  }
  return first ? kFaultFound : 0;
}

int diff(const std::string& a, const std::string& b, double tolerance) {
  const auto log = torch_log(a), other_log = torch_log(b);
  if (log && other_log) {
    if (!*log) return failed(log->error().text);
    if (!*other_log) return failed(other_log->error().text);
    const std::string difference = numerics::first_difference(**log, **other_log, tolerance);
    fmt::print("{}.\n", difference.empty()
                            ? fmt::format("The logs agree, in {} calls", (*log)->calls.size())
                            : difference);
    return difference.empty() ? 0 : kFaultFound;
  }
  const auto first = load(a);
  if (!first) return failed(first.error().text);
  const auto second = load(b);
  if (!second) return failed(second.error().text);
  const numerics::Comparison comparison =
      numerics::compare(*first->front(), *second->front(), tolerance);
  fmt::print("{}.\n", numerics::sentence(comparison));
  if (comparison.only_first + comparison.only_second > 0)
    fmt::print("{} tensors only in the first, {} only in the second.\n", comparison.only_first,
               comparison.only_second);
  return !comparison.divergences.empty() || comparison.compared == 0 ? kFaultFound : 0;
}

}  // namespace

int numerics_command(const Args& args) {
  std::vector<std::string> paths;
  bool as_json = false;
  double tolerance = 1e-3;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--help" || args[i] == "-h") {
      fmt::print("{}", kHelp);
      return 0;
    }
    if (args[i] == "--json") {
      as_json = true;
    } else if (args[i] == "--tolerance" && i + 1 < args.size()) {
      char* end = nullptr;
      tolerance = std::strtod(args[++i].c_str(), &end);
      if (*end != '\0' || !(tolerance >= 0))
        return failed("--tolerance needs a number, not '" + args[i] + "'", 2);
    } else if (args[i].starts_with("--")) {
      return failed("unknown option " + args[i] + "; sonde numerics --help lists them", 2);
    } else {
      paths.push_back(args[i]);
    }
  }
  if (paths.size() == 3 && paths[0] == "diff") return diff(paths[1], paths[2], tolerance);
  if (paths.size() == 1) return show(paths[0], as_json);
  fmt::print(stderr, "{}", kHelp);
  return 2;
}

}  // namespace sonde::cli
