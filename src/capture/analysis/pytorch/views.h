// What the PyTorch tools have in common. A tool makes one Report for people; asked for a recorded
// view (`torch.operator_input~worker0~span2` on the command line, the parameter `view` in a
// request), it gives that view's tables alone, under the names and with the rounding of the plug-in
// that the recordings come from.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "capture/analysis/analysis.h"
#include "capture/analysis/pytorch/capture.h"
#include "capture/report/report.h"

namespace sonde::capture::pytorch {

inline double us(int64_t ps) { return static_cast<double>(ps) / 1e6; }
// As Python rounds: halves to the even neighbour.
inline int64_t whole(double value) { return static_cast<int64_t>(std::nearbyint(value)); }
double rounded(double value, int digits);
// Two decimals, or for smaller values as many as show their first digit.
double rounded_for_display(double value);

// The workers of a request that PyTorch's profiler captured.
std::vector<const HostAnalysis*> workers(const Session& session, const Options& options);
// For Tool::missing: why no PyTorch view can be made, empty when one can.
std::string missing_capture(const Session& session);
// A finished Report that says so.
Report without_capture(const Session& session);
// Whether any worker's capture has slices of the kind; looks at names alone.
bool holds(const Session& session, Kind kind);

inline std::string yes_no(bool value) { return value ? "Yes" : "No"; }

}  // namespace sonde::capture::pytorch
