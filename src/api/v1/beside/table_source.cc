#include "api/v1/beside/table_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/services/services.h"
#include "api/v1/support.h"
#include "base/strings.h"
#include "io/mapped_file.h"
#include "log/trackers/values.h"
#include "table/parquet_lines.h"

namespace sonde::api::v1 {
namespace {

constexpr uint64_t kMostParquetText = uint64_t{128} << 20;

// What sonde.Table writes is found without reading the row; other programs say it somewhere.
std::optional<int64_t> step_of_row(std::string_view line) {
  constexpr std::string_view kOwn = "{\"_step\":";
  if (line.starts_with(kOwn)) {
    return std::strtoll(std::string(line.substr(kOwn.size(), 24)).c_str(), nullptr, 10);
  }
  const auto row = trackers::read_python_json(line);
  if (!row) return std::nullopt;
  for (const char* name : {"_step", "step", "global_step", "iteration"}) {
    const JsonValue* found = row->find(name);
    if (found && found->integer()) return found->integer();
  }
  return std::nullopt;
}

query::LineIndex index_of_text(const std::string& text, int64_t otherwise) {
  query::LineIndex index;
  index.bytes = text.size();
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    if (end == text.npos) break;
    if (index.lines++ % query::LineIndex::kEvery == 0) index.starts.push_back(at);
    index.steps.push_back(
        step_of_row(std::string_view(text).substr(at, end - at)).value_or(otherwise));
    at = end + 1;
  }
  return index;
}

constexpr std::array<std::string_view, 9> kTokens = {
    "tokens",         "token_strs", "response_tokens", "token_ids", "response_ids",
    "completion_ids", "output_ids", "input_ids",       "prompt_ids"};
constexpr size_t kMostTokens = 100'000;

bool is_number_list(const JsonValue& value) {
  return value.is_array() && std::ranges::all_of(value.items, [](const JsonValue& one) {
           return one.is_null() || one.number().has_value();
         });
}

// {"token_ids": [5, 7], "logprobs": [-1, -2]} -> {"token_ids": {"_tokens": …, "values": {"logprobs": …}}}
void fold_tokens(JsonValue& row) {
  for (const std::string_view name : kTokens) {
    const auto found = std::ranges::find(row.members, name, &JsonMember::first);
    if (found == row.members.end() || !found->second.is_array()) continue;
    const size_t count = found->second.items.size();
    if (count == 0 || count > kMostTokens) continue;
    JsonValue values = JsonValue::object();
    for (const JsonMember& one : row.members) {
      if (&one != &*found && one.second.items.size() == count && is_number_list(one.second) &&
          std::ranges::find(kTokens, one.first) == kTokens.end())
        values.members.push_back(one);
    }
    if (values.members.empty()) continue;
    JsonValue words;
    words.kind = JsonValue::Kind::kArray;
    for (const JsonValue& token : found->second.items)
      words.items.push_back(
          JsonValue::string(token.is_string() ? token.text : to_text(token) + " "));
    JsonValue folded = JsonValue::object();
    folded.members.push_back({"_tokens", std::move(words)});
    std::erase_if(row.members, [&](const JsonMember& one) {
      return std::ranges::find(values.members, one.first, &JsonMember::first) !=
             values.members.end();
    });
    folded.members.push_back({"values", std::move(values)});
    std::ranges::find(row.members, name, &JsonMember::first)->second = std::move(folded);
    return;
  }
}

// A batch of one, as NeMo-RL logs each sample: everything but its number is a list of one.
void unwrap_batch(JsonValue& row) {
  size_t lists = 0;
  for (const JsonMember& one : row.members) {
    if (one.first == "idx") continue;
    if (!one.second.is_array() || one.second.items.size() != 1) return;
    ++lists;
  }
  if (lists < 2) return;
  for (JsonMember& one : row.members) {
    if (!one.second.is_array()) continue;
    JsonValue only = std::move(one.second.items.front());
    one.second = std::move(only);
  }
}

}  // namespace

Result<JsonValue> read_row(std::string_view line) {
  SONDE_TRY(row, trackers::read_python_json(line));
  if (row.is_object() && !line.starts_with("{\"_step\":")) {
    unwrap_batch(row);
    fold_tokens(row);
  }
  return row;
}

Result<TableSource> TableSource::open(const Context& context, const TableFile& table) {
  TableSource out;
  for (const TablePart& file : table.parts) {
    SONDE_TRY(stat, io::stat_of(file.path));
    Part part;
    part.path = file.path;
    part.first = out.lines_;
    const int64_t otherwise = file.step.value_or(0);
    const uint64_t mark =
        hash_of(fmt::format("{}.{}.{}.{}", stat.device, stat.inode, stat.size, stat.mtime_ns));
    auto& memo = context.services.memo();
    std::optional<Error> failed;
    if (file.is_parquet) {
      part.text = memo.get<std::string>("parquet\n" + file.path, mark, [&](const std::string*) {
        auto mapped = io::MappedFile::open(file.path);
        auto made = mapped ? table::parquet_lines(mapped->bytes(), kMostParquetText)
                           : Result<std::string>(fail(mapped.error()));
        if (!made) failed = std::move(made.error()).in(file.path);
        return made ? std::move(*made) : std::string();
      });
      if (failed) return fail(*failed);
      part.index = memo.get<query::LineIndex>(
          "parquet index\n" + file.path, mark,
          [&](const query::LineIndex*) { return index_of_text(*part.text, otherwise); });
    } else {
      part.index = memo.get<query::LineIndex>(
          "table\n" + file.path, mark, [&](const query::LineIndex* earlier) {
            auto made = query::index_lines(file.path, earlier, [&](std::string_view line) {
              return step_of_row(line).value_or(otherwise);
            });
            if (!made) failed = made.error();
            return made ? std::move(*made) : query::LineIndex{};
          });
      if (failed) return fail(*failed);
    }
    out.lines_ += part.index->lines;
    out.parts_.push_back(std::move(part));
  }
  return out;
}

const TableSource::Part& TableSource::part_of(uint64_t line) const {
  const auto after = std::ranges::upper_bound(parts_, line, {}, &Part::first);
  return *std::prev(after);
}

int64_t TableSource::step(uint64_t line) const {
  const Part& part = part_of(line);
  return part.index->steps[line - part.first];
}

std::vector<int64_t> TableSource::different_steps() const {
  std::vector<int64_t> out;
  for (const Part& part : parts_) {
    // Rows of a step mostly follow each other.
    for (const int64_t step : part.index->steps) {
      if (out.empty() || out.back() != step) out.push_back(step);
    }
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Result<void> TableSource::read(uint64_t first,
                               const std::function<bool(uint64_t, std::string_view)>& fn) const {
  bool goes_on = true;
  for (const Part& part : parts_) {
    if (!goes_on) break;
    const uint64_t from = first > part.first ? first - part.first : 0;
    if (from >= part.index->lines) continue;
    const auto hand_on = [&](uint64_t number, std::string_view line) {
      return goes_on = fn(part.first + number, line);
    };
    if (!part.text) {
      if (auto read = query::read_lines(part.path, *part.index, from, hand_on); !read) return read;
      continue;
    }
    uint64_t number = from / query::LineIndex::kEvery * query::LineIndex::kEvery;
    size_t at = part.index->starts[from / query::LineIndex::kEvery];
    const std::string_view text = *part.text;
    for (; goes_on && number < part.index->lines; ++number) {
      const size_t end = text.find('\n', at);
      if (number >= from) hand_on(number, text.substr(at, end - at));
      at = end + 1;
    }
  }
  return {};
}

}  // namespace sonde::api::v1
