#include "io/remote/s3.h"

#include <algorithm>
#include <charconv>
#include <ctime>

#include "base/sha256.h"
#include "base/strings.h"
#include "io/remote/xml.h"

namespace sonde::io {
namespace {

constexpr size_t kMostPages = 100'000;  // of a thousand objects each

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[24];
  const size_t size = std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return {text, size};
}

tl::unexpected<Error> refused(std::string_view bucket, std::string_view key,
                              const HttpAnswer& answer) {
  const std::string what = "s3://" + std::string(bucket) + "/" + std::string(key);
  const std::string code = to_utf8(xml_element(answer.body, "Code").substr(0, 100));
  const std::string said = code.empty() ? "" : ", " + code;
  if (answer.status == 404) return fail(Code::kNotFound, what + ": not there" + said);
  if (answer.status == 401 || answer.status == 403) {
    return fail(Code::kForbidden, what + ": the store refuses (status " +
                                      std::to_string(answer.status) + said +
                                      "); check the keys in AWS_ACCESS_KEY_ID or ~/.aws");
  }
  if (answer.status == 412) return fail(Code::kConflict, what + ": changed while it was read");
  return fail(Code::kIo,
              what + ": the store answers with status " + std::to_string(answer.status) + said);
}

}  // namespace

int64_t parse_s3_time(std::string_view text) {
  const std::string copy(text.substr(0, 40));
  std::tm parts{};
  if (!::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) &&
      !::strptime(copy.c_str(), "%a, %d %b %Y %H:%M:%S", &parts))
    return 0;
  return ::timegm(&parts);
}

Result<S3Page> parse_s3_page(std::string_view xml) {
  if (xml.find("<ListBucketResult") == std::string_view::npos)
    return fail(Code::kCorrupt, "the answer is no listing of a bucket");
  S3Page page;
  size_t from = 0;
  const bool is_encoded = xml_element(xml, "EncodingType") == "url";
  while (const auto contents = xml_element(xml, "Contents", from)) {
    S3Object object;
    object.key = xml_unescaped(xml_element(*contents, "Key"));
    if (is_encoded) object.key = percent_decoded(object.key, Plus::kSpace);
    object.etag = xml_unescaped(xml_element(*contents, "ETag"));
    object.modified_s = parse_s3_time(xml_element(*contents, "LastModified"));
    const std::string_view size = xml_element(*contents, "Size");
    const auto [end, problem] =
        std::from_chars(size.data(), size.data() + size.size(), object.size);
    if (object.key.empty() || problem != std::errc() || end != size.data() + size.size())
      return fail(Code::kCorrupt, "the listing holds an object without a key or size");
    page.objects.push_back(std::move(object));
  }
  if (xml_element(xml, "IsTruncated") == "true")
    page.next = xml_unescaped(xml_element(xml, "NextContinuationToken"));
  return page;
}

S3Config S3Client::config() const {
  const std::lock_guard lock(mutex_);
  return config_;
}

Result<HttpAnswer> S3Client::ask(const Question& question) {
  const std::string payload = sha256_hex(question.body);
  const auto attempt = [&](const S3Config& config) {
    const S3Address address = s3_address(config, question.bucket);
    std::string path = address.path;
    if (!question.key.empty() || path.empty()) path += "/" + percent_encoded(question.key, "/");
    HttpRequest request;
    request.method = question.method;
    request.max_answer_bytes = question.max_answer_bytes;
    request.body = question.body;
    request.url = address.scheme + "://" + address.host + path;
    if (!question.query.empty()) request.url += "?" + canonical_query(question.query);
    return http_patiently(request, [&](HttpRequest& ready) {
      ready.headers = question.headers;
      if (config.credentials.is_anonymous()) return;
      const std::string time = now_text();
      ready.headers.emplace_back("x-amz-content-sha256", payload);
      ready.headers.emplace_back("x-amz-date", time);
      if (!config.credentials.session_token.empty())
        ready.headers.emplace_back("x-amz-security-token", config.credentials.session_token);
      const S3Request to_sign{question.method, address.host,  path,
                              question.query,  ready.headers, payload};
      ready.headers.emplace_back("Authorization", s3_authorization(to_sign, config.credentials,
                                                                   config.region, "s3", time));
    });
  };
  const S3Config first = config();
  auto answer = attempt(first);
  if (!answer || answer->status < 300 || answer->status == 404) return answer;
  // A bucket of another region says so: ask there from now on.
  const std::string region(answer->header("x-amz-bucket-region"));
  if (region.empty() || region == first.region || region.size() > 40) return answer;
  S3Config corrected = first;
  corrected.region = region;
  answer = attempt(corrected);
  if (answer && answer->status < 300) {
    const std::lock_guard lock(mutex_);
    config_.region = region;
  }
  return answer;
}

Result<void> S3Client::list(std::string_view bucket, std::string_view prefix,
                            const std::function<bool(S3Object)>& fn) {
  std::string next;
  for (size_t pages = 0; pages < kMostPages; ++pages) {
    Question question;
    question.bucket = bucket;
    question.query = {
        {"encoding-type", "url"}, {"list-type", "2"}, {"prefix", std::string(prefix)}};
    if (!next.empty()) question.query.emplace_back("continuation-token", next);
    SONDE_TRY(const answer, ask(question));
    if (answer.status != 200) return refused(bucket, prefix, answer);
    SONDE_TRY(page, parse_s3_page(answer.body));
    for (S3Object& object : page.objects) {
      if (!fn(std::move(object))) return {};
    }
    if (page.next.empty() || page.next == next) return {};
    next = std::move(page.next);
  }
  return fail(Code::kTooLarge, "s3://" + std::string(bucket) + ": more than 10⁸ objects");
}

