#include "capture/trace/level_of_detail.h"

#include <doctest/doctest.h>

#include <random>

#include "capture/trace/builder.h"
#include "capture/trace/questions.h"

using namespace sonde;
using namespace sonde::trace;

namespace {

std::shared_ptr<const Trace> random_trace(size_t slices, unsigned seed, int64_t longest = 0) {
  std::mt19937 random(seed);
  Builder builder("test");
  const TrackId process = builder.process("host", 1),
                thread = builder.track(TrackKind::kThread, process, "main", 1);
  int64_t time = 0;
  for (size_t i = 0; i < slices; ++i) {
    time += static_cast<int64_t>(random() % 50);
    const auto duration =
        longest > 0 && i % 4999 == 100
            ? longest
            : static_cast<int64_t>(random() % 10 == 0 ? random() % 5000 + 1 : random() % 20 + 1);
    builder.slice(thread, {time}, {duration}, builder.label("op" + std::to_string(random() % 7)));
    time += duration;
  }
  return std::make_shared<const Trace>(std::move(builder).finish());
}

}  // namespace

TEST_CASE(
    "LevelOfDetail: cells of any zoom cover exactly the busy time and never exceed two a pixel") {
  const auto trace = random_trace(5000, 3);
  const LevelOfDetail lod(trace);
  const TrackId track = 1;
  REQUIRE(lod.rows(track).size() == 1);
  const Row& row = lod.rows(track)[0];
  int64_t all = 0;
  for (SliceId s = 0; s < trace->slice_count(); ++s) all += trace->duration(s).value;
  ThreadPool pool("test", 1);
  lod.prepare(pool);
  CHECK(lod.busy(track).value == all);
  CHECK(lod.busy(0).value == 0);  // the process has no slices of its own
  for (const uint32_t pixels : {10u, 100u, 1000u, 100000u}) {
    std::vector<Cell> cells;
    const Viewport port{{0}, trace->last_end(), pixels};
    const bool exact = row.view(port, cells);
    CHECK(cells.size() <= 2 * pixels + 2);
    double busy = 0;
    Picos last{-1};
    for (const Cell& cell : cells) {
      CHECK(cell.begin >= last);
      last = cell.begin + cell.duration;
      busy += static_cast<double>(cell.duration.value) * cell.busy / 255.0;
    }
    CHECK(busy == doctest::Approx(static_cast<double>(all)).epsilon(0.02));
    if (pixels == 100000) CHECK(exact == (cells.size() == trace->slice_count()));
  }
}

TEST_CASE("LevelOfDetail: a pixel of many slices loses none, and wide ones stand alone") {
  const auto trace = random_trace(60000, 5, 3'000'000);
  const LevelOfDetail lod(trace);
  const Row& row = lod.rows(1)[0];
  for (const uint32_t pixels : {7u, 60u, 400u}) {
    const Viewport port{trace->first_begin(), trace->last_end(), pixels};
    const int64_t width = (port.end - port.begin).value / pixels;
    std::vector<Cell> cells;
    row.view(port, cells);
    CHECK(cells.size() <= 2 * pixels + 2);
    CHECK(row.cells_about(port) <= 2 * cells.size());
    CHECK(2 * row.cells_about(port) >= cells.size());
    // Each slice lies in the next cell, alone when it is a pixel wide.
    size_t at = 0, lost = 0, hidden = 0;
    for (SliceId s = 0; s < trace->slice_count(); ++s) {
      while (at < cells.size() && cells[at].begin + cells[at].duration <= trace->begin(s)) ++at;
      if (at == cells.size() || cells[at].begin > trace->begin(s)) ++lost;
      if (at < cells.size() && trace->duration(s).value >= width && cells[at].slice != s) ++hidden;
    }
    CHECK(lost == 0);
    CHECK(hidden == 0);
    // A merged cell stays about as wide as a pixel and is called as the longest slice in it.
    size_t wide = 0, misnamed = 0;
    SliceId s = 0;
    for (const Cell& cell : cells) {
      if (cell.slice != kNone) continue;
      wide += cell.duration.value > 2 * width;
      while (s < trace->slice_count() && trace->begin(s) < cell.begin) ++s;
      int64_t longest = 0;
      bool is_named = false;  // after one of them, should several last as long
      for (; s < trace->slice_count() && trace->begin(s) < cell.begin + cell.duration; ++s) {
        const int64_t duration = trace->duration(s).value;
        if (duration > longest) is_named = false;
        if (duration >= longest) is_named |= trace->label_id(s) == cell.label;
        longest = std::max(longest, duration);
      }
      misnamed += !is_named;
    }
    CHECK(wide == 0);
    CHECK(misnamed == 0);
  }
}

