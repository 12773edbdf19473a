// Which tables of samples there are: those that runs logged (<run>/tables/<name>.jsonl) and what
// programs of reinforcement learning leave beside their logs, a file a step (trl's Parquet of
// completions, JSON lines of verl, NeMo-RL and OpenRLHF). Files whose names differ in a last number
// are one table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "log/model/snapshot.h"

namespace sonde::api::v1 {

struct TablePart {
  std::string path;
  std::optional<int64_t> step;  // what the file's name says, for rows that do not
  bool is_parquet = false;
};
struct TableFile {
  std::string run, name;
  std::vector<TablePart> parts;  // by step
  uint64_t bytes = 0;
};

// All tables of a log directory, by run and name.
std::vector<TableFile> all_tables(const Context& context, const store::Snapshot& snapshot);
// kNotFound names what is missing.
Result<TableFile> find_table(const Context& context, const store::Snapshot& snapshot,
                             std::string_view run, std::string_view name);
// Of those that the run itself logged; found without looking at any other folder.
std::optional<TableFile> logged_table(const store::RunSnapshot& run, std::string_view name);

// "completions_00010" -> ("completions", 10); names without a number at their end have no step.
struct NumberedName {
  std::string stem;
  std::optional<int64_t> step;
};
NumberedName numbered_name(std::string_view stem);

}  // namespace sonde::api::v1
