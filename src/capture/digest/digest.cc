#include "capture/digest/digest.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/strings.h"
#include "io/mapped_file.h"

namespace sonde::capture::digest {
namespace {

namespace fs = std::filesystem;
using table::ParquetColumn;
using table::ParquetTable;

constexpr double kPicosInMs = 1e9;
constexpr uint64_t kMostRows = 50'000'000;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Result<ParquetTable> read_one(const std::string& path) {
  SONDE_TRY(file, io::MappedFile::open(path));
  table::ParquetLimits limits;
  limits.rows = kMostRows;
  auto read = table::read_parquet(file.bytes(), limits);
  if (!read) return fail(std::move(read.error()).in(path));
  if (file.was_cut()) return fail(Code::kCorrupt, path + ": the file was cut while it was read");
  return read;
}

const ParquetColumn* column_of(const ParquetTable& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &ParquetColumn::name);
  return found == table.columns.end() ? nullptr : &*found;
}

std::string_view word_at(const ParquetColumn* column, size_t row) {
  if (!column || !column->is_text || row >= column->codes.size()) return "";
  const uint32_t code = column->codes[row];
  return code == ParquetColumn::kNull ? std::string_view() : std::string_view(column->words[code]);
}

double number_at(const ParquetColumn* column, size_t row) {
  return !column || column->is_text || row >= column->numbers.size() ? kNone : column->numbers[row];
}

// The words of texts, each once, with a number.
class Words {
 public:
  explicit Words(ParquetColumn& into) : into_(into) {}
  uint32_t code(const std::string& word) {
    const auto [at, is_new] = codes_.try_emplace(word, static_cast<uint32_t>(into_.words.size()));
    if (is_new) into_.words.push_back(word);
    return at->second;
  }

