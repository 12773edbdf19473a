#include "cli/flags.h"

#include <doctest/doctest.h>

using sonde::cli::Flags;

namespace {

struct Parsed {
  std::string logdir, title, mode = "auto", positional;
  int64_t port = 6006;
  double interval = 5;
  uint64_t memory = 0;
  std::optional<bool> multifile;
  bool bind_all = false;
  std::vector<std::string> hosts, notes;
  std::string error;
};

Parsed parse(std::vector<std::string> args) {
  Parsed p;
  Flags flags("sonde");
  flags.text("logdir", p.logdir);
  flags.text("window_title", p.title);
  flags.choice("load_fast", p.mode, {"auto", "true", "false"});
  flags.integer("port", p.port, 0, 65535);
  flags.real("reload_interval", p.interval, 0);
  flags.boolean("reload_multifile", p.multifile);
  flags.bytes("max_memory", p.memory);
  flags.on("bind_all", p.bind_all);
  flags.list("allow_host", p.hosts);
  flags.obsolete("db", Flags::Takes::kValue, "does nothing");
  flags.positional("logdir", p.positional);
  if (auto result = flags.parse(args); !result) p.error = result.error().text;
  p.notes = flags.notes();
  return p;
}

}  // namespace

TEST_CASE("Flags: both spellings, prefixes, dashes, words and positionals") {
  CHECK(parse({"--logdir", "a"}).logdir == "a");
  CHECK(parse({"--logdir=a=b"}).logdir == "a=b");
  CHECK(parse({"--logdir="}).logdir == "");
  CHECK(parse({"--logd", "a"}).logdir == "a");
  CHECK(parse({"--window-title", "x y"}).title == "x y");
  CHECK(parse({"--reload_multifile", "TRUE"}).multifile == true);
  CHECK(parse({"--bind_all"}).bind_all);
  CHECK(parse({"--allow_host", "a", "--allow_host=b"}).hosts == std::vector<std::string>{"a", "b"});
  CHECK(parse({"logs", "--port", "0"}).positional == "logs");
  CHECK(parse({"--", "--odd"}).positional == "--odd");
  CHECK(parse({"--max_memory", "8G"}).memory == 8'000'000'000);
  CHECK(parse({"--max_memory", "1.5kB"}).memory == 1500);
  CHECK(parse({"--db", "x", "--db=y"}).notes.size() == 1);
}

TEST_CASE("Flags: what is wrong is named") {
  CHECK(parse({"--port", "x"}).error == "argument --port: invalid int value: 'x'");
  CHECK(parse({"--port", "70000"}).error == "argument --port: must be between 0 and 65535: 70000");
  CHECK(parse({"--reload_interval", "-1"}).error ==
        "argument --reload_interval: must be non-negative: -1");
  CHECK(parse({"--reload_multifile", "maybe"}).error ==
        "argument --reload_multifile: invalid choice: 'maybe' (choose from True, False)");
  CHECK(parse({"--load_fast", "x"}).error.starts_with("argument --load_fast: invalid choice: 'x'"));
  CHECK(parse({"--logdir"}).error == "argument --logdir: expected one argument");
  CHECK(parse({"--bind_all=1"}).error == "argument --bind_all: takes no value, got '1'");
  CHECK(parse({"--nope"}).error == "unknown flag --nope; see sonde --help");
  CHECK(parse({"--reload", "1"}).error ==
        "--reload could mean --reload_interval, --reload_multifile");
  CHECK(parse({"a", "b"}).error == "unexpected argument 'b'; see sonde --help");
  CHECK(parse({"--max_memory", "much"}).error.starts_with("argument --max_memory: not a size"));
}
