// PyTorch programs that record on request: the helper sonde.profile in the program keeps
// `sonde_profile.json` in the run's folder while it watches for `sonde_profile.request` there. Both
// are small JSON files, so that any file system both sides see will do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "codec/json.h"

namespace sonde::api::v1 {

inline constexpr std::string_view kWatchFile = "sonde_profile.json";
inline constexpr std::string_view kRequestFile = "sonde_profile.request";
inline constexpr double kAliveSeconds = 60;  // without a sign the program has ended

struct WatchedRun {
  std::string run, folder;
  std::string state;  // of the program: "waiting" or "recording"
  std::string host;
  int64_t pid = 0, captures = 0;
  std::string last, error;  // the newest capture's file; what went wrong with it
  double age_s = 0;         // since the program's last sign
  bool is_asked = false;    // a request lies there
};

// Runs and log directories whose program gave a sign within a minute.
std::vector<WatchedRun> watched_runs(const Context& context);
void write_watched(JsonWriter& json, const WatchedRun& run);

// Puts the request there. kNotFound when no program watches the run, kBusy when one is asked
// already.
Result<WatchedRun> ask_run(const Context& context, std::string_view run, int64_t steps);

}  // namespace sonde::api::v1
