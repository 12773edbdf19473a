// What damaged and hostile files do to a load: never a crash, and only the damaged record is lost.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "log/load/file_loader.h"
#include "tests/support/event_file.h"

using namespace sonde;
using namespace sonde::store;
using namespace sonde::testing;

namespace {

constexpr int kPoints = 8;

struct Loaded {
  std::vector<Step> steps;
  std::vector<float> values;
  uint64_t texts = 0;
  uint64_t damaged = 0;
  std::string state;
};

class Harness {
 public:
  Harness() : memory_(std::make_shared<Memory>(uint64_t{1} << 30)), pool_("test", 1) {}

  Loaded load(const std::string& bytes) {
    folder_.write("events.out.tfevents.1", bytes);
    FileLoader loader({FileId{0}, folder_.file("events.out.tfevents.1"), "events.out.tfevents.1"},
                      memory_);
    loader.update({pool_, 1}, {});
    Loaded loaded;
    const auto file = loader.committed();
    loaded.damaged = file->damaged;
    loaded.state = file->state;
    for (const auto& part : file->parts) {
      if (part->tag == "note") loaded.texts = part->size;
      if (part->tag != "loss") continue;
      for (const Chunk& chunk : part->chunks) {
        for (uint32_t i = 0; i < chunk.size; ++i) {
          loaded.steps.push_back(chunk.steps()[i]);
          loaded.values.push_back(reinterpret_cast<const float*>(chunk.values())[i]);
        }
      }
    }
    return loaded;
  }

 private:
  TempFolder folder_;
  std::shared_ptr<Memory> memory_;
  ThreadPool pool_;
};

// The record boundaries of a small file with two tags.
struct SmallFile {
  std::string bytes;
  std::vector<size_t> ends;       // of each record
  std::vector<int> losses_until;  // points of "loss" in the first n records
};

SmallFile small_file() {
  SmallFile file;
  int losses = 0;
  const auto add = [&](const std::string& record, bool is_loss) {
    file.bytes += record;
    losses += is_loss;
    file.ends.push_back(file.bytes.size());
    file.losses_until.push_back(losses);
  };
  add(version_record(), false);
  for (int i = 0; i < kPoints; ++i) {
    add(scalar_record("loss", i, static_cast<float>(i) / 2, 1000 + i), true);
    if (i % 4 == 1) add(text_record("note", i, "some words", 1000 + i), false);
  }
  return file;
}

std::string record_with_description(const std::string& description, const std::string& text) {
  return sonde::testing::record(sonde::testing::event(1000, 1, [&](wire::Encoder& e) {
    e.message(5, [&](wire::Encoder& summary) {
      summary.message(1, [&](wire::Encoder& value) {
        value.bytes(1, "note");
        value.message(8, [&](wire::Encoder& tensor) {
          tensor.varint(1, 7);
          tensor.bytes(8, text);
        });
        value.message(9, [&](wire::Encoder& metadata) {
          metadata.message(1, [](wire::Encoder& plugin) { plugin.bytes(1, "text"); });
          metadata.bytes(3, description);
        });
      });
    });
  }));
}

}  // namespace

TEST_CASE("Hostile: a file cut at any byte gives exactly the records before the cut") {
  Harness harness;
  const SmallFile file = small_file();
  for (size_t cut = 0; cut <= file.bytes.size(); ++cut) {
    size_t whole = 0;
    while (whole < file.ends.size() && file.ends[whole] <= cut) ++whole;
    const Loaded loaded = harness.load(file.bytes.substr(0, cut));
    const int expected = whole ? file.losses_until[whole - 1] : 0;
    REQUIRE_MESSAGE(loaded.steps.size() == static_cast<size_t>(expected), cut);
    const bool at_boundary = cut == 0 || (whole && file.ends[whole - 1] == cut);
    CHECK_MESSAGE(loaded.state == (at_boundary ? "complete" : "waiting"), cut);
  }
}

