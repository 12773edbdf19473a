#include "capture/remote/address.h"

#include <doctest/doctest.h>

namespace sonde::remote {

TEST_CASE("capture: addresses as people type them") {
  struct Row {
    const char *typed, *text, *file;
  };
  const Row good[] = {
      {"localhost:6009", "localhost:6009", "localhost_6009"},
      {" grpc://10.0.0.2:8466 ", "10.0.0.2:8466", "10.0.0.2_8466"},
      {"[::1]:6009", "[::1]:6009", "__1_6009"},
      {"node-1.cluster.local:9999", "node-1.cluster.local:9999", "node-1.cluster.local_9999"},
  };
  for (const Row& row : good) {
    CAPTURE(row.typed);
    const auto address = address_of(row.typed);
    REQUIRE(address);
    CHECK(address->text() == row.text);
    CHECK(address->file_name() == row.file);
  }
  for (const char* bad :
       {"", "localhost", "localhost:", "localhost:0", "localhost:65536", "localhost:6009x", ":6009",
        "[::1]", "::1:6009", "a/b:6009", "../../x:1", "-x:1", ".:1", "a b:1", "a\n:1", "[]:1",
        "[a/b]:1", "http://localhost:6009"}) {
    CAPTURE(bad);
    const auto address = address_of(bad);
    REQUIRE(!address);
    CHECK(address.error().code == Code::kInvalid);
  }
}

TEST_CASE("capture: a list of addresses names each once") {
  const auto list = addresses_of("a:1, b:2,,a:1");
  REQUIRE(list);
  REQUIRE(list->size() == 2);
  CHECK((*list)[1].text() == "b:2");
  CHECK(!addresses_of(" , "));
  CHECK(!addresses_of("a:1,b"));
  std::string many;
  for (size_t i = 0; i <= kMostHosts; ++i) many += "host:" + std::to_string(i + 1) + ",";
  CHECK(!addresses_of(many));
}

}  // namespace sonde::remote
