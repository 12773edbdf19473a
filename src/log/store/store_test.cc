// What a loaded store shows: restarts, metadata, references, pieces, the memory budget.
#include "log/store/store.h"

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

#include "log/event/blob.h"
#include "log/store/blob_reader.h"
#include "tests/support/event_file.h"

using namespace sonde;
using namespace sonde::store;
using namespace sonde::testing;

namespace {

std::unique_ptr<Store> loaded(const TempFolder& folder, Options options = {}) {
  options.roots = {{"", folder.path().string()}};
  options.follow = false;
  auto store = std::move(*Store::open(std::move(options)));
  store->wait_loaded();
  return store;
}

std::vector<Step> steps_of(const Store& store, std::string_view tag = "loss",
                           View view = View::kNewest) {
  std::vector<Step> steps;
  const Series* series = store.snapshot()->runs.front()->find(tag);
  if (!series) return steps;
  for (const Range range : series->ranges(view)) {
    if (series->is_scalar()) {
      series->blocks(range, [&](const ScalarBlock& block) {
        steps.insert(steps.end(), block.steps.begin(), block.steps.end());
      });
    } else {
      for (const BlobPoint& point : series->points(range)) steps.push_back(point.step);
    }
  }
  return steps;
}

std::string points(std::vector<int64_t> steps, double wall_time, std::string_view tag = "loss") {
  std::string bytes;
  for (const int64_t step : steps) bytes += scalar_record(tag, step, 1, wall_time++);
  return bytes;
}

}  // namespace

TEST_CASE("Restarts: the five rules") {
  struct Case {
    const char* promise;
    std::vector<std::string> files;
    std::vector<Step> shown;
    uint32_t segments;
  };
  const std::string v2 = version_record(100), v1 = version_record(100, "brain.Event:1");
  const std::vector<Case> cases = {
      {"a second START cuts every tag",
       {v2 + start_record(0, 100) + points({0, 1, 2, 3}, 101) + start_record(2, 200) +
        points({2, 3}, 201)},
       {0, 1, 2, 3},
       2},
      {"the first START of a run cuts nothing in its own file",
       {v2 + points({0, 1, 2, 3}, 101) + start_record(2, 200) + points({2, 3}, 201)},
       {0, 1, 2, 3, 2, 3},
       1},
      {"the first START cuts earlier files (torch purge_step)",
       {v2 + points({0, 1, 2, 3}, 101), v2 + start_record(2, 102) + points({2, 3}, 103)},
       {0, 1, 2, 3},
       2},
      {"a later file that begins again cuts the earlier one",
       {v2 + points({0, 1, 2, 3}, 101), v2 + points({2, 3, 4}, 301)},
       {0, 1, 2, 3, 4},
       2},
      {"files that overlap in time are several writers",
       {v2 + points({0, 4, 8}, 101), v2 + points({1, 5, 9}, 102)},
       {0, 4, 8, 1, 5, 9},
       1},
      {"a file that goes on where the other ended is no restart",
       {v2 + points({0, 1}, 101), v2 + points({2, 3}, 301)},
       {0, 1, 2, 3},
       1},
      {"duplicate and falling steps in one file stay",
       {v2 + points({0, 1, 1, 0, 2}, 101)},
       {0, 1, 1, 0, 2},
       1},
      {"in a file of version 1 a falling step cuts",
       {v1 + points({0, 1, 2, 3, 2, 3}, 101)},
       {0, 1, 2, 3},
       1},
  };
  for (const Case& c : cases) {
    TempFolder folder;
    std::vector<Step> all;
    for (size_t i = 0; i < c.files.size(); ++i)
      folder.write("events.out.tfevents." + std::to_string(i), c.files[i]);
    const auto store = loaded(folder);
    CHECK_MESSAGE(steps_of(*store) == c.shown, c.promise);
    CHECK_MESSAGE(store->snapshot()->runs.front()->segments == c.segments, c.promise);
    Options everything;
    everything.purge_orphaned_data = false;
    const auto kept = loaded(folder, everything);
    CHECK_MESSAGE(steps_of(*kept) == steps_of(*store, "loss", View::kAll), c.promise);
  }
}

TEST_CASE("Restarts: only tags of the restarted file lose their overlapped part") {
  TempFolder folder;
  folder.write("events.out.tfevents.0",
               version_record(100) + points({0, 1, 2, 3}, 101) + points({0, 1, 2, 3}, 105, "eval"));
  folder.write("events.out.tfevents.1", version_record(300) + points({2, 3}, 301));
  const auto store = loaded(folder);
  CHECK(steps_of(*store) == std::vector<Step>{0, 1, 2, 3});
  CHECK(steps_of(*store, "loss", View::kAll).size() == 6);
  CHECK(steps_of(*store, "eval") == std::vector<Step>{0, 1, 2, 3});
}