 private:
  ParquetColumn& into_;
  std::unordered_map<std::string, uint32_t> codes_;
};

// Puts the tables of many files behind each other.
ParquetTable joined(std::vector<ParquetTable>& parts) {
  ParquetTable all;
  for (const ParquetTable& part : parts) {
    for (const ParquetColumn& column : part.columns) {
      if (column_of(all, column.name)) continue;
      ParquetColumn& made = all.columns.emplace_back();
      made.name = column.name;
      made.is_text = column.is_text;
      made.is_integer = column.is_integer;
    }
    all.rows += part.rows;
  }
  for (ParquetColumn& into : all.columns) {
    Words words(into);
    if (into.is_text) {
      into.codes.reserve(all.rows);
    } else {
      into.numbers.reserve(all.rows);
    }
    for (const ParquetTable& part : parts) {
      const ParquetColumn* from = column_of(part, into.name);
      const bool is_same_kind = from && from->is_text == into.is_text;
      if (into.is_text) {
        std::vector<uint32_t> codes;
        for (const std::string& word : is_same_kind ? from->words : std::vector<std::string>())
          codes.push_back(words.code(word));
        for (uint64_t row = 0; row < part.rows; ++row) {
          const uint32_t code = is_same_kind ? from->codes[row] : ParquetColumn::kNull;
          into.codes.push_back(code == ParquetColumn::kNull ? code : codes[code]);
        }
      } else {
        into.is_integer = into.is_integer && (!is_same_kind || from->is_integer);
        for (uint64_t row = 0; row < part.rows; ++row)
          into.numbers.push_back(is_same_kind ? from->numbers[row] : kNone);
      }
    }
  }
  parts.clear();
  all.rows_in_file = all.rows;
  return all;
}

double median_of(std::vector<double>& values) {
  if (values.empty()) return kNone;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Numbers for names, and their order in the end.
class Names {
 public:
  uint32_t of(std::string_view name) {
    const auto [at, is_new] =
        numbers_.try_emplace(std::string(name), static_cast<uint32_t>(names_.size()));
    if (is_new) names_.emplace_back(name);
    return at->second;
  }
  // Sorts by `before`; the old number of each place.
  template <class Before>
  std::vector<uint32_t> sorted(Before before) {
    std::vector<uint32_t> order(names_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, before);
    return order;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

bool is_part(const ParquetColumn& column) {
  static constexpr std::string_view kOthers[] = {"rank", "host", "capture", "id",
                                                 "name", "ts",   "dur"};
  return !column.is_text && std::ranges::find(kOthers, column.name) == std::end(kOthers);
}

// Time beyond the others' median, of the step and of each of its parts.
void find_stragglers(Ranks& out, const std::vector<std::vector<float>>& parts) {
  const size_t ranks = out.ranks.size(), steps = out.steps.size();
  std::vector<Ranks::Straggler> all(ranks);
  std::vector<std::vector<double>> excess(parts.size(), std::vector<double>(ranks, 0));
  std::vector<double> values;
  for (size_t part = 0; part < parts.size(); ++part) {
    for (size_t step = 0; step < steps; ++step) {
      values.clear();
      for (size_t rank = 0; rank < ranks; ++rank) {
        if (const float value = parts[part][rank * steps + step]; !std::isnan(value))
          values.push_back(value);
      }
      const double median = median_of(values);
      for (size_t rank = 0; rank < ranks; ++rank) {
        const float value = parts[part][rank * steps + step];
        if (!std::isnan(value)) excess[part][rank] += value - median;
      }
    }
  }
  for (size_t step = 0; step < steps; ++step) {
    size_t slowest = 0;
    float longest = -1;
    for (size_t rank = 0; rank < ranks; ++rank) {
      const float value = out.dur_ms[rank * steps + step];
      if (std::isnan(value)) continue;
      all[rank].lost_ms += std::max(0.0, value - out.median_ms[step]);
      if (value > longest) {
        longest = value;
        slowest = rank;
      }
    }
    if (longest > 0) ++all[slowest].slowest;
  }
  for (size_t rank = 0; rank < ranks; ++rank) {
    all[rank].rank = static_cast<uint32_t>(rank);
    for (size_t part = 0; part < parts.size(); ++part) {
      if (excess[part][rank] <= all[rank].part_ms) continue;
      all[rank].part_ms = excess[part][rank];
      all[rank].part = out.parts[part];
    }
  }
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.lost_ms > b.lost_ms; });
  while (!all.empty() && (all.size() > Ranks::kMostRows || all.back().lost_ms <= 0)) all.pop_back();
  out.stragglers = std::move(all);
}

// Beyond eight times the usual distance from the median, and a tenth more than it.
void find_outliers(Ranks& out) {
  const size_t ranks = out.ranks.size(), steps = out.steps.size();
  std::vector<double> values;
  for (size_t step = 0; step < steps; ++step) {
    values.clear();
    for (size_t rank = 0; rank < ranks; ++rank) {
      if (const float value = out.dur_ms[rank * steps + step]; !std::isnan(value))
        values.push_back(std::abs(value - out.median_ms[step]));
    }
    const double usual = median_of(values), median = out.median_ms[step];
    for (size_t rank = 0; rank < ranks; ++rank) {
      const float value = out.dur_ms[rank * steps + step];
      if (std::isnan(value) || value - median <= std::max(8 * usual, 0.1 * median)) continue;
      out.outliers.push_back(
          {static_cast<uint32_t>(rank), static_cast<uint32_t>(step), value, median});
    }
  }
  std::ranges::stable_sort(out.outliers, [](const auto& a, const auto& b) {
    return a.dur_ms - a.median_ms > b.dur_ms - b.median_ms;
  });
  if (out.outliers.size() > Ranks::kMostRows) out.outliers.resize(Ranks::kMostRows);
}

}  // namespace

std::vector<std::string> files_of(const std::string& folder, std::string_view table) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(folder + "/" + std::string(table), error), end;
       !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".parquet") files.push_back(it->path().string());
  }
  std::ranges::sort(files);
  return files;
}

Result<ParquetTable> read_table(const std::string& folder, std::string_view table,
                                ThreadPool& pool) {
  const std::vector<std::string> files = files_of(folder, table);
  std::vector<ParquetTable> parts(files.size());
  std::mutex mutex;
  std::optional<Error> first;
  std::atomic<uint64_t> rows = 0;
  pool.for_each(files.size(), [&](size_t i) {
    auto read =
        rows > kMostRows
            ? Result<ParquetTable>(fail(Code::kTooLarge, folder + ": more rows than can be shown"))
            : read_one(files[i]);
    if (read) {
      rows += read->rows;
      parts[i] = std::move(*read);
      return;
    }
    const std::lock_guard lock(mutex);
    if (!first) first = read.error();
  });
  if (first) return fail(*first);
  return joined(parts);
}

