#include "log/load/index_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/thread_pool.h"
#include "log/load/file_loader.h"
#include "tests/support/log_maker.h"

using namespace sonde;
using namespace sonde::store;
namespace fs = std::filesystem;

namespace {

constexpr int kPoints = 100'000;  // above what is worth an index

std::string events(int begin, int end, float plus = 0) {
  std::string bytes = begin == 0 ? test::frame(test::version_event(test::kT0)) : "";
  for (int step = begin; step < end; ++step) {
    bytes += test::frame(test::scalar_event(step % 2 ? "loss" : "a/long/name/of/accuracy", step,
                                            test::kT0 + step, static_cast<float>(step) + plus));
    if (step % 1000 == 0) {
      bytes += test::frame(
          test::strings_event("note", step, test::kT0 + step, {"text", "", {"hello"}, {}}));
    }
  }
  return bytes;
}

struct Site {
  test::Folder folder;
  std::string path = (folder.path() / "events.out.tfevents.1").string();
  std::string index = (folder.path() / "kept/one.index").string();
  ThreadPool pool{"test", 2};
  std::shared_ptr<Memory> memory = std::make_shared<Memory>(uint64_t{1} << 30);
  std::atomic<uint64_t> bytes = 0;  // counts on after a load, while columns are made again
  uint64_t read_bytes = 0;          // of the event file by the last loader

  void write(const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  void append(const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
  }

  // A new start of the program, so to say.
  std::shared_ptr<const FileSnapshot> load(bool with_index = true) {
    struct Counting final : io::Source {
      std::unique_ptr<io::Source> source;
      std::atomic<uint64_t>& bytes;
      Counting(std::unique_ptr<io::Source> s, std::atomic<uint64_t>& b)
          : source(std::move(s)), bytes(b) {}
      Result<size_t> read_at(uint64_t offset, std::span<std::byte> into) override {
        auto got = source->read_at(offset, into);
        bytes += got.value_or(0);
        return got;
      }
      bool random_access() const override { return source->random_access(); }
      const io::FileStat& stat() const override { return source->stat(); }
    };
    bytes = 0;
    FileLoader loader({FileId{3}, path, "events.out.tfevents.1", with_index ? index : ""}, memory,
                      [this](const std::string& name) -> Result<std::unique_ptr<io::Source>> {
                        SONDE_TRY(source, io::open_records(name));
                        return std::make_unique<Counting>(std::move(source), bytes);
                      });
    loader.update({pool, 2}, nullptr);
    read_bytes = bytes.load();
    return loader.committed();
  }
};

// Everything in it as text: two readings of one file are equal when these are.
std::string told(const FileSnapshot& file) {
  std::string out = std::to_string(file.points) + " points, " + std::to_string(file.facts.records) +
                    " records, " + std::to_string(file.damaged) + " damaged, " + file.state + "\n";
  for (const auto& part : file.parts) {
    out += std::string(part->tag) + " " + (part->metadata ? part->metadata->plugin : "?");
    for (const Chunk& chunk : part->chunks) {
      part->keep->check(chunk);
      for (uint32_t i = 0; i < chunk.size; ++i) {
        float value = 0;
        std::memcpy(&value, chunk.values() + 4 * i, 4);
        out += " " + std::to_string(chunk.steps()[i]) + ":" + std::to_string(value);
      }
    }
    for (uint64_t i = 0; i < part->size && !part->is_scalar; ++i) {
      const Reference& where = part->references[static_cast<ptrdiff_t>(i)].where;
      out +=
          " " + std::to_string(where.offset) + "@" + std::to_string(static_cast<int>(where.file));
    }
    out += "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("Index: the second start reads samples of the file and shows the same") {
  Site site;
  site.write(events(0, kPoints));
  const std::string plain = told(*site.load(false));
  CHECK(told(*site.load()) == plain);
  CHECK(site.read_bytes > fs::file_size(site.path));
  REQUIRE(fs::exists(site.index));
  CHECK(told(*site.load()) == plain);
  CHECK(site.read_bytes < 100'000);
}

TEST_CASE("Index: what came since is read, and kept when it is much") {
  Site site;
  site.write(events(0, kPoints));
  site.load();
  const auto first = fs::last_write_time(site.index);
  site.append(events(kPoints, kPoints + 1000));
  const std::string more = told(*site.load());
  CHECK(site.read_bytes < 400'000);
  CHECK(more == told(*site.load(false)));
  CHECK(fs::last_write_time(site.index) == first);
  site.append(events(kPoints + 1000, 3 * kPoints));
  CHECK(told(*site.load()) == told(*site.load(false)));
  site.load();
  CHECK(site.read_bytes < 100'000);
}

TEST_CASE("Index: of a file that was written anew it is not used") {
  Site site;
  site.write(events(0, kPoints));
  site.load();
  const auto time = fs::last_write_time(site.path);
  site.write(events(0, kPoints, 1));  // the same size, other values
  SUBCASE("later") {}
  SUBCASE("with the time set back") { fs::last_write_time(site.path, time); }
  CHECK(told(*site.load()) == told(*site.load(false)));
}

TEST_CASE("Index: a byte wrong anywhere, or an end that is missing, costs time and nothing else") {
  Site site;
  site.write(events(0, kPoints));
  const std::string plain = told(*site.load());
  const auto good = [&] {
    std::ifstream in(site.index, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  const auto check = [&](const std::string& bytes) {
    std::ofstream(site.index, std::ios::binary | std::ios::trunc) << bytes;
    CHECK(told(*site.load()) == plain);
  };
  for (size_t i = 0; i < 40; ++i) {
    std::string bad = good;
    const size_t at = i < 32 ? i : good.size() / 9 * (i - 31);
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    CAPTURE(at);
    check(bad);
  }
  for (const size_t size : {size_t{0}, size_t{10}, size_t{40}, good.size() / 2, good.size() - 1})
    check(good.substr(0, size));
}

TEST_CASE("Index: a place that cannot be written is no trouble") {
  Site site;
  site.write(events(0, kPoints));
  std::ofstream(site.folder.path() / "kept") << "a file where the folder should be";
  CHECK(told(*site.load()) == told(*site.load(false)));
}
