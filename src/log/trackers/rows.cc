#include "log/trackers/rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "log/trackers/readers.h"
#include "log/trackers/tail_file.h"
#include "log/trackers/values.h"

namespace sonde::trackers {
namespace {

constexpr size_t kChunk = 1 << 20;
constexpr size_t kMaxLine = 64 << 20;
constexpr size_t kMaxColumns = 100'000;
constexpr size_t kMaxLogText = 200;
constexpr uint64_t kMaxStateBytes = 256 << 20;

// In this order: an "epoch" beside a "step" is a value.
constexpr std::array<std::string_view, 8> kSteps = {
    "_step", "step", "global_step", "Step", "iteration", "iter", "trainer/global_step", "epoch"};
constexpr std::array<std::string_view, 5> kTimes = {"_timestamp", "timestamp", "wall_time", "_time",
                                                    "time"};
// Texts by which a row is one of samples and not of a log, however short they are.
constexpr std::array<std::string_view, 18> kSampleTexts = {
    "prompt",  "input",      "query",          "question",      "instruction", "messages",
    "content", "completion", "output",         "response",      "answer",      "generation",
    "chosen",  "rejected",   "generated_text", "conversations", "text",        "target"};
// Before this a "time" is a duration.
constexpr double kOldestTime = 9e8;

template <class Names>
int rank_of(const Names& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Reads whole lines that came since the last time.
class LineReader : public RunReader {
 public:
  explicit LineReader(std::string path) : file_(std::move(path)) {}

  Result<bool> read(RunSink& sink) override {
    SONDE_TRY(is_other, file_.open());
    if (is_other) {
      sink.restart();
      forget();
    }
    size_t chunk = kChunk;
    bool more = true;
    while (more && !sink.full()) {
      SONDE_TRY(bytes, file_.read(chunk));
      const size_t end = bytes.rfind('\n');
      if (end == bytes.npos && bytes.size() == chunk) {
        if (chunk >= kMaxLine)
          return fail(Code::kTooLarge, file_.path() + ": a line is longer than 64 MB");
        file_.give_back(bytes.size());
        chunk *= 4;
        continue;
      }
      const size_t used = end == bytes.npos ? 0 : end + 1;
      file_.give_back(bytes.size() - used);
      for (const std::string_view line : split(std::string_view(bytes).substr(0, used), '\n'))
        if (!line.empty()) take_line(sink, without_return(line));
      more = used > 0;
    }
    file_.close();
    return more;
  }

  void rewind() override {
    file_.rewind();
    forget();
  }
  Result<io::FileStat> stat() const override { return io::stat_of(file_.path()); }

 protected:
  virtual void take_line(RunSink& sink, std::string_view line) = 0;
  virtual void forget() = 0;
  // For rows without a time: when the file was written last.
  double modified() const { return file_.modified(); }

 private:
  TailFile file_;
};

class CsvReader final : public LineReader {
 public:
  using LineReader::LineReader;

 private:
  void forget() override {
    columns_.clear();
    step_ = time_ = kNone;
    rows_ = 0;
  }

  void take_line(RunSink& sink, std::string_view line) override {
    std::vector<std::string> fields = csv_fields(line);
    if (columns_.empty()) return take_header(std::move(fields));
    if (fields == columns_) return;  // written again by a program that went on
    const auto value = [&](size_t column) {
      return column < fields.size() ? number_in(fields[column]) : std::nullopt;
    };
    const Step step = step_of(value(step_).value_or(static_cast<double>(rows_)));
    ++rows_;
    const double own = value(time_).value_or(0);
    const double time = own > kOldestTime ? own : modified();
    for (size_t i = 0; i < std::min(fields.size(), columns_.size()); ++i) {
      if (i == step_ || (i == time_ && own > kOldestTime) || fields[i].empty()) continue;
      if (const auto number = number_in(fields[i])) {
        sink.number(columns_[i], step, time, *number);
      } else {
        sink.text(columns_[i], step, time, fields[i]);
      }
    }
  }

  void take_header(std::vector<std::string> names) {
    columns_ = std::move(names);
    columns_.resize(std::min(columns_.size(), kMaxColumns));
    int step_rank = INT32_MAX, time_rank = INT32_MAX;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const int step = rank_of(kSteps, columns_[i]), time = rank_of(kTimes, columns_[i]);
      if (step >= 0 && step < step_rank) step_ = i, step_rank = step;
      if (time >= 0 && time < time_rank) time_ = i, time_rank = time;
    }
  }

  static constexpr size_t kNone = SIZE_MAX;
  std::vector<std::string> columns_;
  size_t step_ = kNone, time_ = kNone;
  uint64_t rows_ = 0;
};

// The member that ranks first among the names and is a number.
template <class Names>
const JsonMember* first_of(const JsonValue& row, const Names& names) {
  const JsonMember* best = nullptr;
  int best_rank = INT32_MAX;
  for (const JsonMember& member : row.members) {
    const int rank = rank_of(names, member.first);
    if (rank < 0 || rank >= best_rank || !number_of(member.second)) continue;
    best = &member;
    best_rank = rank;
  }
  return best;
}

void take_row(RunSink& sink, const JsonValue& row, uint64_t index, double modified) {
  const JsonMember* step_member = first_of(row, kSteps);
  const JsonMember* time_member = first_of(row, kTimes);
  const Step step = step_of(step_member ? number_of(step_member->second).value_or(0)
                                        : static_cast<double>(index));
  const double own = time_member ? number_of(time_member->second).value_or(0) : 0;
  if (own <= kOldestTime) time_member = nullptr;
  const double time = time_member ? own : modified;
  for (const JsonMember& member : row.members) {
    if (&member != step_member && &member != time_member)
      hand_on(sink, member.first, member.second, step, time);
  }
}

class JsonLinesReader final : public LineReader {
 public:
  using LineReader::LineReader;

