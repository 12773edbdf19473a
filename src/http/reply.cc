#include "http/reply.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <charconv>
#include <ctime>
#include <optional>

#include "base/strings.h"
#include "http/encoding.h"

namespace sonde::http {
namespace {

constexpr size_t kWorthCompressing = 1024;
constexpr size_t kCheap = 1 << 20;

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 416:
      return "Range Not Satisfiable";
    case 422:
      return "Unprocessable Content";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 507:
      return "Insufficient Storage";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
}

// The Date line, made once a second and thread.
std::string_view date_line() {
  thread_local std::time_t made = 0;
  thread_local char line[48] = {};
  thread_local size_t size = 0;
  if (const std::time_t now = std::time(nullptr); now != made) {
    std::tm utc{};
    gmtime_r(&now, &utc);
    size = std::strftime(line, sizeof line, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
    made = now;
  }
  return {line, size};
}

// Whether If-None-Match names the tag; comparison is weak, as the header demands.
bool tag_listed(std::string_view header, std::string_view tag) {
  const auto opaque = [](std::string_view t) { return t.starts_with("W/") ? t.substr(2) : t; };
  if (trimmed(header) == "*") return true;
  for (const std::string_view part : split(header, ',')) {
    if (opaque(trimmed(part)) == opaque(tag)) return true;
  }
  return false;
}

struct ByteRange {
  size_t first, last;
};
enum class Asked : uint8_t { kWhole, kPart, kImpossible };

// One range of bytes; several at once, other units and nonsense are answered with the whole.
Asked parse_range(std::string_view header, size_t size, ByteRange& range) {
  if (!header.starts_with("bytes=") || header.find(',') != std::string_view::npos) {
    return Asked::kWhole;
  }
  const std::string_view spec = trimmed(header.substr(6));
  const size_t dash = spec.find('-');
  if (dash == std::string_view::npos) return Asked::kWhole;
  const auto number = [](std::string_view text) -> std::optional<size_t> {
    size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) return SIZE_MAX;
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  };
  const std::string_view left = spec.substr(0, dash), right = spec.substr(dash + 1);
  if (left.empty()) {  // the last n bytes
    const auto n = number(right);
    if (!n) return Asked::kWhole;
    if (*n == 0 || size == 0) return Asked::kImpossible;
    range = {size - std::min(*n, size), size - 1};
    return Asked::kPart;
  }
  const auto first = number(left);
  const auto last = right.empty() ? std::optional<size_t>(SIZE_MAX) : number(right);
  if (!first || !last || *last < *first) return Asked::kWhole;
  if (*first >= size) return Asked::kImpossible;
  range = {*first, std::min(*last, size - 1)};
  return Asked::kPart;
}

class HeadWriter {
 public:
  HeadWriter(Reply& reply, const Policy& policy, const Head& request)
      : reply_(reply), request_(request) {
    reply.head.reserve(1024);
    reply.head = fmt::format(FMT_COMPILE("HTTP/1.1 {} {}\r\n"), reply.status, reason(reply.status));
    reply.head += date_line();
    reply.head += policy.security_headers;
  }

  // A value with a line break or NUL would end the header: such a line is left out.
  void line(std::string_view name, std::string_view value) {
    if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) return;
    std::string& out = reply_.head;
    out.append(name).append(": ").append(value).append("\r\n");
  }

  void cache(api::Cache cache) {
    switch (cache) {
      case api::Cache::kNoCache:
        reply_.head += "Expires: 0\r\nCache-Control: no-cache, must-revalidate\r\n";
        break;
      case api::Cache::kNoStore:
        reply_.head += "Cache-Control: no-store\r\n";
        break;
      case api::Cache::kImmutable:
        reply_.head += "Cache-Control: private, max-age=31536000, immutable\r\n";
        break;
    }
  }

  void content_length(size_t length) {
    fmt::format_to(std::back_inserter(reply_.head), FMT_COMPILE("Content-Length: {}\r\n"), length);
  }

  void end() {
    if (!request_.keep_alive) reply_.close = true;
    if (reply_.close) {
      reply_.head += "Connection: close\r\n";
    } else if (request_.version == 10) {
      reply_.head += "Connection: keep-alive\r\n";
    }
    reply_.head += "\r\n";
  }

 private:
  Reply& reply_;
  const Head& request_;
};

std::string full_type(std::string_view type) {
  std::string full(type);
  if (full.starts_with("text/") && full.find("charset") == std::string::npos &&
      full != "text/event-stream") {
    full += "; charset=utf-8";
  }
  return full;
}

