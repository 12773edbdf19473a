#include "api/v1/beside/sample_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "api/services/found_folders.h"
#include "api/services/services.h"
#include "api/v1/support.h"
#include "base/strings.h"
#include "io/file.h"
#include "io/remote/beside.h"
#include "log/trackers/rows.h"
#include "log/trackers/values.h"

namespace sonde::api::v1 {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostTables = 1000, kMostFolders = 2000, kMostFilesOfFolder = 20'000;
constexpr int kMostDepth = 8;
constexpr size_t kHeadBytes = 64 << 10;
constexpr uint64_t kMaxRewrittenHead = 64 << 10;

// %xx of a file's name undone.
std::string decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto hex = [&](char c) {
      return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
      out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::vector<TableFile> logged_tables(const store::RunSnapshot& run) {
  std::vector<TableFile> out;
  const fs::path root = fs::path(io::local_view(run.folder)) / "tables";
  std::error_code failed;
  auto entry =
      fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied, failed);
  size_t seen = 0;
  for (; !failed && entry != fs::recursive_directory_iterator() && out.size() < kMostTables &&
         seen < kMostTables + kMostFolders;
       entry.increment(failed), ++seen) {
    if (entry.depth() >= kMostDepth) entry.disable_recursion_pending();
    std::error_code ignored;
    if (!entry->is_regular_file(ignored) || entry->path().extension() != ".jsonl") continue;
    const std::string name = entry->path().lexically_relative(root).replace_extension().string();
    out.push_back({run.name,
                   decoded(name),
                   {{entry->path().string(), std::nullopt, false}},
                   entry->file_size(ignored)});
  }
  return out;
}

// Rows of samples: objects with a text or a list, and no log of numbers.
bool holds_samples(const std::string& path) {
  auto file = io::File::open(path);
  if (!file) return false;
  std::string head(static_cast<size_t>(std::min<uint64_t>(kHeadBytes, file->stat().size)), '\0');
  const auto got = file->read_at(0, {reinterpret_cast<std::byte*>(head.data()), head.size()});
  if (!got) return false;
  head.resize(*got);
  if (!head.starts_with('{')) return false;
  const size_t end = head.find('\n');
  // A first row longer than that is one of samples: no log has such rows.
  if (end == head.npos) return head.size() == kHeadBytes;
  if (trackers::json_lines_look_like(head) != trackers::LooksLike::kOther) return false;
  const auto row = trackers::read_python_json(std::string_view(head).substr(0, end));
  return row && row->is_object() && std::ranges::any_of(row->members, [](const JsonMember& one) {
           return one.second.is_string() || one.second.is_array();
         });
}

struct SampleFile {
  std::string name;
  bool is_parquet = false;
};

// Of one folder; looked at again when something came or went.
std::shared_ptr<const std::vector<SampleFile>> files_of(const Context& context,
                                                        const std::string& folder) {
  const auto stat = io::stat_of(folder);
  if (!stat) return std::make_shared<const std::vector<SampleFile>>();
  return context.services.memo().get<std::vector<SampleFile>>(
      "sample files\n" + folder,
      hash_of(fmt::format("{}.{}.{}", stat->device, stat->inode, stat->mtime_ns)),
      [&](const std::vector<SampleFile>*) {
        std::vector<SampleFile> out;
        std::error_code failed;
        auto entry = fs::directory_iterator(folder, failed);
        for (; !failed && entry != fs::directory_iterator() && out.size() < kMostFilesOfFolder;
             entry.increment(failed)) {
          const std::string end = entry->path().extension().string();
          std::error_code ignored;
          if ((end != ".jsonl" && end != ".parquet") || !entry->is_regular_file(ignored)) continue;
          out.push_back({entry->path().filename().string(), end == ".parquet"});
        }
        // Examples of What-If have a page of their own.
        if (!out.empty() && io::stat_of(folder + "/whatif.json")) out.clear();
        return out;
      });
}

bool is_sample_file(const Context& context, const std::string& path, const io::FileStat& stat) {
  // What was decided by a whole head stays decided while the file grows.
  const uint64_t seen = std::min(stat.size, kMaxRewrittenHead);
  return context.services.memo()
      .get<std::string>(
          "samples?\n" + path, hash_of(fmt::format("{}.{}.{}", stat.device, stat.inode, seen)),
          [&](const std::string*) { return std::string(holds_samples(path) ? "y" : "n"); })
      ->starts_with('y');
}

std::string parent_of(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == name.npos ? "." : name.substr(0, slash);
}

bool has_part(const std::string& name, std::string_view part) {
  return ("/" + name + "/").find("/" + std::string(part) + "/") != std::string::npos;
}

// The run that a folder's files belong to: the folder, or the next one above it that is a run;
// without any the folder above it.
std::string owner_of(const store::Snapshot& snapshot, const std::string& folder) {
  for (std::string at = folder;; at = parent_of(at)) {
    if (snapshot.find(at)) return at;
    if (at == ".") break;
  }
  return folder == "." ? "." : parent_of(folder);
}

// The path of a folder below its owner, "" for the owner itself.
std::string below(const std::string& owner, const std::string& folder) {
  if (folder == owner) return "";
  return owner == "." ? folder : folder.substr(owner.size() + 1);
}

void add_sample_tables(const Context& context, const store::Snapshot& snapshot,
                       std::vector<TableFile>& out) {
  const auto folders = found_folders(context);
  std::map<std::tuple<std::string, std::string>, TableFile> tables;
  for (const io::NamedFolder& folder : *folders) {
    if (has_part(folder.name, "tables") || has_part(folder.name, "media") ||
        has_part(folder.name, ".sonde"))
      continue;
    const auto files = files_of(context, folder.path);
    if (files->empty()) continue;
    const std::string owner = owner_of(snapshot, folder.name);
    const std::string path = below(owner, folder.name);
    for (const SampleFile& file : *files) {
      if (tables.size() >= kMostTables) break;
      const std::string whole = folder.path + "/" + file.name;
      const auto stat = io::stat_of(whole);
      if (!stat || stat->size == 0) continue;
      if (!file.is_parquet && !is_sample_file(context, whole, *stat)) continue;
      const NumberedName name =
          numbered_name(std::string_view(file.name).substr(0, file.name.rfind('.')));
      // completions/completions_00010.parquet is "completions", rollouts/7.jsonl "rollouts".
      const bool is_said =
          name.stem.empty() || path == name.stem || path.ends_with("/" + name.stem);
      std::string called = path;
      if (!is_said || path.empty())
        called += (path.empty() ? "" : "/") + (name.stem.empty() ? "samples" : name.stem);
      TableFile& table = tables[{owner, called}];
      table.run = owner;
      table.name = called;
      table.bytes += stat->size;
      table.parts.push_back({whole, name.step, file.is_parquet});
    }
  }
  for (auto& [key, table] : tables) {
    std::ranges::sort(table.parts, [](const TablePart& a, const TablePart& b) {
      return std::tuple(a.step.value_or(-1), a.path) < std::tuple(b.step.value_or(-1), b.path);
    });
    const bool is_taken = std::ranges::any_of(
        out, [&](const TableFile& one) { return one.run == table.run && one.name == table.name; });
    if (!is_taken) out.push_back(std::move(table));
  }
}

}  // namespace

