#include "whatif/files/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "base/strings.h"

namespace sonde::whatif {
namespace {

constexpr size_t kBlockRows = 1024;

// A cell inside the text, without its quotes. `escaped`: it has doubled quotes.
struct Cell {
  uint64_t at : 40 = 0;
  uint64_t escaped : 1 = 0;
  uint64_t quoted : 1 = 0;
  uint32_t size = 0;
};

struct Cells {
  std::vector<Cell> cells;
  std::vector<std::string> names;
  size_t rows = 0;
  bool cut = false;
};

class Scanner {
 public:
  Scanner(std::string_view text, char separator) : text_(text), separator_(separator) {}

  bool at_end() const { return at_ >= text_.size(); }

  // Appends the cells of one row; `row` is for the error alone.
  Result<void> row(size_t row, size_t most, std::vector<Cell>& out) {
    const size_t first = out.size();
    for (;;) {
      if (out.size() - first >= most)
        return fail(Code::kTooLarge, fmt::format("row {} has more than {} cells", row, most));
      Cell cell;
      if (at_ < text_.size() && text_[at_] == '"') {
        if (auto read = quoted(row, cell); !read) return read;
      } else {
        plain(cell);
      }
      if (cell.size > kMaxCellBytes)
        return fail(Code::kTooLarge,
                    fmt::format("row {}, cell {} has {} bytes; at most {} are read", row,
                                out.size() - first + 1, uint32_t{cell.size}, kMaxCellBytes));
      out.push_back(cell);
      if (at_ >= text_.size()) return {};
      const char c = text_[at_++];
      if (c == separator_) continue;
      if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
      return {};
    }
  }

 private:
  void plain(Cell& cell) {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' &&
           text_[at_] != '\r')
      ++at_;
    cell.at = begin;
    cell.size = static_cast<uint32_t>(std::min<size_t>(at_ - begin, UINT32_MAX));
  }

  Result<void> quoted(size_t row, Cell& cell) {
    const size_t begin = ++at_;
    for (;;) {
      const size_t quote = text_.find('"', at_);
      if (quote == text_.npos)
        return fail(Code::kInvalid, fmt::format("the quote opened in row {} is never closed", row));
      at_ = quote + 1;
      if (at_ < text_.size() && text_[at_] == '"') {
        cell.escaped = 1;
        ++at_;
        continue;
      }
      cell.at = begin;
      cell.quoted = 1;
      cell.size = static_cast<uint32_t>(std::min<size_t>(quote - begin, UINT32_MAX));
      break;
    }
    if (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r')
      return fail(Code::kInvalid, fmt::format("row {} has text after a closing quote", row));
    return {};
  }

  std::string_view text_;
  char separator_;
  size_t at_ = 0;
};

std::string_view view_of(std::string_view text, const Cell& cell, std::string& buffer) {
  const std::string_view raw = text.substr(cell.at, cell.size);
  if (!cell.escaped) return raw;
  buffer.clear();
  for (size_t i = 0; i < raw.size(); ++i) {
    buffer.push_back(raw[i]);
    if (raw[i] == '"') ++i;
  }
  return buffer;
}

char separator_of(std::string_view text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
  char best = ',';
  int64_t most = std::ranges::count(line, ',');
  for (const char c : {';', '\t'}) {
    const int64_t n = std::ranges::count(line, c);
    if (n > most) best = c, most = n;
  }
  return best;
}

bool is_blank(const std::vector<Cell>& cells, size_t first) {
  return cells.size() - first == 1 && cells[first].size == 0 && !cells[first].quoted;
}

Result<Cells> split_cells(std::string_view text, const ReadOptions& options) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (const size_t nul = text.find('\0'); nul != text.npos)
    return fail(Code::kInvalid, fmt::format("byte {} is NUL: this is no text file", nul));
  Scanner scanner(text, separator_of(text));
  Cells out;
  std::string buffer;
  if (scanner.at_end()) return fail(Code::kInvalid, "the file is empty: a header row is needed");
  if (auto read = scanner.row(1, kMaxColumns, out.cells); !read)
    return fail(std::move(read).error());
  for (size_t i = 0; i < out.cells.size(); ++i) {
    std::string name(trimmed(view_of(text, out.cells[i], buffer)).substr(0, 1000));
    if (name.empty()) name = fmt::format("column {}", i + 1);
    const std::string base = name;
    for (int n = 2; std::ranges::find(out.names, name) != out.names.end(); ++n)
      name = fmt::format("{} ({})", base, n);
    out.names.push_back(to_utf8(name));
  }
  out.cells.clear();
  const size_t width = out.names.size();
  Sampler sampler(options);
  for (size_t row = 2; !scanner.at_end(); ++row) {
    if (out.rows >= options.max_examples) {
      out.cut = true;
      break;
    }
    const size_t first = out.cells.size();
    // One more than fits, so that a row that is too long says by how much at least.
    if (auto read = scanner.row(row, kMaxColumns + 1, out.cells); !read)
      return fail(std::move(read).error());
    const size_t found = out.cells.size() - first;
    if (width > 1 && is_blank(out.cells, first)) {
      out.cells.resize(first);
      continue;
    }
    if (found != width) {
      return fail(Code::kInvalid,
                  fmt::format("row {} has {} cells, the header has {}", row, found, width));
    }
    if (!sampler.keeps()) {
      out.cells.resize(first);
      continue;
    }
    if (out.cells.size() > kMaxCells)
      return fail(
          Code::kTooLarge,
          fmt::format("more than {} cells; sample the file or take fewer examples", kMaxCells));
    ++out.rows;
  }
  return out;
}

void each(ThreadPool* pool, size_t count, const std::function<void(size_t)>& fn) {
  if (pool) return pool->for_each(count, fn);
  for (size_t i = 0; i < count; ++i) fn(i);
}

Column text_column(std::string_view text, const Cells& cells, size_t at) {
  Column column;
  StringTable words;
  std::string buffer;
  const size_t width = cells.names.size();
  column.codes.reserve(cells.rows);
  for (size_t row = 0; row < cells.rows; ++row) {
    const Cell& cell = cells.cells[row * width + at];
    const bool missing = cell.size == 0 && !cell.quoted;
    column.codes.push_back(missing ? kMissing : words.id(view_of(text, cell, buffer)));
  }
  for (uint32_t i = 0; i < words.size(); ++i) column.words.push_back(to_utf8(words.text(i)));
  column.kind = kind_of_words(column);
  return column;
}

}  // namespace

