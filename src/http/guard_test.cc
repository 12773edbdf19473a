#include "http/guard.h"

#include <doctest/doctest.h>

using namespace sonde::http;

namespace {

Head head(std::vector<std::pair<std::string, std::string>> headers, std::string method = "GET") {
  Head h;
  h.method = std::move(method);
  h.headers = std::move(headers);
  return h;
}

}  // namespace

TEST_CASE("Guard: only names of this machine pass the Host check") {
  Access access;
  access.hosts = {"hub.example"};
  for (const char* host : {"localhost", "localhost:6006", "LOCALHOST", "127.0.0.1:1", "127.9.9.9",
                           "[::1]:6006", "a.localhost", "localhost.", "hub.example:80", ""}) {
    CAPTURE(host);
    CHECK(host_allowed(access, host));
  }
  for (const char* host :
       {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[::2]",
        "[::1", "hub.example.evil", "0.0.0.0", "xlocalhost"}) {
    CAPTURE(host);
    CHECK_FALSE(host_allowed(access, host));
  }
  access.check_host = false;
  CHECK(host_allowed(access, "evil.example"));
}

TEST_CASE("Guard: requests that another site made a browser send are foreign") {
  const Access access;
  CHECK_FALSE(is_foreign(access, head({{"host", "localhost:1"}})));
  CHECK_FALSE(
      is_foreign(access, head({{"host", "localhost:1"}, {"origin", "http://localhost:1"}})));
  CHECK_FALSE(is_foreign(access, head({{"host", "h"}, {"sec-fetch-site", "same-origin"}})));
  CHECK_FALSE(is_foreign(
      access,
      head({{"host", "h"}, {"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}})));
  CHECK(is_foreign(access, head({{"host", "localhost:1"}, {"origin", "http://evil.example"}})));
  CHECK(is_foreign(access, head({{"host", "localhost:1"}, {"origin", "http://localhost:2"}})));
  CHECK(is_foreign(access, head({{"host", "localhost:1"}, {"origin", "null"}})));
  CHECK(is_foreign(access, head({{"host", "h"}, {"sec-fetch-site", "cross-site"}})));
  CHECK(is_foreign(
      access,
      head({{"host", "h"}, {"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}},
           "POST")));
}

TEST_CASE("Guard: the token is taken from header, cookie and address") {
  Access access;
  access.token = "secret";
  access.cookie = "sonde-1";
  Target none, right, wrong;
  right.query = {{"token", "secret"}};
  wrong.query = {{"token", "secre"}};
  CHECK(credential_of(access, head({}), none) == Credential::kNone);
  CHECK(credential_of(access, head({{"authorization", "Bearer secret"}}), none) ==
        Credential::kHeader);
  CHECK(credential_of(access, head({{"authorization", "token secret"}}), none) ==
        Credential::kHeader);
  CHECK(credential_of(access, head({{"authorization", "Bearer Secret"}}), none) ==
        Credential::kWrong);
  CHECK(credential_of(access, head({{"authorization", "Basic abc"}}), none) == Credential::kNone);
  CHECK(credential_of(access, head({{"cookie", "a=b; sonde-1=secret"}}), none) ==
        Credential::kCookie);
  CHECK(credential_of(access, head({{"cookie", "xsonde-1=secret"}}), none) == Credential::kNone);
  CHECK(credential_of(access, head({}), right) == Credential::kQuery);
  CHECK(credential_of(access, head({}), wrong) == Credential::kWrong);
  CHECK(random_token().size() == 32);
  CHECK(random_token() != random_token());
}
