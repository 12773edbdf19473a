// Azure's blob store, asked with a shared access signature: az://CONTAINER/PREFIX.
#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "io/remote/http.h"
#include "io/remote/object_store.h"
#include "io/remote/s3.h"
#include "io/remote/xml.h"

namespace sonde::io {
namespace {

constexpr size_t kMostPages = 100'000;  // of five thousand blobs each

class AzureStore final : public ObjectStore {
 public:
  AzureStore() : signature_(variable("AZURE_STORAGE_SAS_TOKEN")) {
    if (signature_.starts_with('?')) signature_.erase(0, 1);
    endpoint_ = variable("AZURE_STORAGE_ENDPOINT");
    const std::string account = variable("AZURE_STORAGE_ACCOUNT");
    if (endpoint_.empty() && !account.empty())
      endpoint_ = "https://" + account + ".blob.core.windows.net";
    while (endpoint_.ends_with('/')) endpoint_.pop_back();
  }

  bool reads(std::string_view path) const override { return path.starts_with(kScheme); }

  Result<void> check(std::string_view root) const override {
    if (root.size() == kScheme.size() || root.substr(kScheme.size()).starts_with('/'))
      return fail(Code::kInvalid, "write az://CONTAINER/PREFIX, not '" + std::string(root) + "'");
    if (endpoint_.empty())
      return fail(Code::kInvalid,
                  "az:// needs AZURE_STORAGE_ACCOUNT (or AZURE_STORAGE_ENDPOINT) and a signature "
                  "in AZURE_STORAGE_SAS_TOKEN");
    return {};
  }

  Result<void> list(const std::string& root, Wanted wanted, const Take& fn) override {
    const bool is_probe = wanted == Wanted::kProbe;
    const auto [container, key] = parts_of(root);
    const std::string prefix = key.empty() ? "" : as_folder(key);
    std::string marker;
    uint64_t seen = 0;
    for (size_t pages = 0; pages < kMostPages; ++pages) {
      std::string query = "restype=container&comp=list&prefix=" + percent_encoded(prefix);
      if (!marker.empty()) query += "&marker=" + percent_encoded(marker);
      if (is_probe) query += "&maxresults=1";
      SONDE_TRY(const answer, ask("GET", container, query, {}, uint64_t{64} << 20));
      if (answer.status != 200) return refused(root, answer);
      size_t from = 0;
      while (const auto blob = xml_element(answer.body, "Blob", from)) {
        ++seen;
        SONDE_TRY(object, object_of(container, *blob));
        if (!is_probe && !fn(std::move(object))) return {};
      }
      const std::string next = xml_unescaped(xml_element(answer.body, "NextMarker"));
      if (is_probe || next.empty() || next == marker) break;
      marker = next;
    }
    if (seen == 0 && !key.empty() && (wanted == Wanted::kAll || is_event_file(key))) {
      if (auto object = head(root)) fn(std::move(*object));
    }
    return {};
  }

  Result<RemoteObject> head(const std::string& path) override {
    const auto [container, key] = parts_of(path);
    SONDE_TRY(const answer, ask("HEAD", container + "/" + key, "", {}, 0));
    if (answer.status != 200) return refused(path, answer);
    RemoteObject object{path, std::string(answer.header("etag")), 0,
                        parse_s3_time(answer.header("last-modified"))};
    const std::string_view size = answer.header("content-length");
    std::from_chars(size.data(), size.data() + size.size(), object.size);
    return object;
  }

