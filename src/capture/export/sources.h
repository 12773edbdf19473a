// The inputs of a timeline: files of every capture format, event files with run metadata (a run a
// tag), folders of them, standard input. Told apart by content.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "capture/export/options.h"
#include "capture/trace/trace.h"
#include "io/mapped_file.h"

namespace sonde::exports {

// One source on the time axis.
struct Run {
  std::string name;    // tag, or the file's name without its endings
  std::string source;  // path
  std::optional<int64_t> step;
  std::shared_ptr<const trace::Trace> trace;
  // Time 0 of the trace on the producer's clock; of run metadata that clock need not be Unix time.
  std::optional<int64_t> clock_ns;
  std::shared_ptr<const imports::StepStats> stats;  // of run metadata; views into `content`
  std::shared_ptr<const io::Content> content;
  uint64_t bytes = 0;

  Picos begin() const { return trace->first_begin(); }
  std::string_view category(trace::SliceId s) const {  // empty when the slice has none
    const trace::StringId id = trace->label(s).category;
    return id == trace::kNone ? std::string_view() : trace->text(id);
  }
  int64_t span_ps() const { return trace->last_end().value - trace->first_begin().value; }
};

struct Sources {
  std::vector<Run> runs;
  std::vector<std::string> problems;  // files that could not be read, and why
};

// kNotFound or kUnsupported when nothing at all could be read.
Result<Sources> load(const Options& options, ThreadPool& pool);

}  // namespace sonde::exports
