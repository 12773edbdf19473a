// Forms of a timeline for other programs: a CSV row a slice, and folded stacks for flame graphs.
#pragma once

#include "capture/export/chrome_writer.h"

namespace sonde::exports {

Written write_csv(const Drawing& drawing, io::TextOut& out);
// "process;lane;outer;inner 1234": self time in whole nanoseconds.
Written write_folded(const Drawing& drawing, io::TextOut& out);

}  // namespace sonde::exports
