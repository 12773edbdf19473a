// Our columns as tables of SQLite: a Source says which columns there are and by which of them it
// can narrow a scan, a Cursor walks over rows. What SQLite asks of a table is translated in
// virtual_table.cc and nowhere else.
//
// A cursor may give more rows than the constraints allow, never fewer: SQLite tests each row again.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace sonde::capture::sql {

enum class Narrows : uint8_t {
  kNothing,  // the column is only read
  kKey,      // = finds at most one row
  kFew,      // = leaves a few
  kRange,    // = < <= > >= leave a part
  kText,     // = LIKE GLOB REGEXP leave a part
};

struct SourceColumn {
  const char* name;
  const char* type;  // INTEGER, REAL, TEXT, or empty for any
  Narrows narrows = Narrows::kNothing;
};

enum class Comparison : uint8_t {
  kEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kLike,
  kGlob,
  kRegexp
};

struct Constraint {
  int column = 0;
  Comparison comparison = Comparison::kEqual;
  sqlite3_value* value = nullptr;  // valid during Cursor::start
};

// Numbers of the source's own; 0 is the order of the columns' data.
using Order = int;

struct SortTerm {
  int column = 0;
  bool descending = false;
};

class Cursor {
 public:
  virtual ~Cursor() = default;
  virtual void start(std::span<const Constraint> constraints, Order order) = 0;
  virtual bool at_end() const = 0;
  virtual void advance() = 0;
  virtual void column(sqlite3_context* out, int column) = 0;
  virtual int64_t row() const = 0;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual const char* name() const = 0;
  virtual std::span<const SourceColumn> columns() const = 0;
  virtual double rows() const = 0;  // about
  virtual std::unique_ptr<Cursor> open() const = 0;
  // The order in which rows come sorted as asked, or -1: SQLite sorts. Asked for ORDER BY and for
  // GROUP BY, whose groups SQLite takes for sorted, whatever sqlite3_vtab_distinct() says (3.40).
  virtual Order order_for(std::span<const SortTerm>) const { return -1; }
};

// Makes the source a table that needs no CREATE. It must live as long as the connection.
bool add_table(sqlite3* database, const Source& source);

// Values of cells. Text of the trace outlives the query; what a cursor makes up is copied.
void put(sqlite3_context* out, std::string_view text);
void put_copy(sqlite3_context* out, std::string_view text);

// Bounds that an integer column's constraints put on it; a comparison with something else than a
// number bounds nothing.
struct Bounds {
  int64_t low = INT64_MIN, high = INT64_MAX;  // inclusive
  bool is_empty() const { return low > high; }
  void narrow(const Constraint& constraint);
};

}  // namespace sonde::capture::sql
