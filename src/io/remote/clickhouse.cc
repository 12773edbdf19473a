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

Result<std::string> ClickHouse::run(const std::string& statement, std::string_view rows) const {
  HttpRequest request;
  request.method = "POST";
  request.url = url;
  request.body = statement;
  if (!rows.empty()) {
    request.url += "?query=" + percent_encoded(statement);
    request.body = rows;
  }
  request.max_answer_bytes = uint64_t{1} << 30;
  SONDE_TRY(answer, http_patiently(request, [&](HttpRequest& ready) {
              ready.headers = {{"Content-Type", "application/octet-stream"}};
              if (!user.empty()) ready.headers.emplace_back("X-ClickHouse-User", user);
              if (!password.empty()) ready.headers.emplace_back("X-ClickHouse-Key", password);
            }));
  if (answer.status == 200) return std::move(answer.body);
  const std::string said = to_utf8(trimmed(std::string_view(answer.body).substr(0, 500)));
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

std::vector<std::vector<std::string>> tab_separated(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    auto& row = rows.emplace_back();
    for (const std::string_view field : split(line, '\t')) {
      std::string& out = row.emplace_back();
      for (size_t i = 0; i < field.size(); ++i) {
        if (field[i] != '\\' || i + 1 == field.size()) {
          out.push_back(field[i]);
          continue;
        }
        const char c = field[++i];
        constexpr std::string_view kEscaped = "bfrnt0", kMeant("\b\f\r\n\t\0", 6);
        const size_t which = kEscaped.find(c);
        out.push_back(which == std::string_view::npos ? c : kMeant[which]);
      }
    }
  }
  return rows;
}

void put_string(std::string& rows, std::string_view text) {
  uint64_t size = text.size();
  for (; size >= 0x80; size >>= 7) rows.push_back(static_cast<char>(size | 0x80));
  rows.push_back(static_cast<char>(size));
  rows.append(text);
}

}  // namespace sonde::io