TEST_CASE("Metadata: the first file decides what a tag is, later values that differ are kept") {
  TempFolder folder;
  folder.write("events.out.tfevents.0", version_record() + text_record("t", 0, "words"));
  folder.write("events.out.tfevents.1", version_record(2000) + scalar_record("t", 1, 5, 2001));
  folder.write("events.out.tfevents.2", version_record(3000) + scalar_record("u", 0, 1, 3001) +
                                            text_record("u", 1, "not a number", 3002) +
                                            scalar_record("u", 2, 2, 3003));
  const auto store = loaded(folder);
  const auto snapshot = store->snapshot();
  const Series* text = snapshot->runs.front()->find("t");
  REQUIRE(text);
  CHECK(text->metadata().plugin == "text");
  CHECK(text->size() == 2);
  const Series* numbers = snapshot->runs.front()->find("u");
  REQUIRE(numbers);
  CHECK(numbers->size() == 2);
  REQUIRE(numbers->strays().size() == 1);
  CHECK(numbers->strays()[0].point.step == 1);
  CHECK(numbers->strays()[0].position == 1);
}

TEST_CASE("References: read back checked, and refused when the file has changed") {
  TempFolder folder;
  const std::string before = version_record() + text_record("t", 0, "hello");
  folder.write("events.out.tfevents.0", before);
  const auto store = loaded(folder);
  const auto snapshot = store->snapshot();
  const Series* series = snapshot->runs.front()->find("t");
  REQUIRE(series);
  const Reference where = series->points({0, 1}).front().where;
  const auto payload = store->blobs().event(where);
  REQUIRE(payload);
  const auto value = event::find_value(as_bytes(*payload), where.value);
  REQUIRE(value);
  CHECK(event::text(*value)->strings.front() == "hello");
  CHECK(store->blobs().head(where, 4)->size() == 4);
  folder.write("events.out.tfevents.0", std::string(before.size(), 'x'));
  CHECK(store->blobs().event(where).error().code == Code::kCorrupt);
  folder.write("events.out.tfevents.0", "");
  CHECK(store->blobs().event(where).error().code == Code::kNotFound);
}

TEST_CASE("Pieces: a huge file gives the same columns whoever reads it, damage included") {
  TempFolder folder;
  std::string bytes = version_record(100);
  constexpr int kCount = 600'000;
  for (int i = 0; i < kCount; ++i) {
    const bool odd = i % 2 == 1;
    bytes += scalar_record(odd ? "odd" : "even", i, static_cast<float>(i), 1000 + i * 0.25);
    if (i == kCount / 2) bytes += "some foreign bytes";
  }
  folder.write("events.out.tfevents.0", bytes);
  for (const size_t threads : {1, 2, 5}) {
    Options options;
    options.threads = threads;
    const auto store = loaded(folder, options);
    const auto snapshot = store->snapshot();
    const RunSnapshot& run = *snapshot->runs.front();
    CHECK(run.points == kCount);
    CHECK(run.damage.size() == 1);
    for (const char* tag : {"even", "odd"}) {
      int64_t expected = tag[0] == 'o';
      uint64_t wrong = 0;
      const Series* series = run.find(tag);
      REQUIRE(series);
      series->blocks({0, series->size()}, [&](const ScalarBlock& block) {
        for (size_t i = 0; i < block.size(); ++i, expected += 2) {
          wrong += block.steps[i] != expected || block.value(i) != static_cast<float>(expected) ||
                   block.wall_times[i] != 1000 + static_cast<double>(expected) * 0.25;
        }
      });
      CHECK(wrong == 0);
      CHECK(series->size() == kCount / 2);
    }
  }
}