NumberedName numbered_name(std::string_view stem) {
  size_t digits = stem.size();
  while (digits > 0 && stem[digits - 1] >= '0' && stem[digits - 1] <= '9') --digits;
  const size_t count = stem.size() - digits;
  if (count == 0 || count > 18) return {std::string(stem), std::nullopt};
  const int64_t step = std::strtoll(std::string(stem.substr(digits)).c_str(), nullptr, 10);
  std::string_view before = stem.substr(0, digits);
  const auto strip = [&](std::string_view ends) {
    while (!before.empty() && ends.find(before.back()) != ends.npos) before.remove_suffix(1);
  };
  strip("_-.=");
  for (const std::string_view word : {"global_step", "step", "iter", "epoch"}) {
    if (!before.ends_with(word)) continue;
    before.remove_suffix(word.size());
    break;
  }
  strip("_-.=");
  return {std::string(before), step};
}

std::optional<TableFile> logged_table(const store::RunSnapshot& run, std::string_view name) {
  for (TableFile& table : logged_tables(run)) {
    if (table.name == name) return std::move(table);
  }
  return std::nullopt;
}

std::vector<TableFile> all_tables(const Context& context, const store::Snapshot& snapshot) {
  std::vector<TableFile> out;
  for (const auto& run : snapshot.runs) {
    for (TableFile& table : logged_tables(*run)) out.push_back(std::move(table));
  }
  add_sample_tables(context, snapshot, out);
  std::ranges::sort(out, [](const TableFile& a, const TableFile& b) {
    const int runs = natural_compare(a.run, b.run);
    return runs != 0 ? runs < 0 : natural_compare(a.name, b.name) < 0;
  });
  return out;
}

Result<TableFile> find_table(const Context& context, const store::Snapshot& snapshot,
                             std::string_view run, std::string_view name) {
  const store::RunSnapshot* found = snapshot.find(run);
  if (found) {
    if (auto table = logged_table(*found, name)) return *std::move(table);
  }
  std::vector<TableFile> others;
  add_sample_tables(context, snapshot, others);
  bool has_run = found != nullptr;
  for (TableFile& table : others) {
    has_run = has_run || table.run == run;
    if (table.run == run && table.name == name) return std::move(table);
  }
  if (!has_run) return fail(Code::kNotFound, fmt::format("there is no run '{}'", run));
  return fail(Code::kNotFound, fmt::format("run '{}' has no table '{}'", run, name));
}

}  // namespace sonde::api::v1
