// The commands of `sonde timeline` that write no trace, and the exit codes of all.
#pragma once

#include "capture/export/sources.h"
#include "cli/timeline/options.h"

namespace sonde::cli::timeline {

inline constexpr int kUnreadable = 1, kUsage = 2, kLosses = 3, kSlower = 4;

int info(const Options& options, const Sources& sources, ThreadPool& pool);
int view(const Options& options, const Sources& sources, ThreadPool& pool);

}  // namespace sonde::cli::timeline