Result<Ranks> compare_ranks(const std::string& folder, ThreadPool& pool) {
  SONDE_TRY(const table, read_table(folder, "steps", pool));
  const ParquetColumn *rank = column_of(table, "rank"), *host = column_of(table, "host"),
                      *id = column_of(table, "id"), *name = column_of(table, "name"),
                      *dur = column_of(table, "dur");
  if (!rank || !rank->is_text || !dur || dur->is_text)
    return fail(Code::kCorrupt, folder + "/steps: no columns rank and dur");
  Ranks out;
  Names ranks, steps;
  std::vector<std::string_view> hosts;
  std::vector<double> places;  // of steps: the first number that any rank gave it
  std::vector<std::pair<uint32_t, uint32_t>> cells(table.rows);
  for (uint64_t row = 0; row < table.rows; ++row) {
    const uint32_t at = ranks.of(word_at(rank, row));
    if (at == hosts.size()) hosts.push_back(word_at(host, row));
    const std::string_view called = word_at(name, row);
    const double number = number_at(id, row);
    const uint32_t step = steps.of(
        called.empty() ? std::to_string(static_cast<int64_t>(std::isnan(number) ? 0 : number))
                       : std::string(called));
    if (step == places.size()) places.push_back(number);
    places[step] = std::min(places[step], number);
    cells[row] = {at, step};
  }
  const auto rank_order = ranks.sorted([&](uint32_t a, uint32_t b) {
    return natural_compare(ranks.names()[a], ranks.names()[b]) < 0;
  });
  const auto step_order = steps.sorted([&](uint32_t a, uint32_t b) {
    if (places[a] != places[b]) return places[a] < places[b];
    return natural_compare(steps.names()[a], steps.names()[b]) < 0;
  });
  std::vector<uint32_t> rank_place(rank_order.size()), step_place(step_order.size());
  for (uint32_t i = 0; i < rank_order.size(); ++i) {
    rank_place[rank_order[i]] = i;
    out.ranks.push_back(ranks.names()[rank_order[i]]);
    out.hosts.emplace_back(hosts[rank_order[i]]);
  }
  for (uint32_t i = 0; i < step_order.size(); ++i) {
    step_place[step_order[i]] = i;
    out.steps.push_back(steps.names()[step_order[i]]);
  }
  constexpr uint64_t kMostCells = 100'000'000;
  if (uint64_t{out.ranks.size()} * out.steps.size() > kMostCells)
    return fail(Code::kTooLarge, folder + ": more than 100 million steps of ranks");
  const auto spread = [&](const ParquetColumn& column) {
    std::vector<float> values(out.ranks.size() * out.steps.size(), std::nanf(""));
    for (uint64_t row = 0; row < table.rows; ++row) {
      const auto [at, step] = cells[row];
      values[size_t{rank_place[at]} * out.steps.size() + step_place[step]] =
          static_cast<float>(number_at(&column, row) / kPicosInMs);
    }
    return values;
  };
  out.dur_ms = spread(*dur);
  std::vector<double> values;
  for (size_t step = 0; step < out.steps.size(); ++step) {
    values.clear();
    for (size_t at = 0; at < out.ranks.size(); ++at) {
      if (const float value = out.dur_ms[at * out.steps.size() + step]; !std::isnan(value))
        values.push_back(value);
    }
    out.median_ms.push_back(median_of(values));
  }
  std::vector<std::vector<float>> parts;
  for (const ParquetColumn& column : table.columns) {
    if (!is_part(column)) continue;
    out.parts.push_back(column.name);
    parts.push_back(spread(column));
  }
  find_stragglers(out, parts);
  find_outliers(out);
  return out;
}

Result<std::vector<Collective>> slowest_collectives(const std::string& folder, size_t most) {
  struct Sum {
    Collective known;
    double sum_ms = 0;
  };
  constexpr size_t kMostKinds = 5'000'000;
  std::map<std::pair<std::string, uint32_t>, Sum> sums;
  for (const std::string& path : files_of(folder, "collectives")) {
    SONDE_TRY(const table, read_one(path));
    const ParquetColumn *rank = column_of(table, "rank"), *name = column_of(table, "name"),
                        *dur = column_of(table, "dur");
    std::map<std::string_view, uint32_t> seen;
    for (uint64_t row = 0; row < table.rows; ++row) {
      const std::string_view called = word_at(name, row);
      const uint32_t number = seen[called]++;
      const double ms = number_at(dur, row) / kPicosInMs;
      if (std::isnan(ms)) continue;
      if (sums.size() == kMostKinds)
        return fail(Code::kTooLarge, folder + ": more than five million collectives");
      Sum& sum = sums[{std::string(called), number}];
      Collective& one = sum.known;
      if (one.ranks == 0 || ms < one.min_ms) {
        one.min_ms = ms;
        one.last_rank = word_at(rank, row);
      }
      one.max_ms = one.ranks == 0 ? ms : std::max(one.max_ms, ms);
      ++one.ranks;
      sum.sum_ms += ms;
    }
  }
  std::vector<Collective> all;
  for (auto& [key, sum] : sums) {
    Collective& one = sum.known;
    one.name = key.first;
    one.number = key.second;
    one.mean_ms = sum.sum_ms / one.ranks;
    one.waited_ms = sum.sum_ms - one.min_ms * one.ranks;
    if (one.ranks > 1) all.push_back(std::move(one));
  }
  std::ranges::stable_sort(
      all, [](const Collective& a, const Collective& b) { return a.waited_ms > b.waited_ms; });
  if (all.size() > most) all.resize(most);
  return all;
}

}  // namespace sonde::capture::digest
