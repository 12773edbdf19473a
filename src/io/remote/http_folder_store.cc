// Folders of a web server that lists them as pages of links (nginx, Apache, Caddy, Python): each
// folder is one page, each event file is asked for its size.
#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

#include "base/strings.h"
#include "io/remote/http.h"
#include "io/remote/object_store.h"
#include "io/remote/s3.h"
#include "io/remote/xml.h"

namespace sonde::io {
namespace {

constexpr size_t kMostFolders = 100'000;
constexpr uint64_t kMostPage = uint64_t{64} << 20;
constexpr uint64_t kMostWhole = uint64_t{64} << 20;  // of a server that knows no ranges

// The targets of <a href="...">, as they are written.
std::vector<std::string> links_in(std::string_view html) {
  std::vector<std::string> links;
  for (size_t at = 0; (at = html.find("href=", at)) != std::string_view::npos;) {
    at += 5;
    if (at >= html.size()) break;
    const char quote = html[at];
    if (quote != '"' && quote != '\'') continue;
    const size_t end = html.find(quote, at + 1);
    if (end == std::string_view::npos) break;
    links.push_back(xml_unescaped(html.substr(at + 1, end - at - 1)));
    at = end + 1;
  }
  return links;
}

std::string origin_of(std::string_view url) {
  const size_t host = url.find("://") + 3;
  return std::string(url.substr(0, std::min(url.find('/', host), url.size())));
}

// The address a link of a page leads to; empty when it leaves the folder.
std::string below(const std::string& folder, std::string_view link) {
  link = link.substr(0, link.find_first_of("?#"));
  std::string target;
  if (link.empty() || link.starts_with("//")) return "";
  if (link.starts_with('/')) {
    target = origin_of(folder) + std::string(link);
  } else if (link.find("://") != std::string_view::npos) {
    target = link;
  } else if (link.starts_with("./")) {
    target = folder + std::string(link.substr(2));
  } else {
    target = folder + std::string(link);
  }
  if (!target.starts_with(folder) || target.size() == folder.size()) return "";
  // One name, perhaps with the slash of a folder; dots would lead elsewhere.
  const std::string_view name = std::string_view(target).substr(folder.size());
  const size_t slash = name.find('/');
  if (slash != std::string_view::npos && slash + 1 != name.size()) return "";
  const std::string decoded = percent_decoded(name.substr(0, slash));
  const bool leads_elsewhere =
      decoded.empty() || decoded == "." || decoded == ".." || decoded.find('/') != decoded.npos;
  return leads_elsewhere ? "" : target;
}

class HttpFolderStore final : public ObjectStore {
 public:
  HttpFolderStore() : authorization_(variable("SONDE_HTTP_AUTHORIZATION")) {}

  bool reads(std::string_view path) const override {
    return path.starts_with("http://") || path.starts_with("https://");
  }

  Result<void> check(std::string_view root) const override {
    const std::string host = origin_of(root);
    if (host.ends_with("://"))
      return fail(Code::kInvalid, "write http://HOST/PATH, not '" + std::string(root) + "'");
    if (host.find('@') != std::string::npos)
      return fail(Code::kInvalid,
                  "an address with a password would be shown on the page; put 'Basic ...' or "
                  "'Bearer ...' into SONDE_HTTP_AUTHORIZATION instead");
    if (root.find_first_of("?#") != std::string_view::npos)
      return fail(Code::kInvalid, "the address of a folder has no '?' and no '#'");
    return {};
  }

  Result<void> list(const std::string& root, Wanted wanted, const Take& fn) override {
    const bool is_probe = wanted == Wanted::kProbe;
    if (is_event_file(root)) {
      SONDE_TRY(object, head(root));
      if (!is_probe) fn(std::move(object));
      return {};
    }
    std::vector<std::string> folders = {as_folder(root)};
    std::set<std::string> seen(folders.begin(), folders.end());
    for (size_t at = 0; at < folders.size(); ++at) {
      const std::string folder = folders[at];
      SONDE_TRY(const page, ask("GET", folder, {}, kMostPage));
      if (page.status != 200) {
        if (at > 0 && page.status != 401 && page.status != 403) continue;  // gone meanwhile
        return refused(folder, page);
      }
      if (is_probe) return {};
      for (const std::string& link : links_in(page.body)) {
        std::string target = below(folder, link);
        if (target.empty() || !seen.insert(target).second) continue;
        if (target.ends_with('/')) {
          if (folders.size() == kMostFolders)
            return fail(Code::kTooLarge, root + ": more than a hundred thousand folders");
          folders.push_back(std::move(target));
        } else if (wanted == Wanted::kAll || is_event_file(percent_decoded(target))) {
          auto object = head(target);
          if (!object && object.error().code == Code::kNotFound) continue;
          if (!object) return fail(object.error());
          if (!fn(std::move(*object))) return {};
        }
      }
    }
    return {};
  }

  Result<RemoteObject> head(const std::string& path) override {
    SONDE_TRY(const answer, ask("HEAD", path, {}, 0));
    if (answer.status != 200) return refused(path, answer);
    RemoteObject object{path, version_of(answer), 0, parse_s3_time(answer.header("last-modified"))};
    const std::string_view size = answer.header("content-length");
    const auto [end, problem] =
        std::from_chars(size.data(), size.data() + size.size(), object.size);
    if (problem != std::errc())
      return fail(Code::kUnsupported, path + ": the server does not say how large the file is");
    return object;
  }

  Result<std::string> read(const RemoteObject& object, uint64_t offset, uint64_t length) override {
    if (length == 0) return std::string();
    const std::string range =
        "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + length - 1);
    SONDE_TRY(answer, ask("GET", object.path, {{"Range", range}}, std::max(length, kMostWhole)));
    if (answer.status == 416) return std::string();
    if (answer.status != 206 && answer.status != 200) return refused(object.path, answer);
    if (version_of(answer) != object.version)
      return fail(Code::kConflict, object.path + ": changed while it was read");
    // The whole file from a server that knows no ranges.
    if (answer.status == 200)
      return offset < answer.body.size() ? answer.body.substr(offset, length) : std::string();
    return std::move(answer.body);
  }

 private:
  static std::string version_of(const HttpAnswer& answer) {
    const std::string_view tag = answer.header("etag");
    return std::string(tag.empty() ? answer.header("last-modified") : tag);
  }

  Result<HttpAnswer> ask(std::string_view method, const std::string& url,
                         const std::vector<std::pair<std::string, std::string>>& headers,
                         uint64_t most_bytes) const {
    HttpRequest request;
    request.method = method;
    request.url = url;
    request.max_answer_bytes = most_bytes;
    return http_patiently(request, [&](HttpRequest& ready) {
      ready.headers = headers;
      if (!authorization_.empty()) ready.headers.emplace_back("Authorization", authorization_);
    });
  }

  static tl::unexpected<Error> refused(const std::string& what, const HttpAnswer& answer) {
    const std::string status = std::to_string(answer.status);
    if (answer.status == 404) return fail(Code::kNotFound, what + ": not there");
    if (answer.status == 401 || answer.status == 403)
      return fail(Code::kForbidden, what + ": the server refuses (status " + status +
                                        "); SONDE_HTTP_AUTHORIZATION is sent with each request");
    return fail(Code::kIo, what + ": the server answers with status " + status);
  }

  const std::string authorization_;
};

}  // namespace

std::unique_ptr<ObjectStore> make_http_folder_store() {
  return std::make_unique<HttpFolderStore>();
}

}  // namespace sonde::io