TEST_CASE("Hostile: a single flipped bit anywhere loses at most its own record") {
  Harness harness;
  const SmallFile file = small_file();
  for (size_t at = 0; at < file.bytes.size(); ++at) {
    std::string bytes = file.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    size_t record = 0;
    while (file.ends[record] <= at) ++record;
    const int before = record ? file.losses_until[record - 1] : 0;
    const bool hits_loss = file.losses_until[record] > before;
    const Loaded loaded = harness.load(bytes);
    REQUIRE_MESSAGE(loaded.steps.size() == static_cast<size_t>(kPoints - hits_loss), at);
    CHECK_MESSAGE(loaded.damaged >= 1, at);
    for (size_t i = 0; i < loaded.steps.size(); ++i)
      REQUIRE(loaded.values[i] == static_cast<float>(loaded.steps[i]) / 2);
  }
}

TEST_CASE("Hostile: lengths up to 2^63 with a correct checksum are skipped") {
  Harness harness;
  const SmallFile file = small_file();
  for (const uint64_t length :
       {uint64_t{1} << 20, uint64_t{1} << 30, (uint64_t{1} << 31) + 5, uint64_t{1} << 40,
        uint64_t{1} << 60, UINT64_MAX, UINT64_MAX - 15}) {
    std::string bad(reinterpret_cast<const char*>(&length), 8);
    const uint32_t crc = masked_crc32c(as_bytes(bad));
    bad.append(reinterpret_cast<const char*>(&crc), 4);
    const Loaded loaded =
        harness.load(file.bytes + bad + "junk" + scalar_record("loss", 99, 49.5f));
    CHECK_MESSAGE(loaded.steps.size() == kPoints + 1, length);
    CHECK_MESSAGE(loaded.damaged == 1, length);
  }
}

TEST_CASE("Hostile: events that contradict themselves") {
  Harness harness;
  const std::string good = version_record() + scalar_record("loss", 0, 0);
  const auto with = [&](const std::string& payload) {
    return harness.load(good + sonde::testing::record(payload) + scalar_record("loss", 2, 1));
  };
  // A summary that claims more bytes than the event has.
  CHECK(with("\x2a\x7f").steps.size() == 2);
  // A value whose tensor is malformed: the tag exists, the number does not.
  CHECK(with(std::string("\x2a\x0b\x0a\x09\x0a\x04loss\x42\x01\xff", 13)).steps.size() == 2);
  // Deeply nested groups.
  CHECK(with(std::string(100'000, '\x0b')).steps.size() == 2);
  CHECK(with(std::string(30'000, '\xff')).steps.size() == 2);
}

TEST_CASE(
    "Hostile: a float among the doubles of a float tensor is no value, however often it comes") {
  // Found by fuzz/events_fuzz.cc: the short cut took the four bytes for the value.
  Harness harness;
  std::string file = version_record();
  for (char step = 1; step <= 5; ++step) {
    file += sonde::testing::record(
        std::string("\x09\x00\x00\x00\x00\x00\x00\x59\x40\x10", 10) + step +
        std::string("\x2a\x21\x0a\x1f\x0a\x04loss\x42\x0a\x08\x01\x12\x00\x32\x04\x66\x66\xa6\x3f"
                    "\x4a\x0b\x0a\x09\x0a\x07scalars",
                    35));
  }
  for (const float value : harness.load(file).values) CHECK(value != 1.3f);
}

TEST_CASE("Hostile: large records are skimmed, damaged ones among them are named") {
  Harness harness;
  std::string body(300'000, 'x');
  const std::string text = text_record("note", 1, body);
  std::string bytes = version_record() + scalar_record("loss", 0, 0) + text +
                      scalar_record("loss", 2, 1) + text + text;
  Loaded loaded = harness.load(bytes);
  CHECK(loaded.texts == 3);
  CHECK(loaded.steps.size() == 2);
  CHECK(loaded.damaged == 0);
  // A description far larger than the piece of the record that is read first.
  const std::string described = record_with_description(std::string(40'000, 'd'), body);
  loaded = harness.load(version_record() + described + described + scalar_record("loss", 2, 1));
  CHECK(loaded.texts == 2);
  CHECK(loaded.steps.size() == 1);
  // The length inside the record is broken, the frame is not.
  std::string broken = text;
  broken[12 + 9 + 2 + 1] = '\x7f';
  loaded = harness.load(version_record() + broken + scalar_record("loss", 2, 1));
  CHECK(loaded.steps.size() == 1);
  CHECK(loaded.damaged == 1);
  // The writer died inside the third.
  loaded = harness.load(bytes.substr(0, bytes.size() - 1000));
  CHECK(loaded.texts == 2);
  CHECK(loaded.state == "waiting");
}