TEST_CASE("Pieces: thousands of tags, and what only a later piece has, join as if read in one go") {
  constexpr int kTags = 3000, kRounds = 170;
  const std::string padding(48, 'x');  // behind the 44 bytes of a tag that are near
  std::string bytes = version_record(100) + start_record(0, 100);
  int64_t step = 0;
  for (int round = 0; round < kRounds; ++round, ++step) {
    if (round == kRounds * 3 / 4) {
      bytes += start_record(step -= 5, 1000 + round);
      bytes += text_record("layer/8", step, "no number", 1000 + round);
    }
    for (int tag = 0; tag < kTags; ++tag) {
      if (tag % 7 == 3 && round % 3 == 0) continue;  // another tag follows than the last time
      bytes += scalar_record("layer/" + std::to_string(tag) + (tag % 2 ? padding : ""), step,
                             static_cast<float>(tag * 1000 + round), 1000 + round + tag * 1e-4);
    }
    bytes += text_record("words", step, "round " + std::to_string(round), 1000 + round);
    if (round > kRounds / 2) bytes += scalar_record("late", step, 1, 1000 + round);
  }
  TempFolder folder;
  folder.write("events.out.tfevents.0", bytes);
  REQUIRE(bytes.size() > size_t{32} << 20);

  const auto picture = [&](size_t threads) {
    Options options;
    options.threads = threads;
    const auto store = loaded(folder, options);
    const auto snapshot = store->snapshot();
    const RunSnapshot& run = *snapshot->runs.front();
    std::vector<std::string> lines = {std::to_string(run.points), std::to_string(run.segments)};
    for (const auto& series : run.series) {
      std::string line = series->tag() + " of " + std::to_string(series->size());
      for (const Range range : series->ranges(View::kNewest))
        line += " " + std::to_string(range.begin) + "-" + std::to_string(range.end);
      for (const MistypedValue& stray : series->strays())
        line += " stray " + std::to_string(stray.point.step) + "@" + std::to_string(stray.position);
      series->blocks({0, series->size()}, [&](const ScalarBlock& block) {
        const auto add = [&](const void* from, size_t n) {
          line.append(static_cast<const char*>(from), n);
        };
        // Columns of several blocks, point by point: where blocks end may differ.
        for (size_t i = 0; i < block.size(); ++i) {
          add(&block.steps[i], sizeof(Step));
          add(&block.wall_times[i], sizeof(double));
          add(static_cast<const float*>(block.values) + i, sizeof(float));
        }
      });
      for (const BlobPoint& point : series->points({0, series->size()}))
        line += " " + std::to_string(point.step) + "@" + std::to_string(point.where.offset);
      lines.push_back(std::move(line));
    }
    return lines;
  };
  const std::vector<std::string> expected = picture(1);
  CHECK(expected.size() == 2 + kTags + 2);
  CHECK(expected[1] == "2");
  for (const size_t threads : {2, 5}) {
    const std::vector<std::string> found = picture(threads);
    REQUIRE(found.size() == expected.size());
    size_t wrong = 0;
    for (size_t i = 0; i < found.size(); ++i) wrong += found[i] != expected[i];
    CHECK(wrong == 0);
  }
  // What one thread reads is right, too: steps fall by five once, every value is its own.
  const std::string_view third = expected[4];
  const std::string head = "layer/2 of " + std::to_string(kRounds);
  CHECK(third.starts_with(head));
  step = 0;
  const size_t points = third.size() - kRounds * size_t{20};
  uint64_t wrong = 0;
  for (int round = 0; round < kRounds; ++round, ++step) {
    if (round == kRounds * 3 / 4) step -= 5;
    Step stored;
    float value;
    std::memcpy(&stored, third.data() + points + static_cast<size_t>(round) * 20, 8);
    std::memcpy(&value, third.data() + points + static_cast<size_t>(round) * 20 + 16, 4);
    wrong += stored != step || value != static_cast<float>(2000 + round);
  }
  CHECK(wrong == 0);
}

TEST_CASE("Memory: above the budget columns go to disk, and nothing is lost") {
  TempFolder folder;
  std::string bytes = version_record(100);
  constexpr int kCount = 600'000;
  for (int i = 0; i < kCount; ++i) bytes += scalar_record("loss", i, static_cast<float>(i));
  folder.write("events.out.tfevents.0", bytes);
  Options options;
  options.max_memory_bytes = 4 << 20;
  const auto store = loaded(folder, options);
  const Diagnosis diagnosis = store->diagnosis();
  CHECK(diagnosis.memory_used_bytes <= options.max_memory_bytes);
  CHECK(diagnosis.spilled_bytes >= uint64_t{8} << 20);
  const Series* series = store->snapshot()->runs.front()->find("loss");
  REQUIRE(series);
  double sum = 0;
  series->blocks({0, series->size()}, [&](const ScalarBlock& block) {
    for (size_t i = 0; i < block.size(); ++i) sum += block.value(i);
  });
  CHECK(sum == doctest::Approx(0.5 * kCount * (kCount - 1.0)));
}

TEST_CASE("FileBlobReader: numbers of removed files come back, late") {
  FileBlobReader reader;
  const FileId first = reader.add_file("/first");
  reader.remove_file(first);
  uint32_t largest = 0;
  bool came_back = false;
  for (size_t i = 0; i < 5 * FileBlobReader::kQuarantine; ++i) {
    const FileId id = reader.add_file("/run" + std::to_string(i));
    if (id == first && i < FileBlobReader::kQuarantine) came_back = true;
    largest = std::max(largest, static_cast<uint32_t>(id));
    reader.remove_file(id);
  }
  CHECK(!came_back);
  CHECK(largest <= FileBlobReader::kQuarantine + 1);  // flat, however many came and went
  CHECK(reader.event({0, 10, first, 0}).error().code == Code::kNotFound);
}
