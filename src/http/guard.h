// Who may ask: the Host check against DNS rebinding, the check that a browser's request comes from
// our own page, and the token. Pure decisions over a request's head; what is answered is decided by
// the site.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/request_reader.h"
#include "http/target.h"
#include "http/users.h"

namespace sonde::http {

struct Access {
  std::string token;               // empty: no token is asked for
  std::vector<User> users;         // instead of the one token: each has a token and a role
  std::string user_header;         // set by a proxy that knows who asks; empty: nobody is believed
  std::string cookie = "sonde";    // its name; cookies are shared by all ports of a host
  bool check_host = true;          // bound to loopback: only names of this machine are served
  bool check_origin = true;        // false: Origin need not match Host (behind proxies of any name)
  std::vector<std::string> hosts;  // further names that may be in Host and in Origin
  std::vector<std::string>
      frame_ancestors;  // sites that may show the page in a frame (CSP sources)

  bool asks() const { return !token.empty() || !users.empty(); }
};

// 16 random bytes in hexadecimal, from the system's generator.
std::string random_token();

enum class Credential : uint8_t {
  kNone,    // nothing was presented
  kWrong,   // something was, and it is not the token
  kHeader,  // Authorization: Bearer <token> or token <token>
  kCookie,
  kQuery,  // ?token=<token>
};
// What was presented, who that is (without users nobody in particular), and the token itself.
struct Presented {
  Credential how = Credential::kNone;
  const User* user = nullptr;
  std::string token;
};
Presented presented(const Access& access, const Head& head, const Target& target);
inline Credential credential_of(const Access& access, const Head& head, const Target& target) {
  return presented(access, head, target).how;
}

// True when Host names this machine (or a configured name). HTTP/1.0 may leave it out.
bool host_allowed(const Access& access, std::string_view host);
// The host of an authority: "[::1]:80" -> "::1", "localhost:6006" -> "localhost", in lower case.
std::string host_name(std::string_view authority);

// True for a request that another web site made a browser send. Following a link to a document is
// not foreign: its answer cannot be read by that site.
bool is_foreign(const Access& access, const Head& head);

// The value of a cookie in the Cookie header; empty when absent.
std::string_view cookie_value(std::string_view header, std::string_view name);

}  // namespace sonde::http
