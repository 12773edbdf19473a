#include "io/confine.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sonde::io {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("sonde_confine_" + std::to_string(std::rand()));
  Folder() {
    fs::create_directories(path / "logs/run");
    fs::create_directories(path / "logs2");
    std::ofstream(path / "secret") << "s";
    std::ofstream(path / "logs/run/a") << "a";
    fs::create_symlink(path / "secret", path / "logs/out");
    fs::create_symlink(path / "logs/run", path / "logs/in");
  }
  ~Folder() { fs::remove_all(path); }
};

TEST_CASE("is_inside_root: only paths inside the folder are given back") {
  const Folder folder;
  const std::string logs = (folder.path / "logs").string();
  struct Case {
    std::string path;
    bool is_inside;
  };
  const Case cases[] = {
      {"run/a", true},
      {"run/../run/a", true},
      {"not/there", true},
      {".", true},
      {"in/a", true},
      {(folder.path / "logs/run/a").string(), true},
      {"..", false},
      {"../secret", false},
      {"../logs2/x", false},
      {"run/../../secret", false},
      {"out", false},
      {"/etc/passwd", false},
      {std::string("run\0/../../secret", 17), false},
  };
  for (const Case& item : cases) {
    CAPTURE(item.path);
    CHECK(is_inside_root(logs, item.path).has_value() == item.is_inside);
  }
  CHECK(is_inside_root((folder.path / "gone").string(), "x").error().code == Code::kNotFound);
}

}  // namespace
}  // namespace sonde::io
