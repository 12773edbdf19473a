// To which addresses this program may connect because a request, a log or a page asked for it:
// captures of running programs, What-If endpoints, webhooks. A stranger who may name an address
// could otherwise reach whatever this machine can: a cloud's metadata service, a router, a database
// of the same network. The rule is asked about the numeric address that is connected to, after the
// name was looked up, so a name that changes its answer gains nothing. Everything that connects
// takes a policy; --allow_connect widens it. What a user starts in a terminal needs none.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sonde::io {

enum class AddressKind : uint8_t {
  kLoopback,   // this machine
  kPublic,     // the Internet
  kPrivate,    // 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7: the network around
  kLinkLocal,  // 169.254/16 (metadata services of clouds), fe80::/10
  kOther,      // nobody's or everybody's: 0.0.0.0, multicast, broadcast
};

// Of an IPv4 or IPv6 address; one inside the other (mapped, 6to4, NAT64) is what it leads to.
AddressKind kind_of(const sockaddr& address);
std::string text_of(const sockaddr& address);  // "10.0.0.1", "fe80::1"

class AddressPolicy {
 public:
  // Loopback and public addresses. Metadata services, private and link-local ones are refused.
  AddressPolicy() = default;

  // Allows more: "private", "link-local", "any", a range "10.1.0.0/16" or an address. kInvalid.
  Result<void> allow(std::string_view what);

  // kForbidden with a sentence that names the address and the flag.
  Result<void> check(const sockaddr& address) const;

 private:
  struct Range {
    uint8_t bytes[16];  // IPv4 as ::ffff:a.b.c.d
    int bits;
  };
  bool allows_private_ = false, allows_link_local_ = false, allows_any_ = false;
  std::vector<Range> ranges_;
};

}  // namespace sonde::io
