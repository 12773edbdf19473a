#include "table/sqlite_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/strings.h"

namespace sonde::table {
namespace {

constexpr int kBusyMs = 200;
constexpr int kMaxValueBytes = 64 << 20;
// Steps of SQLite's machine between two looks at the clock of a query, and how many in all: a
// damaged index may lead in circles.
constexpr int kStepsPerCall = 1'000'000;
constexpr uint64_t kMaxCalls = 2000;
constexpr uint64_t kWriteAheadByte = 18;
constexpr int64_t kSettledNs = 1'000'000'000;

int refuse(void*, int action, const char*, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_PRAGMA:
      return SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

int count_steps(void* calls) {
  auto* count = static_cast<uint64_t*>(calls);
  return ++*count > kMaxCalls ? 1 : 0;
}

thread_local uint64_t step_calls = 0;

std::string uri_of(const std::string& path, std::string_view options) {
  return "file:" + percent_encoded(path, "/") + "?" + std::string(options);
}

void guard(sqlite3* database) {
  sqlite3_busy_timeout(database, kBusyMs);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_exec(database, "PRAGMA cell_size_check=1", nullptr, nullptr, nullptr);
  sqlite3_set_authorizer(database, refuse, nullptr);
  step_calls = 0;
  sqlite3_progress_handler(database, kStepsPerCall, count_steps, &step_calls);
}

bool is_readable(sqlite3* database) {
  return sqlite3_exec(database, "SELECT 1 FROM sqlite_master LIMIT 1", nullptr, nullptr, nullptr) ==
         SQLITE_OK;
}

Result<sqlite3*> open_as(const std::string& path, std::string_view options) {
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(uri_of(path, options).c_str(), &database,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code == SQLITE_OK) {
    guard(database);
    // The first look at the file is taken here, where an error still means "open it otherwise".
    if (is_readable(database)) return database;
  }
  std::string text = path + ": " + (database ? sqlite3_errmsg(database) : "out of memory");
  const int kind = database ? sqlite3_errcode(database) & 0xff : SQLITE_NOMEM;
  sqlite3_close(database);
  const bool is_busy = kind == SQLITE_BUSY || kind == SQLITE_LOCKED;
  return fail(is_busy ? Code::kBusy : Code::kCorrupt, std::move(text));
}

}  // namespace

Rows::Rows(Rows&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      path_(std::move(other.path_)),
      error_(std::move(other.error_)) {}

Rows::~Rows() { sqlite3_finalize(statement_); }

Rows& Rows::bind(int index, std::string_view text) {
  sqlite3_bind_text(statement_, index, text.data(), static_cast<int>(text.size()),
                    SQLITE_TRANSIENT);
  return *this;
}

Rows& Rows::bind(int index, int64_t number) {
  sqlite3_bind_int64(statement_, index, number);
  return *this;
}

bool Rows::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) error_ = path_ + ": " + sqlite3_errmsg(database_);
  return false;
}

bool Rows::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
int64_t Rows::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Rows::real(int column) const { return sqlite3_column_double(statement_, column); }
std::string_view Rows::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes ? std::string_view(static_cast<const char*>(bytes), static_cast<size_t>(size))
               : std::string_view();
}

void SqliteFile::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

Result<SqliteFile> SqliteFile::open(const std::string& path) {
  std::byte mode{};
  {
    SONDE_TRY(file, io::File::open(path));
    SONDE_TRY(got, file.read_at(kWriteAheadByte, {&mode, 1}));
    if (got == 0) return fail(Code::kCorrupt, path + ": too short for a database");
  }
  // With a write-ahead log a reader would make the log and its shared memory where they are not
  // there: without them nobody writes and the file is whole by itself.
  const bool write_ahead = mode == std::byte{2};
  const auto log = io::stat_of(path + "-wal");
  const bool whole = write_ahead && (!log || log->size == 0);
  if (!whole) {
    auto opened = open_as(path, write_ahead ? "mode=ro&readonly_shm=1" : "mode=ro");
    if (opened || !write_ahead) {
      if (!opened) return fail(opened.error());
      return SqliteFile(path, *opened);
    }
  }
  SONDE_TRY(opened, open_as(path, "mode=ro&immutable=1"));
  return SqliteFile(path, opened);
}

Result<SqliteFile> SqliteFile::over(Bytes bytes, const std::string& name) {
  sqlite3* database = nullptr;
  int code =
      sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code == SQLITE_OK) {
    // SQLITE_DESERIALIZE_READONLY: the bytes are never written, whatever the parameter's type says.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    const auto size = static_cast<sqlite3_int64>(bytes.size());
    code = sqlite3_deserialize(database, "main", data, size, size, SQLITE_DESERIALIZE_READONLY);
  }
  if (code == SQLITE_OK) {
    guard(database);
    if (is_readable(database)) return SqliteFile(name, database);
  }
  std::string text = name + ": " + (database ? sqlite3_errmsg(database) : "out of memory");
  sqlite3_close(database);
  return fail(Code::kCorrupt, std::move(text));
}

Result<std::set<std::string, std::less<>>> SqliteFile::tables() {
  SONDE_TRY(rows, query("SELECT name FROM sqlite_master WHERE type = 'table' "
                        "AND sql LIKE 'CREATE TABLE%'"));
  std::set<std::string, std::less<>> names;
  while (names.size() < 10'000 && rows.next()) names.emplace(rows.text(0));
  if (!rows.error().empty()) return fail(Code::kCorrupt, rows.error());
  return names;
}

Result<std::set<std::string, std::less<>>> SqliteFile::columns(std::string_view table) {
  SONDE_TRY(rows, query("PRAGMA table_info(" + std::string(table) + ")"));
  std::set<std::string, std::less<>> names;
  while (names.size() < 10'000 && rows.next()) names.emplace(rows.text(1));
  if (!rows.error().empty()) return fail(Code::kCorrupt, rows.error());
  return names;
}

Result<Rows> SqliteFile::query(std::string_view sql) {
  step_calls = 0;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement,
                         nullptr) != SQLITE_OK)
    return fail(Code::kCorrupt, path_ + ": " + sqlite3_errmsg(database_.get()));
  return Rows(database_.get(), statement, path_);
}

Result<io::FileStat> SqliteFile::stat(const std::string& path) {
  SONDE_TRY(all, io::stat_of(path));
  if (const auto log = io::stat_of(path + "-wal")) {
    all.size += log->size;
    all.mtime_ns = std::max(all.mtime_ns, log->mtime_ns);
  }
  // What was written just now may not be visible yet: the look at it does not count.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t age_ns = std::chrono::nanoseconds(now).count() - all.mtime_ns;
  if (age_ns >= 0 && age_ns < kSettledNs) all.mtime_ns = -all.mtime_ns;
  return all;
}

}  // namespace sonde::table
