// A SQLite file that another program writes, opened to read and nothing else: no lock is held
// between two looks, no journal or shared memory file is made beside it. Views, triggers and
// functions of the file never run, and a query ends after so many steps.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "io/file.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sonde::table {

class SqliteFile;

// One query, row by row. Columns count from 0; views hold until the next row.
class Rows {
 public:
  Rows(Rows&& other) noexcept;
  Rows& operator=(Rows&&) = delete;
  ~Rows();

  Rows& bind(int index, std::string_view text);
  Rows& bind(int index, int64_t number);
  // False at the end and on an error, which error() then names.
  bool next();
  bool is_null(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;  // bytes of a BLOB too
  const std::string& error() const { return error_; }

 private:
  friend class SqliteFile;
  Rows(sqlite3* database, sqlite3_stmt* statement, std::string path)
      : database_(database), statement_(statement), path_(std::move(path)) {}
  sqlite3* database_;
  sqlite3_stmt* statement_;
  std::string path_, error_;
};

class SqliteFile {
 public:
  static Result<SqliteFile> open(const std::string& path);
  // The same over bytes that somebody else keeps until it is gone; `name` is for messages.
  static Result<SqliteFile> over(Bytes bytes, const std::string& name);
  SqliteFile(SqliteFile&&) noexcept = default;

  // Names of the real tables: views and virtual tables could compute anything.
  Result<std::set<std::string, std::less<>>> tables();
  // `table` is a name in this program, never one of the file.
  Result<std::set<std::string, std::less<>>> columns(std::string_view table);
  Result<Rows> query(std::string_view sql);

  // Of the database and its write-ahead log together.
  static Result<io::FileStat> stat(const std::string& path);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  SqliteFile(std::string path, sqlite3* database) : path_(std::move(path)), database_(database) {}
  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace sonde::table
