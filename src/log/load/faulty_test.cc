// A disk that fails now and then: whatever call fails, once it works again every point is there
// once.
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

// Counts the calls that reach the disk; some in a row fail.
struct Disk {
  int failing = 0;  // the first that fails, from 1
  int times = 0;    // how many do
  int calls = 0;

  bool fails() {
    ++calls;
    return calls >= failing && calls < failing + times;
  }
};

class FaultySource final : public io::Source {
 public:
  FaultySource(std::unique_ptr<io::Source> source, Disk& disk)
      : source_(std::move(source)), disk_(disk) {}

  Result<size_t> read_at(uint64_t offset, std::span<std::byte> into) override {
    if (disk_.fails()) return fail(Code::kIo, "Input/output error");
    return source_->read_at(offset, into);
  }
  bool random_access() const override { return source_->random_access(); }
  const io::FileStat& stat() const override { return source_->stat(); }

 private:
  std::unique_ptr<io::Source> source_;
  Disk& disk_;
};

FileLoader::Open open_from(Disk& disk) {
  return [&disk](const std::string& path) -> Result<std::unique_ptr<io::Source>> {
    if (disk.fails()) return fail(Code::kIo, "Input/output error");
    auto source = io::open_records(path);
    if (!source) return source;
    return std::make_unique<FaultySource>(std::move(*source), disk);
  };
}

std::vector<Step> steps_of(const FileLoader& loader) {
  std::vector<Step> steps;
  for (const auto& part : loader.committed()->parts) {
    if (part->tag != "loss") continue;
    for (const Chunk& chunk : part->chunks) {
      steps.insert(steps.end(), chunk.steps(), chunk.steps() + chunk.size);
    }
  }
  return steps;
}

std::string losses(int from, int to) {
  std::string bytes;
  for (int i = from; i < to; ++i) bytes += scalar_record("loss", i, 0.5f, 1000 + i);
  return bytes;
}

std::string large_text(int step) {
  return text_record("note", step, std::string(300'000, 'x'), 1000 + step);
}

}  // namespace

TEST_CASE("Faulty: any failing call of a load that grows is made up for by the next look") {
  const std::string first = version_record() + losses(0, 5) + large_text(5) + losses(5, 10);
  const std::string second = first + losses(10, 20) + large_text(20) + losses(20, 25);
  std::vector<Step> all;
  for (int i = 0; i < 25; ++i) all.push_back(i);
  ThreadPool pool("test", 1);
  for (const int times : {1, 4}) {
    bool has_failed = true;
    for (int failing = 1; has_failed; ++failing) {
      CAPTURE(times);
      CAPTURE(failing);
      TempFolder folder;
      Disk disk{.failing = failing, .times = times};
      FileLoader loader({FileId{0}, folder.file("events.out.tfevents.1"), "events.out.tfevents.1"},
                        std::make_shared<Memory>(uint64_t{1} << 30), open_from(disk));
      size_t shown = 0;
      for (const std::string& bytes : {first, second}) {
        folder.write("events.out.tfevents.1", bytes);
        loader.update({pool, 1}, {});
        const size_t now = steps_of(loader).size();
        CHECK(now >= shown);  // what was shown stays
        shown = now;
      }
      has_failed = disk.calls >= failing;
      disk.times = 0;
      loader.update({pool, 1}, {});
      CHECK(steps_of(loader) == all);
      CHECK(loader.committed()->damaged == 0);
      CHECK(loader.committed()->state == "complete");
    }
  }
}
