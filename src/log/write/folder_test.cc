#include "log/write/folder.h"

#include <doctest/doctest.h>

namespace sonde::writer {

TEST_CASE("Folder: paths and file:// are local, every other scheme is refused with a sentence") {
  CHECK(*local_folder("runs/a") == "runs/a");
  CHECK(*local_folder("") == ".");
  CHECK(*local_folder("/tmp/x") == "/tmp/x");
  CHECK(*local_folder("odd:name/x") == "odd:name/x");
  CHECK(*local_folder("1://x") == "1://x");  // not a scheme: a path, if a strange one
  CHECK(*local_folder("file:///tmp/my%20logs") == "/tmp/my logs");
  CHECK(*local_folder("file://localhost/tmp/x") == "/tmp/x");
  for (const char* name :
       {"s3://bucket/run", "gs://b/r", "hdfs://host/x", "abfs+x://y", "file://other/x"}) {
    const auto folder = local_folder(name);
    REQUIRE_FALSE(folder);
    CHECK(is_store(name) == (name[0] == 's' || name[0] == 'g'));
    CHECK(folder.error().text.find(name) != std::string::npos);
  }
}

}  // namespace sonde::writer