Sampler::Sampler(const ReadOptions& options)
    : state_(options.seed * 0x9e3779b97f4a7c15u + 1),
      all_(options.sampling_odds >= 1),
      odds_(options.sampling_odds) {}

bool Sampler::keeps() {
  if (all_) return true;
  state_ += 0x9e3779b97f4a7c15u;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53 < odds_;
}

Result<Dataset> read_csv(std::string_view text, const ReadOptions& options) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  SONDE_TRY(cells, split_cells(text, options));
  const size_t width = cells.names.size();
  Dataset data;
  data.rows = cells.rows;
  data.columns.resize(width);
  for (size_t i = 0; i < width; ++i) {
    data.columns[i].name = cells.names[i];
    data.columns[i].numbers.resize(cells.rows);
  }
  // Numbers first, block by block over all columns, as the cells lie in memory.
  std::vector<std::atomic<uint8_t>> is_text(width), has_fraction(width), has_number(width);
  const size_t blocks = (cells.rows + kBlockRows - 1) / kBlockRows;
  each(options.pool, blocks, [&](size_t block) {
    const size_t end = std::min(cells.rows, (block + 1) * kBlockRows);
    for (size_t i = 0; i < width; ++i) {
      if (is_text[i].load(std::memory_order_relaxed)) continue;
      double* numbers = data.columns[i].numbers.data();
      for (size_t row = block * kBlockRows; row < end; ++row) {
        const Cell& cell = cells.cells[row * width + i];
        numbers[row] = kNaN;
        if (cell.size == 0 && !cell.quoted) continue;
        const std::string_view word = text.substr(cell.at, cell.size);
        if (cell.escaped || !parse_number(word, numbers[row])) {
          is_text[i].store(1, std::memory_order_relaxed);
          break;
        }
        has_number[i].store(1, std::memory_order_relaxed);
        if (word.find_first_of(".eEnN") != word.npos)
          has_fraction[i].store(1, std::memory_order_relaxed);
      }
    }
  });
  each(options.pool, width, [&](size_t i) {
    Column& column = data.columns[i];
    column.is_integer = !has_fraction[i] && has_number[i];
    if (!is_text[i]) return;
    Column made = text_column(text, cells, i);
    made.name = std::move(column.name);
    column = std::move(made);
  });
  if (cells.cut) data.note = fmt::format("only the first {} examples were read", cells.rows);
  return data;
}

void append_csv_cell(std::string& out, std::string_view text) {
  double value;
  const bool is_formula = !text.empty() &&
                          std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos &&
                          !parse_number(text, value);
  if (!is_formula && text.find_first_of(",\"\r\n;\t") == text.npos) {
    out.append(text);
    return;
  }
  out.push_back('"');
  if (is_formula) out.push_back('\'');
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

std::string write_csv(const Dataset& data) {
  std::string out;
  for (size_t i = 0; i < data.columns.size(); ++i) {
    if (i > 0) out.push_back(',');
    append_csv_cell(out, data.columns[i].name);
  }
  out += "\r\n";
  for (size_t row = 0; row < data.rows; ++row) {
    for (size_t i = 0; i < data.columns.size(); ++i) {
      if (i > 0) out.push_back(',');
      append_csv_cell(out, data.columns[i].text(row));
    }
    out += "\r\n";
  }
  return out;
}

}  // namespace sonde::whatif
