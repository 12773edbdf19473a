// The store while its files change: nothing is lost, nothing is doubled.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

#include "log/store/store.h"
#include "tests/support/event_file.h"

using namespace sonde;
using namespace sonde::store;
using namespace sonde::testing;

namespace {

constexpr const char* kFile = "run/events.out.tfevents.1";

class Watched {
 public:
  explicit Watched(const TempFolder& folder, Options options = {}) {
    if (options.roots.empty()) options.roots = {{"", folder.path().string()}};
    options.threads = 2;
    store_ = std::move(*Store::open(std::move(options)));
    subscription_ = store_->subscribe([this](const Change&) {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
    store_->wait_loaded();
  }

  // Waits until the snapshot satisfies `test`; false after a generous while.
  bool until(const std::function<bool(const Snapshot&)>& test) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::unique_lock lock(mutex_);
    for (;;) {
      if (test(*store_->snapshot())) return true;
      if (std::chrono::steady_clock::now() > deadline) return false;
      changed_.wait_for(lock, std::chrono::milliseconds(50));
    }
  }
  bool until_steps(std::string_view run, std::vector<Step> steps) {
    return until([&](const Snapshot& snapshot) { return steps_of(snapshot, run) == steps; });
  }

  static std::vector<Step> steps_of(const Snapshot& snapshot, std::string_view run,
                                    std::string_view tag = "loss", View view = View::kNewest) {
    std::vector<Step> steps;
    const RunSnapshot* found = snapshot.find(run);
    const Series* series = found ? found->find(tag) : nullptr;
    if (!series) return steps;
    for (const Range range : series->ranges(view)) {
      series->blocks(range, [&](const ScalarBlock& block) {
        steps.insert(steps.end(), block.steps.begin(), block.steps.end());
      });
    }
    return steps;
  }

  Store& store() { return *store_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Store> store_;
  std::shared_ptr<void> subscription_;
};

std::string points(int64_t from, int64_t to, double wall_time = 1000) {
  std::string bytes;
  for (int64_t i = from; i < to; ++i)
    bytes += scalar_record("loss", i, static_cast<float>(i), wall_time + static_cast<double>(i));
  return bytes;
}

std::vector<Step> steps(int64_t from, int64_t to) {
  std::vector<Step> result;
  for (int64_t i = from; i < to; ++i) result.push_back(i);
  return result;
}

}  // namespace

TEST_CASE("Live: appended points, also in small torn pieces, arrive once each") {
  TempFolder folder;
  folder.write(kFile, version_record() + points(0, 5));
  Watched watched(folder);
  CHECK(watched.until_steps("run", steps(0, 5)));
  const std::string more = points(5, 9);
  for (size_t at = 0; at < more.size(); at += 7)
    folder.append(kFile, std::string_view(more).substr(at, 7));
  CHECK(watched.until_steps("run", steps(0, 9)));
  CHECK(watched.store().snapshot()->runs.front()->damage.empty());
}

TEST_CASE("Live: rotation, new runs, removal and return") {
  TempFolder folder;
  folder.write(kFile, version_record() + points(0, 3));
  Watched watched(folder);
  folder.write("run/events.out.tfevents.2", version_record(2000) + points(3, 6, 2000));
  CHECK(watched.until_steps("run", steps(0, 6)));
  // Late data in the older file takes its place before the newer file's.
  folder.append(kFile, scalar_record("loss", 2, 2, 1003));
  CHECK(watched.until_steps("run", {0, 1, 2, 2, 3, 4, 5}));
  folder.write("deep/er/events.out.tfevents.1", version_record() + points(0, 2));
  CHECK(watched.until_steps("deep/er", steps(0, 2)));
  std::filesystem::remove_all(folder.path() / "deep");
  CHECK(watched.until([](const Snapshot& s) { return s.find("deep/er") == nullptr; }));
  folder.write("deep/er/events.out.tfevents.1", version_record() + points(0, 4));
  CHECK(watched.until_steps("deep/er", steps(0, 4)));
}

TEST_CASE("Live: a file that is cut, rewritten or replaced is read anew") {
  TempFolder folder;
  folder.write(kFile, version_record() + points(0, 8));
  Watched watched(folder);
  CHECK(watched.until_steps("run", steps(0, 8)));
  const uint64_t layout = watched.store().snapshot()->find("run")->find("loss")->layout();
  folder.write(kFile, version_record() + points(0, 3));
  CHECK(watched.until_steps("run", steps(0, 3)));
  CHECK(watched.store().snapshot()->find("run")->find("loss")->layout() != layout);
  // Rewritten in place and longer than before.
  folder.write(kFile, version_record(5000) + points(100, 120, 5000));
  CHECK(watched.until_steps("run", steps(100, 120)));
  // Another file under the same name, as rsync does it.
  folder.write("run/.incoming", version_record() + points(0, 30));
  std::filesystem::rename(folder.file("run/.incoming"), folder.file(kFile));
  CHECK(watched.until_steps("run", steps(0, 30)));
}

TEST_CASE("Live: a removed file's points stay while the run has another file") {
  TempFolder folder;
  folder.write(kFile, version_record() + points(0, 3));
  folder.write("run/events.out.tfevents.2", version_record(2000) + points(3, 6, 2000));
  Watched watched(folder);
  std::filesystem::remove(folder.file(kFile));
  CHECK(watched.until([](const Snapshot& s) {
    return s.files[static_cast<size_t>(s.find("run")->files[0])]->state == "gone";
  }));
  CHECK(Watched::steps_of(*watched.store().snapshot(), "run") == steps(0, 6));
  folder.write(kFile, version_record() + points(0, 2));
  CHECK(watched.until_steps("run", {0, 1, 3, 4, 5}));
  std::filesystem::remove(folder.file(kFile));
  std::filesystem::remove(folder.file("run/events.out.tfevents.2"));
  CHECK(watched.until([](const Snapshot& s) { return s.runs.empty(); }));
}

TEST_CASE("Live: a log directory that appears later, and a reload on demand") {
  TempFolder folder;
  Options options;
  options.roots = {{"", folder.file("later")}};
  options.reload_interval_s = 0.1;
  Watched watched(folder, options);
  CHECK(watched.store().snapshot()->runs.empty());
  folder.write("later/run/events.out.tfevents.1", version_record() + points(0, 2));
  CHECK(watched.until_steps("run", steps(0, 2)));
}

TEST_CASE(
    "Live: readers see whole prefixes while a writer goes on, and SIGKILL only tears the end") {
  TempFolder folder;
  folder.write(kFile, version_record());
  Watched watched(folder);
  constexpr int64_t kMany = 3000;
  const std::string bytes = points(0, kMany);
  const size_t size = bytes.size() / kMany;  // about; records of small steps are shorter
  const pid_t writer = ::fork();
  if (writer == 0) {
    // Unbuffered writes of odd sizes until it is killed.
    for (size_t at = 0; at < bytes.size(); at += size + 11) {
      folder.append(kFile, std::string_view(bytes).substr(at, size + 11));
      if (at > bytes.size() / 2) ::usleep(200);
    }
    ::_exit(0);
  }
  std::atomic<bool> stop = false;
  std::atomic<int> broken = 0;
  std::thread reader([&] {
    size_t last = 0;
    while (!stop) {
      const auto seen = Watched::steps_of(*watched.store().snapshot(), "run");
      if (seen.size() < last || seen != steps(0, static_cast<int64_t>(seen.size()))) ++broken;
      last = seen.size();
    }
  });
  CHECK(watched.until([](const Snapshot& s) { return Watched::steps_of(s, "run").size() > 1800; }));
  ::kill(writer, SIGKILL);
  ::waitpid(writer, nullptr, 0);
  const auto on_disk = std::filesystem::file_size(folder.file(kFile)) - version_record().size();
  int64_t whole = 0;
  for (size_t at = 0; whole < kMany; ++whole) {
    at += scalar_record("loss", whole, static_cast<float>(whole)).size();
    if (at > on_disk) break;
  }
  CHECK(watched.until_steps("run", steps(0, whole)));
  stop = true;
  reader.join();
  CHECK(broken == 0);
}

TEST_CASE("Live: a thousand files need no thousand descriptors") {
  TempFolder folder;
  for (int i = 0; i < 300; ++i)
    folder.write("r" + std::to_string(i) + "/events.out.tfevents.1",
                 version_record() + points(0, 2));
  Watched watched(folder);
  CHECK(watched.store().snapshot()->runs.size() == 300);
  size_t open = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++open;
  CHECK(open < 100);
}
