// What the level of detail of a trace promises for every row of slices and every viewport.
#include <algorithm>

#include "capture/trace/builder.h"
#include "capture/trace/level_of_detail.h"
#include "tests/support/property.h"

namespace sonde::trace {
namespace {

using testing::for_all;

// Slices of one thread, one after another or inside each other, with any gaps.
std::shared_ptr<const Trace> any_trace(TrackId& thread) {
  Builder builder("test");
  const TrackId process = builder.process("host", 1);
  thread = builder.track(TrackKind::kThread, process, "main", 1);
  int64_t time = *rc::gen::inRange<int64_t>(0, 1000);
  const auto slices = *rc::gen::inRange(1, 300);
  for (int i = 0; i < slices; ++i) {
    time += *rc::gen::weightedElement<int64_t>({{10, 0}, {10, 3}, {5, 50}, {1, 100000}});
    const auto duration =
        *rc::gen::weightedElement<int64_t>({{1, 0}, {20, 2}, {5, 90}, {1, 40000}});
    builder.slice(thread, {time}, {duration}, builder.label("outer"));
    if (duration > 1 && *rc::gen::arbitrary<bool>())
      builder.slice(thread, {time}, {duration / 2}, builder.label("inner"));
    time += duration;
  }
  return std::make_shared<const Trace>(std::move(builder).finish());
}

}  // namespace

TEST_CASE(
    "property: a viewport shows every slice it touches, in order, in a bounded number of cells") {
  for_all("of any trace, zoom and width", [] {
    TrackId thread = 0;
    const auto trace = any_trace(thread);
    const LevelOfDetail lod(trace);
    const int64_t end = trace->last_end().value + 1;
    const auto a = *rc::gen::inRange<int64_t>(0, end), b = *rc::gen::inRange<int64_t>(0, end);
    const Viewport port{
        {std::min(a, b)}, {std::max(a, b) + 1}, *rc::gen::inRange<uint32_t>(1, 200)};
    for (const Row& row : lod.rows(thread)) {
      std::vector<Cell> cells;
      const bool exact = row.view(port, cells);
      RC_ASSERT(cells.size() <= 2 * size_t{port.pixels} + 2);
      for (size_t i = 1; i < cells.size(); ++i) {
        RC_ASSERT(cells[i].begin >= cells[i - 1].begin + cells[i - 1].duration);
      }
      const auto [first, last] = row.range(port.begin, port.end);
      if (exact) RC_ASSERT(cells.size() == last - first);
      for (size_t position = first; position < last; ++position) {
        const SliceId slice = row.slice(position);
        const Picos begin = trace->begin(slice);
        const bool is_shown = std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) {
          return cell.begin <= begin && begin <= cell.begin + cell.duration;
        });
        RC_ASSERT(is_shown);
      }
    }
  });
}

}  // namespace sonde::trace