Result<S3Object> S3Client::head(std::string_view bucket, std::string_view key) {
  Question question;
  question.method = "HEAD";
  question.bucket = bucket;
  question.key = key;
  SONDE_TRY(const answer, ask(question));
  if (answer.status != 200) return refused(bucket, key, answer);
  S3Object object;
  object.key = key;
  object.etag = answer.header("etag");
  object.modified_s = parse_s3_time(answer.header("last-modified"));
  const std::string_view size = answer.header("content-length");
  std::from_chars(size.data(), size.data() + size.size(), object.size);
  return object;
}

Result<std::string> S3Client::read(std::string_view bucket, std::string_view key,
                                   std::string_view etag, uint64_t offset, uint64_t length) {
  if (length == 0) return std::string();
  Question question;
  question.bucket = bucket;
  question.key = key;
  question.headers.emplace_back(
      "range", "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + length - 1));
  if (!etag.empty()) question.headers.emplace_back("if-match", etag);
  question.max_answer_bytes = length;
  SONDE_TRY(answer, ask(question));
  if (answer.status == 416) return std::string();  // behind the end
  if (answer.status == 206 || (answer.status == 200 && offset == 0)) return std::move(answer.body);
  return refused(bucket, key, answer);
}

Result<std::string> S3Client::put(std::string_view bucket, std::string_view key,
                                  std::string_view body) {
  Question question;
  question.method = "PUT";
  question.bucket = bucket;
  question.key = key;
  question.headers.emplace_back("content-type", "application/octet-stream");
  question.body = body;
  SONDE_TRY(const answer, ask(question));
  if (answer.status != 200) return refused(bucket, key, answer);
  return std::string(answer.header("etag"));
}

Result<std::string> S3Client::begin_parts(std::string_view bucket, std::string_view key) {
  Question question;
  question.method = "POST";
  question.bucket = bucket;
  question.key = key;
  question.query.emplace_back("uploads", "");
  question.headers.emplace_back("content-type", "application/octet-stream");
  SONDE_TRY(const answer, ask(question));
  if (answer.status != 200) return refused(bucket, key, answer);
  std::string upload = xml_unescaped(xml_element(answer.body, "UploadId"));
  if (upload.empty()) return fail(Code::kIo, "the store begins no upload in parts");
  return upload;
}

Result<std::string> S3Client::put_part(std::string_view bucket, std::string_view key,
                                       std::string_view upload, size_t number,
                                       std::string_view body) {
  Question question;
  question.method = "PUT";
  question.bucket = bucket;
  question.key = key;
  question.query = {{"partNumber", std::to_string(number)}, {"uploadId", std::string(upload)}};
  question.headers.emplace_back("content-type", "application/octet-stream");
  question.body = body;
  SONDE_TRY(const answer, ask(question));
  if (answer.status != 200) return refused(bucket, key, answer);
  return std::string(answer.header("etag"));
}

Result<std::string> S3Client::copy_part(std::string_view bucket, std::string_view key,
                                        std::string_view upload, size_t number,
                                        const Copied& from) {
  Question question;
  question.method = "PUT";
  question.bucket = bucket;
  question.key = key;
  question.query = {{"partNumber", std::to_string(number)}, {"uploadId", std::string(upload)}};
  question.headers = {
      {"content-type", "application/octet-stream"},
      {"x-amz-copy-source", "/" + std::string(bucket) + "/" + percent_encoded(key, "/")},
      {"x-amz-copy-source-if-match", std::string(from.etag)},
      {"x-amz-copy-source-range", "bytes=" + std::to_string(from.offset) + "-" +
                                      std::to_string(from.offset + from.length - 1)}};
  SONDE_TRY(const answer, ask(question));
  // The status is sent before the copy is done; what went wrong is in the body then.
  std::string etag = xml_unescaped(xml_element(answer.body, "ETag"));
  if (answer.status == 200 && !etag.empty()) return etag;
  if (answer.status == 412 || answer.status == 404) return refused(bucket, key, answer);
  return fail(answer.status >= 500 && answer.status != 501 ? Code::kIo : Code::kUnsupported,
              "the store does not copy parts (status " + std::to_string(answer.status) + ")");
}

Result<std::string> S3Client::finish_parts(std::string_view bucket, std::string_view key,
                                           std::string_view upload,
                                           const std::vector<std::string>& etags) {
  std::string list = "<CompleteMultipartUpload>";
  for (size_t i = 0; i < etags.size(); ++i) {
    list += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + etags[i] +
            "</ETag></Part>";
  }
  list += "</CompleteMultipartUpload>";
  Question question;
  question.method = "POST";
  question.bucket = bucket;
  question.key = key;
  question.query.emplace_back("uploadId", upload);
  question.headers.emplace_back("content-type", "application/xml");
  question.body = list;
  SONDE_TRY(const answer, ask(question));
  std::string etag = xml_unescaped(xml_element(answer.body, "ETag"));
  if (answer.status == 200 && !etag.empty()) return etag;  // 200 with an error inside is an error
  return refused(bucket, key, answer);
}

void S3Client::forget_parts(std::string_view bucket, std::string_view key,
                            std::string_view upload) {
  Question question;
  question.method = "DELETE";
  question.bucket = bucket;
  question.key = key;
  question.query.emplace_back("uploadId", upload);
  [[maybe_unused]] const auto answer = ask(question);  // the store forgets by itself after a while
}

}  // namespace sonde::io
