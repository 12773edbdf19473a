// A run of MLflow's file store: a folder with meta.yaml, params/<name> (the value) and
// metrics/<tag> (a line a point: time in ms, value, step).
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "log/trackers/meta_yaml.h"
#include "log/trackers/readers.h"
#include "log/trackers/tail_file.h"
#include "log/trackers/values.h"

namespace sonde::trackers {
namespace {

constexpr size_t kChunk = 1 << 20;
constexpr size_t kMaxFiles = 100'000;
constexpr size_t kMaxDepth = 16;
constexpr uint64_t kMaxParamBytes = 64 << 10;

// Regular files below a folder by their path in it ("val/acc"), with their stat.
std::map<std::string, io::FileStat> files_below(const std::string& root) {
  std::map<std::string, io::FileStat> files;
  std::vector<std::pair<std::string, size_t>> folders = {{"", 0}};
  while (!folders.empty() && files.size() < kMaxFiles) {
    const auto [below, depth] = std::move(folders.back());
    folders.pop_back();
    DIR* dir = ::opendir((root + "/" + below).c_str());
    if (!dir) continue;
    while (const dirent* entry = ::readdir(dir)) {
      if (entry->d_name[0] == '.' || files.size() >= kMaxFiles) continue;
      struct stat s;
      if (::fstatat(::dirfd(dir), entry->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
      const std::string name = below.empty() ? entry->d_name : below + "/" + entry->d_name;
      if (S_ISREG(s.st_mode)) files.emplace(name, io::converted(s));
      if (S_ISDIR(s.st_mode) && depth < kMaxDepth) folders.emplace_back(name, depth + 1);
    }
    ::closedir(dir);
  }
  return files;
}

class MlrunsReader final : public RunReader {
 public:
  explicit MlrunsReader(std::string folder) : folder_(std::move(folder)) {}

  Result<bool> read(RunSink& sink) override {
    const Meta meta = read_meta(folder_ + "/meta.yaml");
    if (const auto start = number_in(meta.at("start_time"))) sink.started(*start / 1000);
    Config config;
    for (const auto& [name, stat] : files_below(folder_ + "/params")) {
      if (auto text = io::read_file(folder_ + "/params/" + name, kMaxParamBytes))
        add_config(config, name, config_value(trimmed(*text)));
    }
    config_ = std::move(config);
    bool more = false;
    for (const auto& [tag, stat] : files_below(folder_ + "/metrics")) {
      if (sink.full()) return true;
      SONDE_TRY(rest, read_metric(sink, tag));
      more = more || rest;
    }
    if (more) return true;
    // RUNNING, SCHEDULED, FINISHED, FAILED, KILLED are 1 to 5.
    const auto status = number_in(meta.at("status")).value_or(1);
    const double end = number_in(meta.at("end_time")).value_or(0) / 1000;
    if (status >= 3) sink.ended(status == 3 ? RunSink::End::kFinished : RunSink::End::kFailed, end);
    return false;
  }

  void rewind() override { files_.clear(); }

  Result<io::FileStat> stat() const override {
    SONDE_TRY(all, io::stat_of(folder_ + "/meta.yaml"));
    for (const char* part : {"/metrics", "/params"}) {
      for (const auto& [name, stat] : files_below(folder_ + part)) {
        all.size += stat.size;
        all.mtime_ns = std::max(all.mtime_ns, stat.mtime_ns);
      }
    }
    return all;
  }

 private:
  Result<bool> read_metric(RunSink& sink, const std::string& tag) {
    const auto file = files_.try_emplace(tag, folder_ + "/metrics/" + tag).first;
    SONDE_TRY(is_other, file->second.open());
    if (is_other) {
      // One file of many was written anew: everything is handed on again.
      sink.restart();
      files_.clear();
      return true;
    }
    SONDE_TRY(bytes, file->second.read(kChunk));
    const size_t end = bytes.rfind('\n');
    const size_t used = end == bytes.npos ? 0 : end + 1;
    file->second.give_back(bytes.size() - used);
    if (used == 0 && bytes.size() == kChunk)
      return fail(Code::kCorrupt, file->second.path() + ": a line is longer than 1 MB");
    for (const std::string_view line : split(std::string_view(bytes).substr(0, used), '\n')) {
      const std::vector<std::string_view> parts = split(trimmed(line), ' ');
      if (parts.size() < 2) continue;
      const auto time = number_in(parts[0]), value = number_in(parts[1]);
      const double step = parts.size() > 2 ? number_in(parts[2]).value_or(0) : 0;
      if (time && value) sink.number(to_utf8(tag), step_of(step), *time / 1000, *value);
    }
    file->second.close();
    return bytes.size() == kChunk;
  }

  const std::string folder_;
  std::map<std::string, TailFile> files_;
};

}  // namespace

Meta read_meta(const std::string& path) {
  Meta meta;
  const auto text = io::read_file(path, 1 << 20);
  if (!text) return meta;
  for (const std::string_view line : split(*text, '\n')) {
    const size_t colon = line.find(": ");
    if (colon == line.npos || line.starts_with(' ') || line.starts_with('-')) continue;
    std::string_view value = trimmed(line.substr(colon + 2));
    if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"') &&
        value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    meta.values.emplace(line.substr(0, colon), to_utf8(value));
  }
  return meta;
}

std::unique_ptr<RunReader> read_mlruns(std::string folder) {
  return std::make_unique<MlrunsReader>(std::move(folder));
}

}  // namespace sonde::trackers
