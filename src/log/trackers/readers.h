// The readers, one a format.
#pragma once

#include <memory>
#include <string>

#include "log/trackers/run_reader.h"

namespace sonde::trackers {

// run-<id>.wandb: what wandb writes while it is offline (and online, before it uploads).
std::unique_ptr<RunReader> read_wandb(std::string path);
// CSV with a header line: Lightning's CSVLogger, Keras' CSVLogger, pandas.
std::unique_ptr<RunReader> read_csv(std::string path);
// One JSON object a line.
std::unique_ptr<RunReader> read_json_lines(std::string path);
// Hugging Face's trainer_state.json.
std::unique_ptr<RunReader> read_trainer_state(std::string path);
// A run's folder below mlruns/<experiment>/.
std::unique_ptr<RunReader> read_mlruns(std::string folder);
// One run of a SQLite file, by what the tracker calls it.
std::unique_ptr<RunReader> read_mlflow(std::string path, std::string run_uuid);
std::unique_ptr<RunReader> read_trackio(std::string path, std::string run);
std::unique_ptr<RunReader> read_optuna(std::string path, int64_t trial_id);

}  // namespace sonde::trackers
