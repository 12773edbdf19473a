// ClickHouse over its HTTP interface: a statement, perhaps with rows behind it, and the answer's
// text.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sonde::io {

struct ClickHouse {
  std::string url;       // "http://host:8123/"
  std::string user;      // empty: the server's default
  std::string password;  // never in a message
  std::string database;

  std::string place() const;  // clickhouse://host:port/database: without who asks

  // clickhouse://[user[:password]@]host[:port]/database, or clickhouses:// for TLS. Without a
  // password CLICKHOUSE_PASSWORD counts.
  static Result<ClickHouse> parse(std::string_view address);

  // kIo with the server's words when it refuses. Tried again when it cannot be reached: statements
  // that are run twice must do no harm.
  Result<std::string> run(const std::string& statement, std::string_view rows = {}) const;
};

// A string as it stands in a statement, quotes included.
std::string quoted_sql(std::string_view text);

// RowBinary.
void put_string(std::string& rows, std::string_view text);
template <class T>
void put_number(std::string& rows, T value) {
  rows.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Reads RowBinary. Whoever reads beyond the end gets zeros, and is_good() says so afterwards.
class RowReader {
 public:
  explicit RowReader(std::string_view rows) : rest_(rows) {}
  bool has_more() const { return is_good_ && !rest_.empty(); }
  bool is_good() const { return is_good_; }
  std::string string();
  template <class T>
  T number() {
    T value{};
    if (rest_.size() < sizeof value) {
      is_good_ = false;
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

}  // namespace sonde::io