 private:
  void forget() override { rows_ = 0; }
  void take_line(RunSink& sink, std::string_view line) override {
    const auto row = read_python_json(line);
    if (row && row->is_object()) take_row(sink, *row, rows_, modified());
    ++rows_;
  }
  uint64_t rows_ = 0;
};

// Written anew at every save; what it held before is its beginning nearly always.
class TrainerStateReader final : public RunReader {
 public:
  explicit TrainerStateReader(std::string path) : path_(std::move(path)) {}

  Result<bool> read(RunSink& sink) override {
    SONDE_TRY(now, io::stat_of(path_));
    if (now == seen_) return false;
    SONDE_TRY(text, io::read_file(path_, kMaxStateBytes));
    auto state = read_python_json(text);
    const JsonValue* history = state ? state->find("log_history") : nullptr;
    if (!history || !history->is_array())
      return fail(Code::kCorrupt, path_ + ": no log_history in it");
    if (seen_.size > 0) sink.restart();
    seen_ = now;
    const double modified = static_cast<double>(now.mtime_ns) * 1e-9;
    for (const JsonValue& row : history->items) {
      const JsonMember* step = first_of(row, kSteps);
      const Step at = step_of(step ? number_of(step->second).value_or(0) : 0);
      for (const JsonMember& member : row.members) {
        if (&member == step) continue;
        std::string_view name = member.first;
        const bool is_evaluation = name.starts_with("eval_");
        if (is_evaluation) name.remove_prefix(5);
        hand_on(sink, (is_evaluation ? "eval/" : "train/") + std::string(name), member.second, at,
                modified);
      }
    }
    return false;
  }
  void rewind() override { seen_ = {}; }
  Result<io::FileStat> stat() const override { return io::stat_of(path_); }

 private:
  const std::string path_;
  io::FileStat seen_;
};

// The first two whole lines.
std::optional<std::pair<std::string_view, std::string_view>> first_lines(std::string_view head) {
  const size_t first = head.find('\n');
  if (first == head.npos) return std::nullopt;
  const size_t second = head.find('\n', first + 1);
  if (second == head.npos) return std::nullopt;
  return std::pair(without_return(head.substr(0, first)),
                   without_return(head.substr(first + 1, second - first - 1)));
}

}  // namespace

std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool in_quotes = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_quotes) {
      if (c != '"') {
        fields.back() += c;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += line[++i];
      } else {
        in_quotes = false;
      }
    } else if (c == '"') {
      in_quotes = true;
    } else if (c == ',') {
      if (fields.size() >= kMaxColumns) break;
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  for (std::string& field : fields) {
    if (!is_utf8(field)) field = to_utf8(field);
  }
  return fields;
}

bool is_step_name(std::string_view name) { return rank_of(kSteps, name) >= 0; }
bool is_time_name(std::string_view name) { return rank_of(kTimes, name) >= 0; }

LooksLike csv_looks_like(std::string_view head) {
  const auto lines = first_lines(head);
  if (!lines) return head.size() >= (64 << 10) ? LooksLike::kOther : LooksLike::kTooShort;
  const std::vector<std::string> names = csv_fields(lines->first);
  const std::vector<std::string> fields = csv_fields(lines->second);
  if (names.size() != fields.size()) return LooksLike::kOther;
  bool has_step = false, has_number = false;
  for (size_t i = 0; i < names.size(); ++i) {
    if (fields[i].empty()) continue;
    if (fields[i].size() > kMaxLogText) return LooksLike::kOther;
    const bool is_number = number_in(fields[i]).has_value();
    has_step = has_step || (is_number && is_step_name(names[i]));
    has_number = has_number || (is_number && !is_step_name(names[i]) && !is_time_name(names[i]));
  }
  return has_step && has_number ? LooksLike::kLog : LooksLike::kOther;
}

LooksLike json_lines_look_like(std::string_view head) {
  const size_t end = head.find('\n');
  if (end == head.npos) return head.size() >= (64 << 10) ? LooksLike::kOther : LooksLike::kTooShort;
  const auto row = read_python_json(head.substr(0, end));
  if (!row || !row->is_object()) return LooksLike::kOther;
  bool has_step = false, has_number = false;
  for (const JsonMember& member : row->members) {
    if (member.second.is_array() ||
        (member.second.is_string() &&
         (member.second.text.size() > kMaxLogText || rank_of(kSampleTexts, member.first) >= 0)))
      return LooksLike::kOther;
    const bool is_number = number_of(member.second).has_value();
    has_step = has_step || (is_number && is_step_name(member.first));
    has_number = has_number || member.second.is_object() ||
                 (is_number && !is_step_name(member.first) && !is_time_name(member.first));
  }
  return has_step && has_number ? LooksLike::kLog : LooksLike::kOther;
}

std::unique_ptr<RunReader> read_csv(std::string path) {
  return std::make_unique<CsvReader>(std::move(path));
}
std::unique_ptr<RunReader> read_json_lines(std::string path) {
  return std::make_unique<JsonLinesReader>(std::move(path));
}
std::unique_ptr<RunReader> read_trainer_state(std::string path) {
  return std::make_unique<TrainerStateReader>(std::move(path));
}

}  // namespace sonde::trackers
