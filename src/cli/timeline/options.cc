#include "cli/timeline/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "cli/flags.h"

namespace sonde::cli::timeline {
namespace {

constexpr std::string_view kGroupings[] = {"name", "cat",    "op",     "lane",
                                           "step", "kernel", "module", "annotation"};

Result<void> check(std::string_view command, Options& options) {
  const bool known = std::ranges::find(kGroupings, options.by) != std::end(kGroupings);
  if (!known && !(options.by.starts_with("arg:") && options.by.size() > 4))
    return fail(Code::kInvalid,
                fmt::format("--by is name, cat, op, lane, step, kernel, module, annotation or "
                            "arg:KEY, not '{}'",
                            options.by));
  if (options.json && options.csv)
    return fail(Code::kInvalid, "--json and --csv exclude each other");
  if (options.rebases && options.is_absolute)
    return fail(Code::kInvalid, "--rebase and --absolute exclude each other");
  if (!options.compat.empty() && options.to != "chrome" && options.to != "tf")
    return fail(Code::kInvalid, "--compat tf writes Chrome traces only");
  const bool writes = command == "convert" || command == "merge" || command == "cut";
  if (writes && options.out.empty())
    return fail(Code::kInvalid, "-o says where to write; - is standard output");
  if (options.inputs.empty()) return fail(Code::kInvalid, "give at least one capture");
  if (options.out.ends_with(".gz")) options.gzip = true;
  return {};
}

}  // namespace

Result<Options> parse(std::string_view command, const Args& args) {
  Options options;
  std::string keep;
  Flags flags(fmt::format("sonde timeline {}", command));
  flags.on("help", options.help);
  flags.on("h", options.help);
  flags.text("tag", options.tag);
  flags.text("filter", options.filter);
  flags.choice("op_time", options.op_time, {"schedule", "gpu", "all"});
  flags.choice("lanes", options.lanes, {"thread", "packed", "tf"});
  flags.on("include_warmup", options.includes_warmup);
  if (command == "convert" || command == "merge" || command == "cut") {
    flags.text("o", options.out);
    flags.choice("to", options.to, {"chrome", "perfetto", "csv", "folded", "tf"});
    flags.choice("compat", options.compat, {"tf"});
    flags.choice("time_unit", options.time_unit, {"us", "ns"});
    bool shows_dataflow = true, hides_memory = false;  // the defaults, said out loud
    flags.on("show_dataflow", shows_dataflow);
    flags.on("no_show_dataflow", options.hides_dataflow);
    flags.on("show_memory", options.shows_memory);
    flags.on("no_show_memory", hides_memory);
    flags.on("rebase", options.rebases);
    flags.on("absolute", options.is_absolute);
    flags.on("drop_args", options.drops_args);
    flags.text("keep_args", keep);
    flags.on("gzip", options.gzip);
    flags.on("verify", options.verifies);
    if (command == "merge") {
      flags.choice("layout", options.layout, {"wall", "sequence", "stack"});
      flags.list("align", options.align);
    }
    if (command == "cut") {
      flags.text("from", options.from);
      flags.text("to_time", options.until);
      flags.text("step", options.step);
      flags.text("around", options.around);
    }
    flags.rest("IN", options.inputs);
    // `cut --to T` is a time, as the synopsis has it; the format is then Chrome's.
    Args rewritten = args;
    if (command == "cut") {
      for (std::string& word : rewritten) {
        if (word == "--to") word = "--to-time";
        if (word.starts_with("--to=")) word = "--to-time=" + word.substr(5);
      }
    }
    if (auto parsed = flags.parse(rewritten); !parsed) return fail(std::move(parsed).error());
    if (hides_memory && options.shows_memory)
      return fail(Code::kInvalid, "--show-memory and --no-show-memory exclude each other");
  } else {
    flags.on("json", options.json);
    flags.on("csv", options.csv);
    flags.text("by", options.by);
    flags.integer("top", options.top, 1, INT32_MAX);
    if (command == "diff") {
      flags.text("o", options.out);
      flags.choice("match", options.match, {"name", "stack", "module"});
      flags.real("fail_above", options.fail_above_percent, 0);
    }
    flags.rest("IN", options.inputs);
    if (auto parsed = flags.parse(args); !parsed) return fail(std::move(parsed).error());
  }
  for (const std::string_view key : split(keep, ',')) {
    if (!trimmed(key).empty()) options.keep_args.emplace_back(trimmed(key));
  }
  if (options.help) return options;
  if (auto checked = check(command, options); !checked) return fail(std::move(checked).error());
  return options;
}

}  // namespace sonde::cli::timeline