bool has_header(const api::Answer& answer, std::string_view name) {
  for (const auto& [key, value] : answer.headers) {
    if (key == name) return true;
  }
  return false;
}

// Decides what is sent of a whole body: 304, a part, a compressed form.
struct Form {
  Coding coding = Coding::kIdentity;
  std::string content_range;
  bool varies = false;
};

Form choose_form(Reply& reply, api::Answer& answer, const Head& request, Compress compress) {
  Form form;
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  const std::string_view body = reply.body();
  if (answer.etag.empty() && is_read && reply.status == 200 &&
      answer.cache == api::Cache::kNoCache) {
    answer.etag = content_tag(body);
  }
  if (is_read && reply.status == 200 && !answer.etag.empty()) {
    const std::string_view known = request.header("if-none-match");
    if (!known.empty() && tag_listed(known, answer.etag)) {
      reply.status = 304;
      return form;
    }
  }
  const std::string_view wanted = request.header("range");
  const std::string_view condition = request.header("if-range");
  if (answer.allows_range && is_read && reply.status == 200 && !wanted.empty() &&
      (condition.empty() || condition == answer.etag)) {
    ByteRange range{};
    const Asked asked = parse_range(wanted, body.size(), range);
    if (asked == Asked::kImpossible) {
      reply.status = 416;
      form.content_range = fmt::format("bytes */{}", body.size());
      reply.length = 0;
      return form;
    }
    if (asked == Asked::kPart) {
      reply.status = 206;
      form.content_range = fmt::format("bytes {}-{}/{}", range.first, range.last, body.size());
      reply.offset = range.first;
      reply.length = range.last - range.first + 1;
      return form;
    }
  }
  if (compress != Compress::kNo && is_compressible(answer.content_type) &&
      body.size() >= kWorthCompressing && (compress == Compress::kYes || body.size() <= kCheap) &&
      !has_header(answer, "Content-Encoding")) {
    form.varies = true;
    const Accepted accepted = accepted_codings(request.header("accept-encoding"));
    std::string packed;
    if (accepted.zstd) {
      form.coding = Coding::kZstd;
      packed = zstd_packed(body);
    } else if (accepted.gzip && compress == Compress::kYes) {
      form.coding = Coding::kGzip;
      packed = gzipped(body);
    }
    if (packed.empty()) {
      form.coding = Coding::kIdentity;
    } else {
      reply.content = std::move(packed);
      // Another coding is another representation: a strong tag must not name both.
      if (!answer.etag.empty() && !answer.etag.starts_with("W/")) answer.etag.insert(0, "W/");
    }
  }
  return form;
}

// Pieces stay apart where nobody looks at the body as a whole: one copy less of a large answer.
bool may_stay_apart(const api::Answer& answer, const Head& request, Compress compress) {
  if (request.method == "GET" || request.method == "HEAD") return false;  // tags, ranges
  if (compress == Compress::kNo || !is_compressible(answer.content_type)) return true;
  const Accepted accepted = accepted_codings(request.header("accept-encoding"));
  return !accepted.zstd && (!accepted.gzip || compress == Compress::kCheap);
}

std::string joined(api::Pieces pieces) {
  size_t size = 0;
  for (const std::string& piece : pieces) size += piece.size();
  std::string body;
  body.reserve(size);
  for (std::string& piece : pieces) {
    body += piece;
    std::string().swap(piece);
  }
  return body;
}

}  // namespace

std::string content_tag(std::string_view body) {
  return fmt::format(FMT_COMPILE("W/\"{:016x}\""), content_hash(body));
}

size_t Reply::size() const {
  size_t size = body().size();
  if (const auto* pieces = std::get_if<api::Pieces>(&content)) {
    for (const std::string& piece : *pieces) size += piece.size();
  }
  return size;
}

api::Stream* Reply::stream() const {
  const auto* stream = std::get_if<std::shared_ptr<api::Stream>>(&content);
  return stream ? stream->get() : nullptr;
}

api::EventStream* Reply::events() const {
  const auto* events = std::get_if<std::shared_ptr<api::EventStream>>(&content);
  return events ? events->get() : nullptr;
}

std::string_view Reply::body() const {
  std::string_view whole = fixed;
  if (const auto* text = std::get_if<std::string>(&content); text && !text->empty()) whole = *text;
  if (const auto* shared = std::get_if<api::SharedText>(&content)) whole = **shared;
  return whole.substr(std::min(offset, whole.size()), length);
}

