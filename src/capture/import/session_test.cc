#include "capture/import/session.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace sonde;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("sonde_session_test_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  void file(const std::string& name, std::string_view content = "") const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << content;
  }
};

}  // namespace

TEST_CASE("session finder: runs below the root, newest id first, hosts from file names") {
  const Folder folder;
  folder.file("plugins/profile/2024_01_01/a.b.xplane.pb");
  folder.file("run1/plugins/profile/2025_01_01/host0.xplane.pb");
  folder.file("run1/plugins/profile/2025_01_01/host1.xplane.pb");
  folder.file("run1/plugins/profile/2025_01_01/host1.trace.json.gz");
  folder.file("run1/plugins/profile/2025_01_01/jit_f(3).hlo_proto.pb");
  folder.file("run1/plugins/profile/2025_01_01/host0.overview_page.pb");
  const auto sessions = imports::find_sessions(folder.path.string());
  REQUIRE(sessions.size() == 2);
  CHECK(sessions[0].id() == "run1/2025_01_01");
  CHECK(sessions[1].id() == "2024_01_01");
  REQUIRE(sessions[1].files.size() == 1);
  CHECK(sessions[1].files[0].host == "a.b");
  CHECK(sessions[0].files.size() == 4);
  const auto captures = sessions[0].captures();
  REQUIRE(captures.size() == 2);
  CHECK(captures[0]->host == "host0");
  CHECK(captures[1]->host == "host1");

  const auto newest = imports::session_at(folder.path.string());
  REQUIRE(newest);
  CHECK(newest->name == "2025_01_01");
  CHECK(imports::session_at((folder.path / "run1/plugins/profile/2025_01_01").string())
            ->files.size() == 4);
  CHECK_FALSE(imports::session_at((folder.path / "nothing").string()));
}

TEST_CASE("session finder: a worker's span number is not part of its name") {
  const Folder folder;
  folder.file("worker0.1623143089861.pt.trace.json");
  const auto session = imports::session_at(folder.path.string());
  REQUIRE(session);
  CHECK(session->files[0].host == "worker0");
  CHECK(session->files[0].kind == imports::FileKind::kTraceJson);
}
