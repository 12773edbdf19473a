// What every profile tool is: an id, a title and a pure function from a session to a Report. To add
// one: a folder in src/profile with a `const Tool`, and its line in registry.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "capture/report/report.h"
#include "capture/trace/trace.h"

namespace sonde::capture {

struct Analysis;  // shared intermediate results of one session: steps, op metrics … (analysis.h)

// A session with what tools share. Intermediate results are computed once, on first use;
// thread-safe.
class Session {
 public:
  explicit Session(trace::Session loaded);
  ~Session();
  Session(Session&&) noexcept;

  const trace::Session& loaded() const { return loaded_; }
  std::span<const trace::Host> hosts() const { return loaded_.hosts; }
  // The same session restricted to one host; shares the host's intermediate results.
  const Analysis& analysis() const { return *analysis_; }

 private:
  trace::Session loaded_;
  std::unique_ptr<Analysis> analysis_;
};

// What a request adds: which host, which HLO module, how to group …
struct Options {
  std::string host;  // empty or ALL_HOSTS: all
  std::vector<std::pair<std::string, std::string>> parameters;

  std::string_view parameter(std::string_view name, std::string_view otherwise = "") const {
    for (const auto& [key, value] : parameters) {
      if (key == name) return value;
    }
    return otherwise;
  }
};

struct Tool {
  std::string_view id;     // in URLs and `sonde profile --tool`
  std::string_view title;  // for people
  Result<Report> (*run)(const Session&, const Options&);
  // Whether the session holds what the tool needs; the text says what is missing, empty when
  // nothing. Cheap: no full analysis.
  std::string (*missing)(const Session&);
  // Names of xprof's tables in the order of its answer, "{}" for its placeholder; empty for tools
  // that answer with a document or are Sonde's own.
  std::span<const std::string_view> gviz = {};
};

// All tools in the order in which they are listed.
std::span<const Tool* const> all_tools();
// By id or by another spelling of it: tensorflow_stats, a trailing ^, @ or #.
const Tool* find_tool(std::string_view name);

// A tool by the name of a recorded view, which may say more than the tool:
// torch.operator_input~worker0~span2 is the tool torch.operator, its view operator_input, one
// worker, the second time the profiler ran. `tool` is null for a name nobody knows.
struct ToolRequest {
  const Tool* tool = nullptr;
  Options options;
  uint32_t span = 0;  // 0: not said
};
ToolRequest requested_tool(std::string_view name);

// Runs a tool; a tool without input gives a Report whose `missing` says what and how to get it.
Result<Report> run_tool(const Tool& tool, const Session& session, const Options& options);

}  // namespace sonde::capture
