#include "capture/import/step_stats/event_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "log/event/value.h"
#include "log/record/frames.h"

namespace sonde::imports {

bool sniff_event_file(std::string_view, Bytes head) {
  return record::header_at(head, 0).has_value();
}

EventFileRuns runs_of_event_file(Bytes file, const PartRead& part_read) {
  EventFileRuns found;
  std::vector<record::Frame> frames;
  uint64_t skipped = 0;
  const auto take = [&](Bytes payload) {
    const auto event = event::parse_event(payload);
    if (!event || event->what != event::What::kTaggedRunMetadata) return;
    const event::TaggedRunMetadata tagged = event::tagged_run_metadata(event->body);
    found.runs.push_back(
        {std::string(tagged.tag), event->step, decode_step_stats(tagged.run_metadata, part_read)});
  };
  constexpr size_t kWindow = size_t{3} << 30;  // frames hold 32-bit places
  for (size_t at = 0;;) {
    const Bytes window = file.subspan(at, std::min(kWindow, file.size() - at));
    const record::Walk walk = record::walk_frames(window, 0, record::kMaxPayload, 4096, frames);
    if (part_read) part_read(window.first(walk.end));
    for (const record::Frame& frame : frames) take(window.subspan(frame.at, frame.length));
    const bool is_last = at + window.size() == file.size();
    if (walk.stop == record::Stop::kFull || (walk.stop == record::Stop::kNeedMore && !is_last)) {
      at += walk.end;
      continue;
    }
    if (walk.stop == record::Stop::kNeedMore) {
      if (walk.end < window.size())
        found.damage.push_back(
            fmt::format("the file ends inside the record at byte {}", at + walk.end));
      break;
    }
    const auto next = record::find_header(file, at + walk.end + 1, record::kMaxPayload);
    ++skipped;
    if (!next) break;
    at = *next;
  }
  if (skipped != 0)
    found.damage.push_back(fmt::format("{} damaged records were passed over", skipped));
  std::stable_sort(found.runs.begin(), found.runs.end(),
                   [](const StepStatsRun& a, const StepStatsRun& b) { return a.step < b.step; });
  return found;
}

}  // namespace sonde::imports
