// What to write of which captures: the choices of `sonde timeline`, shared by its commands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capture/import/step_stats/fill.h"

namespace sonde::exports {

struct Options {
  std::vector<std::string> inputs;
  std::string out;
  std::string to = "chrome";
  std::string layout = "wall";
  std::vector<std::string> align;
  std::string by = "name";
  std::string match = "name";
  std::string tag;     // regular expression over the tags of event files
  std::string filter;  // see filter.h
  std::string op_time = "schedule", lanes = "thread", compat, time_unit = "us";
  std::string from, until, step, around;  // of cut
  std::vector<std::string> keep_args;
  double fail_above_percent = -1;
  int64_t top = 0;  // rows of a table; 0 = 30 in the terminal, all elsewhere
  bool json = false, csv = false;
  bool hides_dataflow = false, shows_memory = false;
  bool rebases = false, is_absolute = false;
  bool drops_args = false, includes_warmup = false, gzip = false, verifies = false;
  bool help = false;

  bool is_compat() const { return compat == "tf" || to == "tf"; }
  imports::Lanes lane_rule() const;
  imports::OpTime op_time_rule() const;
};

}  // namespace sonde::exports
