#include "io/address_policy.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>

#include <cstring>

using namespace sonde;

namespace {

struct Place {
  sockaddr_storage storage{};
  explicit Place(const char* text) {
    auto& four = reinterpret_cast<sockaddr_in&>(storage);
    auto& six = reinterpret_cast<sockaddr_in6&>(storage);
    if (::inet_pton(AF_INET, text, &four.sin_addr) == 1) {
      four.sin_family = AF_INET;
    } else {
      REQUIRE(::inet_pton(AF_INET6, text, &six.sin6_addr) == 1);
      six.sin6_family = AF_INET6;
    }
  }
  const sockaddr& address() const { return reinterpret_cast<const sockaddr&>(storage); }
};

bool allowed(const io::AddressPolicy& policy, const char* text) {
  return policy.check(Place(text).address()).has_value();
}

}  // namespace

TEST_CASE("AddressPolicy: kinds, with what is carried inside another address") {
  using Kind = io::AddressKind;
  const std::pair<const char*, Kind> cases[] = {
      {"127.0.0.1", Kind::kLoopback},
      {"127.255.255.255", Kind::kLoopback},
      {"::1", Kind::kLoopback},
      {"::ffff:127.0.0.1", Kind::kLoopback},
      {"8.8.8.8", Kind::kPublic},
      {"2001:4860:4860::8888", Kind::kPublic},
      {"10.0.0.0", Kind::kPrivate},
      {"9.255.255.255", Kind::kPublic},
      {"11.0.0.0", Kind::kPublic},
      {"172.15.255.255", Kind::kPublic},
      {"172.16.0.0", Kind::kPrivate},
      {"172.31.255.255", Kind::kPrivate},
      {"172.32.0.0", Kind::kPublic},
      {"192.168.0.1", Kind::kPrivate},
      {"100.63.255.255", Kind::kPublic},
      {"100.64.0.0", Kind::kPrivate},
      {"100.127.255.255", Kind::kPrivate},
      {"100.128.0.0", Kind::kPublic},
      {"169.254.169.254", Kind::kLinkLocal},
      {"::ffff:169.254.169.254", Kind::kLinkLocal},
      {"64:ff9b::a9fe:a9fe", Kind::kLinkLocal},
      {"2002:a9fe:a9fe::", Kind::kLinkLocal},
      {"::169.254.169.254", Kind::kLinkLocal},
      {"fe80::1", Kind::kLinkLocal},
      {"fd00:ec2::254", Kind::kPrivate},
      {"fc00::", Kind::kPrivate},
      {"0.0.0.0", Kind::kOther},
      {"::", Kind::kOther},
      {"224.0.0.1", Kind::kOther},
      {"255.255.255.255", Kind::kOther},
      {"ff02::1", Kind::kOther},
  };
  for (const auto& [text, kind] : cases) {
    CAPTURE(text);
    CHECK(io::kind_of(Place(text).address()) == kind);
  }
}

TEST_CASE("AddressPolicy: what is refused says which flag allows it") {
  io::AddressPolicy policy;
  CHECK(allowed(policy, "127.0.0.1"));
  CHECK(allowed(policy, "8.8.8.8"));
  for (const char* text : {"10.1.2.3", "169.254.169.254", "fe80::1", "0.0.0.0", "fd00:ec2::254"})
    CHECK(!allowed(policy, text));
  const auto refused = policy.check(Place("10.1.2.3").address());
  CHECK(refused.error().code == Code::kForbidden);
  CHECK(refused.error().text.find("--allow_connect private") != std::string::npos);

  REQUIRE(policy.allow("10.1.0.0/16"));
  CHECK(allowed(policy, "10.1.255.255"));
  CHECK(allowed(policy, "::ffff:10.1.0.0"));
  CHECK(!allowed(policy, "10.2.0.0"));
  REQUIRE(policy.allow("private"));
  CHECK(allowed(policy, "10.2.0.0"));
  CHECK(!allowed(policy, "169.254.169.254"));
  REQUIRE(policy.allow("any"));
  CHECK(allowed(policy, "169.254.169.254"));
  CHECK(!allowed(policy, "0.0.0.0"));
  for (const std::string_view bad : {"", "10.0.0.0/33", "10.0.0/8", "x", "::/129", "10.0.0.0/"})
    CHECK(!policy.allow(bad));
}
