#include "io/remote/upload.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/strings.h"
#include "io/remote/beside.h"
#include "io/remote/remote.h"

namespace sonde::io {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kSecond = 1'000'000'000;

class FileBytes final : public UploadBytes {
 public:
  explicit FileBytes(File file) : file_(std::move(file)) {}
  uint64_t size() const override { return file_.stat().size; }
  Result<std::string> read(uint64_t offset, uint64_t length) override {
    std::string bytes(length, '\0');
    SONDE_TRY(const n, file_.read_at(offset, {reinterpret_cast<std::byte*>(bytes.data()), length}));
    if (n != length) return fail(Code::kIo, "the file was cut while it was uploaded");
    return bytes;
  }

 private:
  File file_;
};

bool is_left_out(std::string_view name) {
  return name.starts_with('.') || name.find(".new.") != name.npos;
}

}  // namespace

Result<void> check_upload(const std::string& address) {
  ObjectStore* store = store_of(address);
  const std::string_view scheme = scheme_of(address);
  if (!store || (scheme != "s3" && scheme != "gs" && scheme != "az"))
    return fail(Code::kUnsupported, "cannot write to " + address +
                                        ": files are written to s3://, gs:// and az://, and to "
                                        "folders of this machine");
  return store->check(address);
}

std::map<std::string, FileStat> FolderUpload::files() const {
  std::map<std::string, FileStat> found;
  std::error_code error;
  fs::recursive_directory_iterator it(folder_, fs::directory_options::skip_permission_denied,
                                      error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (is_left_out(it->path().filename().string())) {
      if (it->is_directory(ignored)) it.disable_recursion_pending();
      continue;
    }
    if (!it->is_regular_file(ignored)) continue;
    std::string below = it->path().lexically_relative(folder_).generic_string();
    if (wants_ && !wants_(below)) continue;
    if (const auto stat = stat_of(it->path().string())) found.emplace(std::move(below), *stat);
  }
  return found;
}

bool FolderUpload::is_sent(const std::string& below, const FileStat& stat) const {
  if (const auto found = sent_.find(below); found != sent_.end()) return found->second.stat == stat;
  const auto found = seen_.find(below);
  return found != seen_.end() && found->second.size == stat.size &&
         found->second.modified_s >= stat.mtime_ns / kSecond;
}

Result<void> FolderUpload::look() {
  SONDE_TRY(objects, list_remote(address_));
  const std::string prefix = as_folder(address_);
  for (RemoteObject& object : objects) {
    if (object.path.starts_with(prefix))
      seen_.insert_or_assign(object.path.substr(prefix.size()), std::move(object));
  }
  return {};
}

Result<void> FolderUpload::pass(Moved& moved) {
  if (auto good = check_upload(address_); !good) return good;
  ObjectStore& store = *store_of(address_);
  std::optional<Error> first;
  for (const auto& [below, stat] : files()) {
    if (is_sent(below, stat)) continue;
    auto file = File::open(folder_ + "/" + below);
    if (!file) continue;  // gone meanwhile
    const FileStat now = file->stat();
    FileBytes bytes(std::move(*file));
    const auto before = sent_.find(below);
    // Only a file that grew begins with what is there.
    const bool has_grown = before != sent_.end() && before->second.stat.same_file(now) &&
                           before->second.object.size <= now.size &&
                           below.find("tfevents") != below.npos;
    auto object = store.write(as_folder(address_) + below, bytes,
                              has_grown ? &before->second.object : nullptr);
    if (!object) {
      if (!first) first = object.error();
      continue;
    }
    ++moved.files;
    moved.bytes += now.size - (has_grown ? before->second.object.size : 0);
    sent_.insert_or_assign(below, Sent{now, std::move(*object)});
  }
  if (first) return fail(*first);
  return {};
}

size_t FolderUpload::waiting() const {
  const auto all = files();
  return static_cast<size_t>(std::ranges::count_if(
      all, [&](const auto& file) { return !is_sent(file.first, file.second); }));
}

void FolderUpload::remove_sent() const {
  for (const auto& [below, stat] : files()) {
    if (!is_sent(below, stat)) continue;
    fs::path path = folder_ + "/" + below;
    ::unlink(path.c_str());
    // Up to the folder itself; one that holds something stays.
    while (path.string().size() > folder_.size() && path.has_parent_path()) {
      path = path.parent_path();
      if (::rmdir(path.c_str()) != 0) break;
    }
  }
}

Result<Moved> download_folder(const std::string& address, const std::string& folder) {
  ObjectStore& store = *store_of(address);
  SONDE_TRY(const objects, list_remote(address));
  const std::string prefix = as_folder(address);
  Moved moved;
  for (const RemoteObject& object : objects) {
    // A single object goes under its own name.
    std::string below = object.path.starts_with(prefix)
                            ? object.path.substr(prefix.size())
                            : object.path.substr(object.path.rfind('/') + 1);
    if (address.starts_with("http")) below = percent_decoded(below);
    const auto is_bad = [](std::string_view part) {
      return part.empty() || part == "." || part == "..";
    };
    if (std::ranges::any_of(split(below, '/'), is_bad) || below.find('\0') != below.npos)
      return fail(Code::kCorrupt, object.path + ": its name would lead out of the folder");
    const std::string path = folder + "/" + below;
    const auto there = stat_of(path);
    if (there && there->size == object.size && there->mtime_ns / kSecond >= object.modified_s)
      continue;
    if (auto done = download(store, object, path); !done) return fail(done.error());
    ++moved.files;
    moved.bytes += object.size;
  }
  return moved;
}

}  // namespace sonde::io
