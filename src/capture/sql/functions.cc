#include "capture/sql/functions.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/regex.h"

namespace sonde::capture::sql {
namespace {

// pattern, text: `text REGEXP pattern`. A constant pattern is compiled once a query.
void regexp(sqlite3_context* out, int, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL || sqlite3_value_type(values[1]) == SQLITE_NULL)
    return;
  auto* regex = static_cast<Regex*>(sqlite3_get_auxdata(out, 0));
  std::unique_ptr<Regex> made;
  if (!regex) {
    const auto* pattern = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
    auto compiled = Regex::compile(pattern ? pattern : "");
    if (!compiled) return sqlite3_result_error(out, compiled.error().text.c_str(), -1);
    made = std::make_unique<Regex>(std::move(*compiled));
    regex = made.get();
  }
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[1]));
  const auto size = static_cast<size_t>(sqlite3_value_bytes(values[1]));
  sqlite3_result_int(out, text && regex->found_in({text, size}) ? 1 : 0);
  if (made) {
    sqlite3_set_auxdata(out, 0, made.release(),
                        [](void* old) { std::unique_ptr<Regex>(static_cast<Regex*>(old)); });
  }
}

// Memory of an aggregate is SQLite's, so that its limit counts it.
struct Values {
  double* data;
  uint64_t count, room;
  double percent;
};

void collect(sqlite3_context* out, int count, sqlite3_value** values) {
  auto* all = static_cast<Values*>(sqlite3_aggregate_context(out, sizeof(Values)));
  if (!all) return sqlite3_result_error_nomem(out);
  all->percent = count > 1 ? sqlite3_value_double(values[1]) : 50;
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
  if (all->count == all->room) {
    const uint64_t room = std::max<uint64_t>(64, all->room * 2);
    void* more = sqlite3_realloc64(all->data, room * sizeof(double));
    if (!more) return sqlite3_result_error_nomem(out);
    all->data = static_cast<double*>(more);
    all->room = room;
  }
  all->data[all->count++] = sqlite3_value_double(values[0]);
}

// Between two values the share of the way, as numpy's default.
void give_percentile(sqlite3_context* out) {
  auto* all = static_cast<Values*>(sqlite3_aggregate_context(out, 0));
  if (!all) return;
  if (!(all->percent >= 0 && all->percent <= 100)) {
    sqlite3_result_error(out, "percentile(x, p) takes a p from 0 to 100", -1);
  } else if (all->count > 0) {
    const double place = all->percent / 100 * static_cast<double>(all->count - 1);
    const auto low = static_cast<uint64_t>(place);
    double* const at = all->data + low;
    std::nth_element(all->data, at, all->data + all->count);
    double value = *at;
    if (low + 1 < all->count)
      value +=
          (place - std::floor(place)) * (*std::min_element(at + 1, all->data + all->count) - value);
    sqlite3_result_double(out, value);
  }
  sqlite3_free(all->data);
  *all = {};
}

void divide(sqlite3_context* out, int, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return;
  const auto* by = static_cast<const double*>(sqlite3_user_data(out));
  sqlite3_result_double(out, sqlite3_value_double(values[0]) / *by);
}

double picos_in_ms = 1e9, picos_in_us = 1e6;

}  // namespace

bool add_functions(sqlite3* database) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  const auto plain = [&](const char* name, int count,
                         void (*call)(sqlite3_context*, int, sqlite3_value**), void* data) {
    return sqlite3_create_function_v2(database, name, count, kFlags, data, call, nullptr, nullptr,
                                      nullptr) == SQLITE_OK;
  };
  const auto aggregate = [&](const char* name, int count) {
    return sqlite3_create_function_v2(database, name, count, kFlags, nullptr, nullptr, collect,
                                      give_percentile, nullptr) == SQLITE_OK;
  };
  return plain("regexp", 2, regexp, nullptr) && plain("ms", 1, divide, &picos_in_ms) &&
         plain("us", 1, divide, &picos_in_us) && aggregate("percentile", 2) &&
         aggregate("median", 1);
}

}  // namespace sonde::capture::sql
