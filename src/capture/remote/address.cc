#include "capture/remote/address.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace sonde::remote {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

bool is_host(std::string_view host, bool in_brackets) {
  if (host.empty() || host.size() > 253 || host[0] == '.' || host[0] == '-') return false;
  return std::ranges::all_of(
      host, [&](char c) { return is_letter(c) || (in_brackets && (c == ':' || c == '%')); });
}

}  // namespace

std::string Address::text() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

std::string Address::file_name() const {
  std::string name = fmt::format("{}_{}", host, port);
  std::ranges::replace_if(name, [](char c) { return !is_letter(c); }, '_');
  return name;
}

Result<Address> address_of(std::string_view typed) {
  std::string_view text = trimmed(typed);
  if (text.starts_with("grpc://")) text.remove_prefix(7);
  const auto wrong = [&](std::string_view why) {
    return fail(Code::kInvalid, fmt::format("'{}' {}; write host:port, for example localhost:6009",
                                            to_utf8(trimmed(typed)), why));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.ends_with(']')) return wrong("names no port");
  std::string_view host = text.substr(0, colon), digits = text.substr(colon + 1);
  const bool in_brackets = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if (in_brackets) host = host.substr(1, host.size() - 2);
  if (!is_host(host, in_brackets)) return wrong("is no address of a profiler server");
  Address address{std::string(host), 0};
  const auto [end, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (problem != std::errc() || end != digits.data() + digits.size() || address.port == 0)
    return wrong("has no port between 1 and 65535");
  return address;
}

Result<std::vector<Address>> addresses_of(std::string_view text) {
  std::vector<Address> addresses;
  for (const std::string_view part : split(text, ',')) {
    if (trimmed(part).empty()) continue;
    SONDE_TRY(address, address_of(part));
    const bool known = std::ranges::any_of(
        addresses, [&](const Address& a) { return a.text() == address.text(); });
    if (!known) addresses.push_back(std::move(address));
    if (addresses.size() > kMostHosts)
      return fail(Code::kInvalid, fmt::format("more than {} hosts in one capture", kMostHosts));
  }
  if (addresses.empty())
    return fail(Code::kInvalid,
                "no address of a profiler server is given; write host:port, for example "
                "localhost:6009");
  return addresses;
}

}  // namespace sonde::remote
