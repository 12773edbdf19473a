#include "io/address_policy.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

namespace sonde::io {
namespace {

using Ip = std::array<uint8_t, 16>;  // IPv4 as ::ffff:a.b.c.d
constexpr int kMappedBits = 96;

Ip mapped(const uint8_t* four) {
  Ip ip{};
  ip[10] = ip[11] = 0xff;
  std::copy(four, four + 4, ip.begin() + 12);
  return ip;
}

bool starts_with(const Ip& ip, std::initializer_list<uint8_t> bytes) {
  return std::equal(bytes.begin(), bytes.end(), ip.begin());
}

// An IPv4 address that is carried by an IPv6 one counts as itself.
Ip led_to(const Ip& ip) {
  if (starts_with(ip, {0x20, 0x02})) return mapped(ip.data() + 2);                        // 6to4
  if (starts_with(ip, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0})) return mapped(ip.data() + 12);  // NAT64
  const bool is_compatible =
      std::all_of(ip.begin(), ip.begin() + 12, [](uint8_t b) { return b == 0; });
  const bool is_own = is_compatible && ip[12] == 0 && ip[13] == 0 && ip[14] == 0;  // :: and ::1
  return is_compatible && !is_own ? mapped(ip.data() + 12) : ip;
}

std::optional<Ip> ip_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    uint8_t four[4];
    std::memcpy(four, &in.sin_addr, 4);
    return mapped(four);
  }
  if (address.sa_family != AF_INET6) return std::nullopt;
  const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
  Ip ip;
  std::memcpy(ip.data(), &in.sin6_addr, 16);
  return led_to(ip);
}

AddressKind kind_of_ip(const Ip& ip) {
  if (starts_with(ip, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff})) {
    const uint8_t a = ip[12], b = ip[13];
    if (a == 127) return AddressKind::kLoopback;
    if (a == 169 && b == 254) return AddressKind::kLinkLocal;
    if (a == 10 || (a == 172 && b >= 16 && b < 32) || (a == 192 && b == 168) ||
        (a == 100 && b >= 64 && b < 128) || (a == 198 && (b == 18 || b == 19)))
      return AddressKind::kPrivate;
    return a == 0 || a >= 224 ? AddressKind::kOther : AddressKind::kPublic;
  }
  const bool is_low = std::all_of(ip.begin(), ip.begin() + 15, [](uint8_t b) { return b == 0; });
  if (is_low) return ip[15] == 1 ? AddressKind::kLoopback : AddressKind::kOther;
  if (ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80) return AddressKind::kLinkLocal;
  if ((ip[0] & 0xfe) == 0xfc || (ip[0] == 0xfe && (ip[1] & 0xc0) == 0xc0))
    return AddressKind::kPrivate;
  return ip[0] == 0xff ? AddressKind::kOther : AddressKind::kPublic;
}

bool is_inside(const Ip& ip, const uint8_t* range, int bits) {
  const auto whole = static_cast<size_t>(bits / 8);
  if (std::memcmp(ip.data(), range, whole) != 0) return false;
  const int rest = bits % 8;
  return rest == 0 || ((ip[whole] ^ range[whole]) >> (8 - rest)) == 0;
}

}  // namespace

AddressKind kind_of(const sockaddr& address) {
  const auto ip = ip_of(address);
  return ip ? kind_of_ip(*ip) : AddressKind::kOther;
}

std::string text_of(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address.sa_family == AF_INET)
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text,
                sizeof text);
  if (address.sa_family == AF_INET6)
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text,
                sizeof text);
  return text;
}

Result<void> AddressPolicy::allow(std::string_view what) {
  if (what == "private") {
    allows_private_ = true;
  } else if (what == "link-local") {
    allows_link_local_ = true;
  } else if (what == "any") {
    allows_any_ = true;
  } else {
    const size_t slash = what.find('/');
    const std::string text(what.substr(0, slash));
    uint8_t four[4];
    Ip ip{};
    int bits = 128;
    const bool is_four = ::inet_pton(AF_INET, text.c_str(), four) == 1;
    if (is_four) ip = mapped(four);
    bool is_good = is_four || ::inet_pton(AF_INET6, text.c_str(), ip.data()) == 1;
    if (slash != std::string_view::npos) {
      const std::string_view length = what.substr(slash + 1);
      const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
      is_good = is_good && error == std::errc() && end == length.data() + length.size() &&
                bits >= 0 && bits <= (is_four ? 32 : 128);
      if (is_four) bits += kMappedBits;
    }
    if (!is_good)
      return fail(Code::kInvalid,
                  fmt::format("'{}' is no address range; give private, link-local, any, a range "
                              "such as 10.1.0.0/16 or an address",
                              what));
    Range range{};
    std::copy(ip.begin(), ip.end(), range.bytes);
    range.bits = bits;
    ranges_.push_back(range);
  }
  return {};
}

Result<void> AddressPolicy::check(const sockaddr& address) const {
  const auto ip = ip_of(address);
  const AddressKind kind = ip ? kind_of_ip(*ip) : AddressKind::kOther;
  if (ip &&
      std::ranges::any_of(ranges_, [&](const Range& r) { return is_inside(*ip, r.bytes, r.bits); }))
    return {};
  std::string_view name, flag;
  switch (kind) {
    case AddressKind::kLoopback:
    case AddressKind::kPublic:
      return {};
    case AddressKind::kPrivate:
      if (allows_private_ || allows_any_) return {};
      name = "an address of a private network";
      flag = "private";
      break;
    case AddressKind::kLinkLocal:
      if (allows_link_local_ || allows_any_) return {};
      name = "a link-local address, as metadata services have";
      flag = "link-local";
      break;
    case AddressKind::kOther:
      return fail(Code::kForbidden,
                  fmt::format("{} is not the address of one machine", text_of(address)));
  }
  return fail(Code::kForbidden,
              fmt::format("{} is {}; this server connects there only when it was started with "
                          "--allow_connect {} or --allow_connect {}",
                          text_of(address), name, text_of(address), flag));
}

}  // namespace sonde::io