TEST_CASE("LevelOfDetail: a narrow viewport is exact and holds what reaches into it") {
  Builder builder("test");
  const TrackId process = builder.process("host", 1),
                thread = builder.track(TrackKind::kThread, process, "main", 1);
  builder.slice(thread, {0}, {100}, builder.label("outer"));
  for (int i = 0; i < 10; ++i) builder.slice(thread, {i * 10}, {5}, builder.label("inner"));
  const auto trace = std::make_shared<const Trace>(std::move(builder).finish());
  const LevelOfDetail lod(trace);
  REQUIRE(lod.rows(thread).size() == 2);
  std::vector<Cell> cells;
  CHECK(lod.rows(thread)[1].view({{42}, {61}, 100}, cells));
  REQUIRE(cells.size() == 3);
  CHECK(cells[0].begin == Picos{40});
  cells.clear();
  CHECK(lod.rows(thread)[0].view({{42}, {61}, 100}, cells));
  CHECK(cells.size() == 1);
}

TEST_CASE("totals: self time leaves children out, times are clipped to the selection") {
  Builder builder("test");
  const TrackId process = builder.process("host", 1),
                thread = builder.track(TrackKind::kThread, process, "main", 1);
  builder.slice(thread, {0}, {100}, builder.label("outer"));
  builder.slice(thread, {20}, {30}, builder.label("inner"));
  const Trace trace = std::move(builder).finish();
  const auto whole = totals(trace, {{0}, {200}, {}});
  REQUIRE(whole.size() == 2);
  CHECK(whole[0].total == Picos{100});
  CHECK(whole[0].self == Picos{70});
  CHECK(self_time(trace, 0) == Picos{70});
  CHECK(parent_of(trace, 1) == 0);
  const auto part = totals(trace, {{40}, {60}, {}});
  CHECK(part[0].total == Picos{20});
  CHECK(part[0].self == Picos{10});
  CHECK(part[1].total == Picos{10});
  const auto tree = flame(trace, {{0}, {200}, {}});
  REQUIRE(tree.size() == 3);
  CHECK(tree[1].self == Picos{70});
  CHECK(tree[2].parent == 1);
}

TEST_CASE("search: by part of a name, by expression, by argument; next hits continue in time") {
  Builder builder("test");
  const TrackId process = builder.process("host", 1),
                thread = builder.track(TrackKind::kThread, process, "main", 1);
  for (int i = 0; i < 6; ++i) {
    builder.slice(thread, {i * 10}, {5}, builder.label(i % 2 ? "MatMul" : "relu_grad"));
    builder.arg("step", int64_t{i});
  }
  const Trace trace = std::move(builder).finish();
  const auto find = [&](const char* text, SliceId after = kNone) {
    return search(trace, {text, {{0}, {100}, {}}, after, 2, 10});
  };
  CHECK(find("matmul")->total == 3);
  CHECK(find("/^relu.*grad$/")->total == 3);
  CHECK(find("step=4")->total == 1);
  const auto first = find("MatMul");
  REQUIRE(first->slices.size() == 2);
  CHECK(find("MatMul", first->slices[1])->slices.size() == 1);
  CHECK(first->per_pixel[1] == 1);
  CHECK_FALSE(find("/(/").has_value());
}

TEST_CASE("chrome_json: the pieces joined are one JSON document") {
  const auto trace = random_trace(5000, 9);
  const auto next = chrome_json(trace, {{0}, trace->last_end(), {}});
  std::string all;
  size_t pieces = 0;
  while (const auto piece = next()) {
    all += *piece;
    ++pieces;
  }
  CHECK(pieces > 1);
  CHECK(all.starts_with("{\"displayTimeUnit\""));
  CHECK(all.ends_with("]}\n"));
  size_t events = 0;
  for (size_t at = 0; (at = all.find("\"ph\":\"X\"", at)) != std::string::npos; ++at) ++events;
  CHECK(events == trace->slice_count());
}