Policy make_policy(const std::vector<std::string>& frame_hosts,
                   const std::vector<std::string>& frame_ancestors) {
  Policy policy;
  policy.security_headers =
      "X-Content-Type-Options: nosniff\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "Cross-Origin-Opener-Policy: same-origin\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n"
      "Permissions-Policy: camera=(), geolocation=(), microphone=()\r\n";
  policy.csp =
      "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
      "media-src 'self' blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; "
      "object-src 'none'; base-uri 'none'; form-action 'self'; "
      "frame-ancestors 'self' http://localhost:* https://localhost:* http://127.0.0.1:* "
      "vscode-webview:";
  for (const std::string& host : frame_hosts) {
    if (host != "*") policy.csp += " http://" + host + ":* https://" + host + ":*";
  }
  for (const std::string& site : frame_ancestors) policy.csp += " " + site;
  return policy;
}

Reply make_reply(const Policy& policy, api::Answer answer, const Head& request, Compress compress) {
  Reply reply;
  reply.status = answer.status;
  reply.head_only = request.method == "HEAD";
  reply.content = std::move(answer.body);
  if (api::Pieces* pieces = reply.pieces(); pieces && !may_stay_apart(answer, request, compress)) {
    reply.content = joined(std::move(*pieces));
  }
  const bool is_open_ended = api::is_open_ended(reply.content);
  Form form;
  if (!is_open_ended) form = choose_form(reply, answer, request, compress);

  HeadWriter head(reply, policy, request);
  if (reply.status == 304) reply.head_only = true;
  if (!answer.content_type.empty() && reply.status != 204 && reply.status != 304) {
    head.line("Content-Type", full_type(answer.content_type));
  }
  head.cache(reply.events() ? api::Cache::kNoStore : answer.cache);
  if (!answer.etag.empty()) head.line("ETag", answer.etag);
  head.line("Content-Security-Policy", answer.csp.empty() ? policy.csp : answer.csp);
  if (form.varies) head.line("Vary", "Accept-Encoding");
  if (form.coding != Coding::kIdentity) head.line("Content-Encoding", name_of(form.coding));
  if (answer.allows_range) head.line("Accept-Ranges", "bytes");
  if (!form.content_range.empty()) head.line("Content-Range", form.content_range);
  for (const auto& [name, value] : answer.headers) head.line(name, value);
  if (is_open_ended) {
    if (reply.events() && !has_header(answer, "X-Accel-Buffering")) {
      head.line("X-Accel-Buffering", "no");
    }
    if (request.version == 11) {
      reply.chunked = true;
      head.line("Transfer-Encoding", "chunked");
    } else {
      reply.close = true;
    }
  } else if (reply.status != 204 && reply.status != 304) {
    head.content_length(reply.size());
  }
  head.end();
  return reply;
}

Reply make_reply(const Policy& policy, const Asset& asset, const Head& request) {
  const Accepted accepted = accepted_codings(request.header("accept-encoding"));
  const bool has_packed = asset.gzip.data || asset.brotli.data;
  Coding coding = Coding::kIdentity;
  Reply reply;
  reply.head_only = request.method == "HEAD";
  reply.fixed = asset.plain.view();
  if (accepted.brotli && asset.brotli.data) {
    coding = Coding::kBrotli;
    reply.fixed = asset.brotli.view();
  } else if (accepted.gzip && asset.gzip.data) {
    coding = Coding::kGzip;
    reply.fixed = asset.gzip.view();
  }
  const std::string etag =
      fmt::format("\"{}{}\"", asset.hash,
                  coding == Coding::kIdentity ? std::string() : "-" + std::string(name_of(coding)));
  const std::string_view known = request.header("if-none-match");
  if (!known.empty() && tag_listed(known, etag)) {
    reply.status = 304;
    reply.head_only = true;
  }
  HeadWriter head(reply, policy, request);
  if (reply.status == 200) head.line("Content-Type", asset.type);
  head.cache(asset.is_immutable() ? api::Cache::kImmutable : api::Cache::kNoCache);
  head.line("ETag", etag);
  head.line("Content-Security-Policy", policy.csp);
  if (has_packed) head.line("Vary", "Accept-Encoding");
  if (coding != Coding::kIdentity && reply.status == 200) {
    head.line("Content-Encoding", name_of(coding));
  }
  if (reply.status == 200) head.content_length(reply.fixed.size());
  head.end();
  return reply;
}

Reply make_refusal(const Policy& policy, int status, std::string_view text) {
  Head request;
  request.keep_alive = false;
  api::Answer answer;
  answer.status = status;
  answer.content_type = "text/plain";
  answer.body = std::string(text) + "\n";
  answer.cache = api::Cache::kNoStore;
  return make_reply(policy, std::move(answer), request, Compress::kNo);
}

}  // namespace sonde::http
