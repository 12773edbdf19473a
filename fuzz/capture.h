// A capture of a stranger: any bytes are imported, and every tool is run on what comes out.
#pragma once

#include <memory>
#include <utility>

#include "base/bytes.h"
#include "capture/import/registry.h"
#include "capture/report/render.h"
#include "capture/report/tool.h"

namespace sonde::fuzz {

inline void run_all_tools(const char* name, Bytes bytes) {
  auto trace = imports::import_trace({name, bytes, nullptr});
  if (!trace) return;
  trace::Session loaded;
  loaded.hosts.push_back(
      {"host", "fuzz", bytes.size(), std::make_shared<const trace::Trace>(std::move(*trace))});
  const capture::Session session(std::move(loaded));
  for (const capture::Tool* tool : capture::all_tools()) {
    (void)tool->missing(session);
    const auto report = capture::run_tool(*tool, session, {});
    if (report) (void)capture::to_neutral(*report, tool->id, "fuzz");
  }
}

}  // namespace sonde::fuzz