  Result<std::string> read(const RemoteObject& object, uint64_t offset, uint64_t length) override {
    if (length == 0) return std::string();
    const auto [container, key] = parts_of(object.path);
    std::vector<std::pair<std::string, std::string>> headers = {
        {"Range", "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + length - 1)}};
    if (!object.version.empty()) headers.emplace_back("If-Match", object.version);
    SONDE_TRY(answer, ask("GET", container + "/" + key, "", headers, length));
    if (answer.status == 416) return std::string();
    if (answer.status == 206 || (answer.status == 200 && offset == 0))
      return std::move(answer.body);
    return refused(object.path, answer);
  }

  // Small ones in one request. Large ones as blocks and a list of them: blocks that an earlier list
  // holds need not be sent again.
  Result<RemoteObject> write(const std::string& path, UploadBytes& content,
                             const RemoteObject* before) override {
    const auto [container, key] = parts_of(path);
    const std::string blob = container + "/" + key;
    const uint64_t size = content.size();
    if (size <= kUploadPart) {
      SONDE_TRY(const body, content.read(0, size));
      SONDE_TRY(const answer,
                ask("PUT", blob, "", {{"x-ms-blob-type", "BlockBlob"}}, kMostSaid, body));
      if (answer.status != 201) return refused(path, answer);
      return RemoteObject{path, std::string(answer.header("etag")), size, 0};
    }
    const uint64_t kept = before && before->size > kUploadPart ? before->size / kUploadPart : 0;
    std::string list = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
    for (uint64_t i = 0; i * kUploadPart < size; ++i) {
      const std::string id = "sonde" + std::to_string(100'000'000'000 + i);  // valid base64
      list += "<Latest>" + id + "</Latest>";
      if (i < kept) continue;
      SONDE_TRY(const body,
                content.read(i * kUploadPart, std::min(kUploadPart, size - i * kUploadPart)));
      SONDE_TRY(const answer, ask("PUT", blob, "comp=block&blockid=" + id, {}, kMostSaid, body));
      if (answer.status != 201) return refused(path, answer);
    }
    list += "</BlockList>";
    SONDE_TRY(const answer, ask("PUT", blob, "comp=blocklist", {}, kMostSaid, list));
    if (answer.status != 201) {
      if (kept > 0) return write(path, content, nullptr);  // the blocks are not there any more
      return refused(path, answer);
    }
    return RemoteObject{path, std::string(answer.header("etag")), size, 0};
  }

 private:
  static constexpr std::string_view kScheme = "az://";
  static constexpr uint64_t kMostSaid = uint64_t{1} << 20;  // of an answer to something written

  static std::pair<std::string, std::string> parts_of(std::string_view path) {
    path.remove_prefix(kScheme.size());
    const size_t slash = std::min(path.find('/'), path.size());
    return {std::string(path.substr(0, slash)),
            std::string(path.substr(std::min(slash + 1, path.size())))};
  }

  static Result<RemoteObject> object_of(const std::string& container, std::string_view blob) {
    RemoteObject object;
    const std::string name = xml_unescaped(xml_element(blob, "Name"));
    object.path = std::string(kScheme) + container + "/" + name;
    object.version = xml_unescaped(xml_element(blob, "Etag"));
    // A listing leaves out the quotes that the header has and a condition needs.
    if (!object.version.empty() && !object.version.starts_with('"'))
      object.version = '"' + object.version + '"';
    object.modified_s = parse_s3_time(xml_element(blob, "Last-Modified"));
    const std::string_view size = xml_element(blob, "Content-Length");
    const auto [end, problem] =
        std::from_chars(size.data(), size.data() + size.size(), object.size);
    if (name.empty() || problem != std::errc())
      return fail(Code::kCorrupt, "the listing holds a blob without a name or size");
    return object;
  }

  Result<HttpAnswer> ask(std::string_view method, const std::string& path, const std::string& query,
                         const std::vector<std::pair<std::string, std::string>>& headers,
                         uint64_t most_bytes, std::string_view body = {}) const {
    HttpRequest request;
    request.method = method;
    request.body = body;
    request.url = endpoint_ + "/" + percent_encoded(path, "/");
    if (!query.empty() || !signature_.empty()) request.url += "?" + query;
    if (!signature_.empty()) request.url += (query.empty() ? "" : "&") + signature_;
    request.max_answer_bytes = most_bytes;
    return http_patiently(request, [&](HttpRequest& ready) {
      ready.headers = headers;
      ready.headers.emplace_back("x-ms-version", "2021-08-06");
    });
  }

  // Never names the address: the signature is part of it.
  static tl::unexpected<Error> refused(const std::string& what, const HttpAnswer& answer) {
    const std::string code(answer.header("x-ms-error-code").substr(0, 60));
    const std::string said = code.empty() ? "" : ", " + code;
    if (answer.status == 404) return fail(Code::kNotFound, what + ": not there" + said);
    if (answer.status == 401 || answer.status == 403)
      return fail(Code::kForbidden, what + ": the store refuses (status " +
                                        std::to_string(answer.status) + said +
                                        "); check the signature in AZURE_STORAGE_SAS_TOKEN");
    if (answer.status == 412) return fail(Code::kConflict, what + ": changed while it was read");
    return fail(Code::kIo,
                what + ": the store answers with status " + std::to_string(answer.status) + said);
  }

  std::string endpoint_, signature_;
};

}  // namespace

std::unique_ptr<ObjectStore> make_azure_store() { return std::make_unique<AzureStore>(); }

}  // namespace sonde::io
