#include "io/remote/clickhouse.h"

#include <algorithm>
#include <cstdlib>

#include "base/strings.h"
#include "io/remote/http.h"

namespace sonde::io {

Result<ClickHouse> ClickHouse::parse(std::string_view address) {
  constexpr std::string_view kPlain = "clickhouse://", kTls = "clickhouses://";
  const bool is_tls = address.starts_with(kTls);
  const auto wrong = [] {
    return fail(Code::kInvalid, "write clickhouse://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE");
  };
  if (!is_tls && !address.starts_with(kPlain)) return wrong();
  address.remove_prefix(is_tls ? kTls.size() : kPlain.size());
  const size_t slash = address.find('/');
  if (slash == std::string_view::npos) return wrong();
  ClickHouse result;
  result.database = address.substr(slash + 1);
  std::string_view host = address.substr(0, slash);
  if (const size_t at = host.rfind('@'); at != std::string_view::npos) {
    const std::string_view who = host.substr(0, at);
    host = host.substr(at + 1);
    const size_t colon = who.find(':');
    result.user = percent_decoded(who.substr(0, colon));
    if (colon != std::string_view::npos) result.password = percent_decoded(who.substr(colon + 1));
  }
  if (const char* given = std::getenv("CLICKHOUSE_PASSWORD"); given && result.password.empty())
    result.password = given;
  const bool is_name = !result.database.empty() && std::ranges::all_of(result.database, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (host.empty() || !is_name) return wrong();
  result.url = std::string(is_tls ? "https://" : "http://") + std::string(host);
  if (host.find(':') == std::string_view::npos) result.url += is_tls ? ":8443" : ":8123";
  result.url += "/";
  return result;
}

std::string ClickHouse::place() const {
  const bool is_tls = url.starts_with("https");
  const std::string_view host = std::string_view(url).substr(is_tls ? 8 : 7);
  return (is_tls ? "clickhouses://" : "clickhouse://") + std::string(host) + database;
}

Result<std::string> ClickHouse::run(const std::string& statement, std::string_view rows) const {
  HttpRequest request;
  request.method = "POST";
  request.url = url;
  request.body = statement;
  if (!rows.empty()) {
    // A table over several nodes says so only when every node has the rows.
    request.url += "?insert_distributed_sync=1&query=" + percent_encoded(statement);
    request.body = rows;
  }
  request.max_answer_bytes = uint64_t{1} << 30;
  SONDE_TRY(answer, http_patiently(request, [&](HttpRequest& ready) {
              ready.headers = {{"Content-Type", "application/octet-stream"}};
              if (!user.empty()) ready.headers.emplace_back("X-ClickHouse-User", user);
              if (!password.empty()) ready.headers.emplace_back("X-ClickHouse-Key", password);
            }));
  if (answer.status == 200) return std::move(answer.body);
  std::string said = to_utf8(trimmed(std::string_view(answer.body).substr(0, 500)));
  std::ranges::replace(said, '\n', ' ');
  return fail(answer.status == 401 || answer.status == 403 ? Code::kForbidden : Code::kIo,
              "ClickHouse refuses (status " + std::to_string(answer.status) + "): " + said);
}

std::string quoted_sql(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + "'";
}

void put_string(std::string& rows, std::string_view text) {
  uint64_t size = text.size();
  for (; size >= 0x80; size >>= 7) rows.push_back(static_cast<char>(size | 0x80));
  rows.push_back(static_cast<char>(size));
  rows.append(text);
}

std::string RowReader::string() {
  constexpr int kMostBits = 63;
  uint64_t size = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = number<uint8_t>();
    if (!is_good_ || shift >= kMostBits) {
      is_good_ = false;
      return {};
    }
    size |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) break;
  }
  if (size > rest_.size()) {
    is_good_ = false;
    return {};
  }
  std::string text(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return text;
}

}  // namespace sonde::io
