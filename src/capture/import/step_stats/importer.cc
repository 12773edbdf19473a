// Importers of TensorFlow's run metadata: a RunMetadata or StepStats message as a file, and the
// tagged ones inside an event file, where every tag is one traced run.
#include <fmt/format.h>

#include "capture/import/registry.h"
#include "capture/import/step_stats/event_file.h"
#include "capture/import/step_stats/fill.h"

namespace sonde::imports {
namespace {

bool sniff_message(std::string_view, Bytes head) {
  return step_stats_form(head) != StepStatsForm::kNone;
}

Result<void> read_message(const Input& input, trace::Builder& builder) {
  std::string name(input.name);
  for (const std::string_view ending : {".gz", ".pb", ".run_metadata"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  StepStatsRun run{std::move(name), std::nullopt, decode_step_stats(input.bytes, input.part_read)};
  if (run.stats.node_count() == 0)
    return fail(Code::kUnsupported,
                "the run metadata holds no step statistics; trace the run with "
                "RunOptions(trace_level=FULL_TRACE)");
  StepStatsOptions options;
  options.part_read = input.part_read;
  fill_trace({&run, 1}, options, builder);
  return {};
}

Result<void> read_events(const Input& input, trace::Builder& builder) {
  EventFileRuns found = runs_of_event_file(input.bytes, input.part_read);
  std::erase_if(found.runs, [](const StepStatsRun& run) { return run.stats.node_count() == 0; });
  if (found.runs.empty())
    return fail(Code::kUnsupported,
                "the event file holds no run metadata with step statistics; a writer adds them by "
                "add_run_metadata()");
  for (const std::string& damage : found.damage)
    builder.diagnose(trace::Diagnostic::Severity::kWarning, damage);
  StepStatsOptions options;
  options.part_read = input.part_read;
  fill_trace(found.runs, options, builder);
  return {};
}

}  // namespace

extern const Importer kStepStats, kRunMetadataEvents;
const Importer kStepStats{"step_stats", "TensorFlow RunMetadata or StepStats", sniff_message,
                          read_message};
const Importer kRunMetadataEvents{"event_file", "TensorBoard event file with run metadata",
                                  sniff_event_file, read_events};

}  // namespace sonde::imports
