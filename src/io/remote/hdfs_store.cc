// Hadoop's file system through WebHDFS: hdfs://NAMENODE/PATH, webhdfs://NAMENODE:PORT/PATH.
#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "codec/json_read.h"
#include "io/remote/http.h"
#include "io/remote/object_store.h"

namespace sonde::io {
namespace {

constexpr std::string_view kHttpPort = "9870";  // of a name node since Hadoop 3
constexpr size_t kMostFolders = 1'000'000;
constexpr uint64_t kMostListing = uint64_t{256} << 20;

class HdfsStore final : public ObjectStore {
 public:
  HdfsStore() : user_(variable("HADOOP_USER_NAME")) {}

  bool reads(std::string_view path) const override {
    return path.starts_with("hdfs://") || path.starts_with("webhdfs://") ||
           path.starts_with("swebhdfs://");
  }

  Result<void> check(std::string_view root) const override {
    if (!parts_of(root).host.empty()) return {};
    return fail(Code::kInvalid,
                "write hdfs://NAMENODE/PATH or webhdfs://NAMENODE:PORT/PATH, not '" +
                    std::string(root) + "'");
  }

  Result<void> list(const std::string& root, Wanted wanted, const Take& fn) override {
    std::vector<std::string> folders = {root};
    for (size_t at = 0; at < folders.size(); ++at) {
      if (at == kMostFolders) return fail(Code::kTooLarge, root + ": more than a million folders");
      const std::string folder = folders[at];
      SONDE_TRY(const answer, ask(folder, "LISTSTATUS", "", kMostListing, false));
      if (answer.status != 200) return refused(folder, answer);
      if (wanted == Wanted::kProbe) return {};
      SONDE_TRY(const tree, read_json(answer.body));
      const JsonValue* outer = tree.find("FileStatuses");
      const JsonValue* entries = outer ? outer->find("FileStatus") : nullptr;
      if (!entries || !entries->is_array())
        return fail(Code::kCorrupt, folder + ": the answer is no listing of WebHDFS");
      for (const JsonValue& entry : entries->items) {
        const JsonValue* name = entry.find("pathSuffix");
        const JsonValue* type = entry.find("type");
        if (!name || !type) continue;
        const std::string path = name->text.empty() ? folder : folder + "/" + name->text;
        if (type->text == "DIRECTORY") {
          folders.push_back(path);
        } else if (!fn(object_of(path, entry))) {
          return {};
        }
      }
    }
    return {};
  }

  Result<RemoteObject> head(const std::string& path) override {
    SONDE_TRY(const answer, ask(path, "GETFILESTATUS", "", kMostListing, false));
    if (answer.status != 200) return refused(path, answer);
    SONDE_TRY(const tree, read_json(answer.body));
    const JsonValue* status = tree.find("FileStatus");
    if (!status) return fail(Code::kCorrupt, path + ": the answer is no status of WebHDFS");
    return object_of(path, *status);
  }

  Result<std::string> read(const RemoteObject& object, uint64_t offset, uint64_t length) override {
    if (length == 0) return std::string();
    SONDE_TRY(answer, ask(object.path, "OPEN",
                          "&offset=" + std::to_string(offset) + "&length=" + std::to_string(length),
                          length, true));
    if (answer.status == 200) return std::move(answer.body);
    return refused(object.path, answer);
  }

 private:
  struct Parts {
    std::string scheme, host, path;
  };
  static Parts parts_of(std::string_view path) {
    Parts parts;
    const bool names_port = !path.starts_with("hdfs://");
    parts.scheme = path.starts_with("swebhdfs://") ? "https" : "http";
    path.remove_prefix(path.find("://") + 3);
    const size_t slash = std::min(path.find('/'), path.size());
    parts.host = path.substr(0, slash);
    parts.path = slash == path.size() ? "/" : std::string(path.substr(slash));
    // The port of hdfs:// is the one of Hadoop's own protocol, which is not spoken here.
    if (!names_port) parts.host = parts.host.substr(0, parts.host.find(':'));
    if (!parts.host.empty() && parts.host.find(':') == std::string::npos)
      parts.host += ":" + std::string(kHttpPort);
    return parts;
  }

  static RemoteObject object_of(const std::string& path, const JsonValue& status) {
    const auto number = [&](std::string_view name) -> int64_t {
      const JsonValue* value = status.find(name);
      return value ? value->integer().value_or(0) : 0;
    };
    const int64_t modified_ms = number("modificationTime");
    return {path, std::to_string(modified_ms) + "." + std::to_string(number("fileId")),
            static_cast<uint64_t>(std::max<int64_t>(number("length"), 0)), modified_ms / 1000};
  }

  Result<HttpAnswer> ask(const std::string& path, std::string_view operation,
                         const std::string& more, uint64_t most_bytes, bool is_redirected) const {
    const Parts parts = parts_of(path);
    HttpRequest request;
    request.url = parts.scheme + "://" + parts.host + "/webhdfs/v1" +
                  percent_encoded(parts.path, "/") + "?op=" + std::string(operation) + more;
    if (!user_.empty()) request.url += "&user.name=" + percent_encoded(user_);
    request.max_answer_bytes = most_bytes;
    request.follows = is_redirected;  // the name node says which data node has the bytes
    return http_patiently(request, [](HttpRequest&) {});
  }

  static tl::unexpected<Error> refused(const std::string& what, const HttpAnswer& answer) {
    std::string said;
    if (const auto tree = read_json(answer.body)) {
      const JsonValue* outer = tree->find("RemoteException");
      const JsonValue* message = outer ? outer->find("message") : nullptr;
      if (message) said = ": " + to_utf8(message->text.substr(0, 200));
    }
    if (answer.status == 404) return fail(Code::kNotFound, what + ": not there" + said);
    if (answer.status == 401 || answer.status == 403)
      return fail(Code::kForbidden, what + ": the name node refuses (status " +
                                        std::to_string(answer.status) +
                                        "); HADOOP_USER_NAME says who asks" + said);
    return fail(Code::kIo, what + ": the name node answers with status " +
                               std::to_string(answer.status) + said);
  }

  const std::string user_;
};

}  // namespace

std::unique_ptr<ObjectStore> make_hdfs_store() { return std::make_unique<HdfsStore>(); }

}  // namespace sonde::io
