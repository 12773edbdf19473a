#include "io/scan.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "io/watch.h"
#include "tests/support/event_file.h"

using namespace sonde;
using namespace sonde::io;

TEST_CASE("Scan: runs are folders with event files, loops and odd things are named") {
  testing::TempFolder folder;
  folder.write("a/events.out.tfevents.1", "");
  folder.write("a/.hidden/x.tfevents.bak", "");
  folder.write("b/other.txt", "");
  std::filesystem::create_directory_symlink(folder.path(), folder.path() / "a" / "loop");
  std::filesystem::create_directory_symlink(folder.path() / "a", folder.path() / "link");
  std::filesystem::create_symlink("nowhere", folder.path() / "b" / "broken.tfevents");
  REQUIRE(::mkfifo(folder.file("b/pipe.tfevents").c_str(), 0600) == 0);
  const Scan found = scan({{"", folder.path().string()}});
  std::vector<std::string> names;
  for (const FoundRun& run : found.runs) names.push_back(run.name);
  CHECK(names == std::vector<std::string>{"a", "a/.hidden", "link", "link/.hidden"});
  CHECK(found.skipped.size() == 4);  // two loops, a broken link, a pipe
}

TEST_CASE("Scan: roots") {
  testing::TempFolder folder;
  folder.write("a/events.out.tfevents.1", "");
  const std::string root = folder.path().string();
  CHECK(scan({{"", root + "/nothing"}}).runs.empty());
  CHECK(scan({{"n", root + "/a"}}).runs.front().name == "n/.");
  const Scan file = scan({{"", root + "/a/events.out.tfevents.1"}});
  REQUIRE(file.runs.size() == 1);
  CHECK(file.runs.front().folder == root + "/a");
  CHECK(file.runs.front().files.front().name == "events.out.tfevents.1");

  const auto roots = parse_logdir_spec("a:/x/y,/p/q:r,b:/z");
  REQUIRE(roots.size() == 3);
  CHECK(roots[0].name == "a");
  CHECK(roots[0].path == "/x/y");
  CHECK(roots[1].path == "/p/q:r");
  CHECK(roots[2].name == "b");
  CHECK(absolute_path("/a/b//") == "/a/b");
}

TEST_CASE("Watch: growth, creation and removal are told, waking up too") {
  testing::TempFolder folder;
  folder.write("f", "a");
  Watcher watcher;
  REQUIRE(watcher.watch({folder.path().string()}));
  folder.append("f", "b");
  Watcher::Changes changes = watcher.wait(5000);
  REQUIRE(!changes.list.empty());
  CHECK(changes.list.front().name == "f");
  CHECK(changes.list.front().content_only);
  std::filesystem::remove(folder.file("f"));
  changes = watcher.wait(5000);
  REQUIRE(!changes.list.empty());
  CHECK(!changes.list.back().content_only);
  watcher.wake();
  CHECK(watcher.wait(5000).woken);
}
