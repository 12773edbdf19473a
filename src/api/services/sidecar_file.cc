#include "api/services/sidecar_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/sha256.h"
#include "io/remote/remote.h"
#include "io/write_file.h"

namespace sonde::api::v1 {
namespace {

constexpr size_t kMaxBytes = 32u << 20;
constexpr int kMaxDepth = 64;  // read_json allows no more, so this only guards the recursion

std::string real_path(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.string();
}

void merge(JsonValue& target, const JsonValue& patch, int depth) {
  if (!patch.is_object() || depth > kMaxDepth) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = JsonValue::object();
  for (const auto& [name, value] : patch.members) {
    const auto same = [&name = name](const auto& member) { return member.first == name; };
    if (value.is_null()) {
      std::erase_if(target.members, same);
      continue;
    }
    auto at = std::find_if(target.members.begin(), target.members.end(), same);
    if (at == target.members.end()) {
      target.members.emplace_back(name, JsonValue{});
      at = std::prev(target.members.end());
    }
    merge(at->second, value, depth + 1);
  }
}

}  // namespace

std::string state_folder_of(const store::Options& options) {
  const std::string folder = io::state_folder();
  if (folder.empty()) return {};
  std::string names;
  for (const auto& root : options.roots) {
    if (!names.empty()) names += '\n';
    names += real_path(root.path);
  }
  return folder + "/" + sha256_hex(names).substr(0, 16);
}

SidecarFile::SidecarFile(const store::Options& options, const Settings& settings) {
  const std::string& wish = settings.sidecar;
  // Several roots have no common folder to put it in.
  const bool own =
      wish.empty() && options.roots.size() == 1 && !io::is_address(options.roots[0].path);
  if (own) path_ = options.roots[0].path + "/.sonde/sidecar.json";
  if (!wish.empty() && wish != "off") path_ = wish + "/sidecar.json";
  const bool kept_there = own && ::access(path_.c_str(), F_OK) == 0;
  if (path_.empty() || (own && !kept_there && !io::may_write_at(path_))) {
    const std::string folder = state_folder_of(options);
    path_ = folder.empty() ? "" : folder + "/sidecar.json";
  }
  writable_ = !path_.empty() && io::may_write_at(path_) && !settings.read_only_sidecar;
  if (path_.empty()) {
    why_not_ = "there is no place to keep the sidecar: set HOME, or give a folder with --sidecar";
  } else if (settings.read_only_sidecar) {
    why_not_ = "the sidecar is read-only: the program was started so";
  } else {
    why_not_ = fmt::format("'{}' cannot be written", path_);
  }
}

Result<SidecarFile::Document> SidecarFile::read_locked() {
  Document document;
  auto text = path_.empty() ? fail(Code::kNotFound, "") : io::read_whole(path_, kMaxBytes);
  if (!text) {
    if (text.error().code != Code::kNotFound) return fail(std::move(text).error());
    text = R"({"sonde":1})";
  }
  auto value = read_json(*text);
  if (!value || !value->is_object()) {
    return fail(Code::kCorrupt,
                fmt::format("'{}' is not a JSON object; repair it or move it away", path_));
  }
  document.value = std::move(*value);
  document.text = to_text(document.value);
  document.etag = "\"" + sha256_hex(document.text).substr(0, 24) + "\"";
  return document;
}

Result<SidecarFile::Document> SidecarFile::read() {
  const std::lock_guard lock(mutex_);
  return read_locked();
}

Result<SidecarFile::Document> SidecarFile::patch(const JsonValue& patch,
                                                 std::optional<std::string_view> if_match) {
  if (!writable_) return fail(Code::kForbidden, why_not_);
  if (!patch.is_object()) return fail(Code::kInvalid, "a patch is a JSON object");
  const std::lock_guard lock(mutex_);
  SONDE_TRY(document, read_locked());
  if (if_match && *if_match != "*" && *if_match != document.etag)
    return fail(Code::kConflict, "the sidecar was changed by somebody else; read it again");
  merge(document.value, patch, 0);
  if (!document.value.find("sonde")) {
    document.value.members.insert(
        document.value.members.begin(),
        {"sonde", JsonValue{JsonValue::Kind::kNumber, false, "1", {}, {}}});
  }
  document.text = to_text(document.value);
  if (document.text.size() > kMaxBytes)
    return fail(Code::kTooLarge, fmt::format("the sidecar would exceed {} bytes", kMaxBytes));
  document.etag = "\"" + sha256_hex(document.text).substr(0, 24) + "\"";
  if (auto written = io::write_whole(path_, document.text + "\n"); !written)
    return fail(std::move(written).error());
  return document;
}

void merge_patch(JsonValue& target, const JsonValue& patch) { merge(target, patch, 0); }

}  // namespace sonde::api::v1
