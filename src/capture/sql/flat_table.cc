// A table that is in memory as columns, such as the digests of many ranks.
#include <cmath>

#include "capture/sql/tables.h"

namespace sonde::capture::sql {
namespace {

class FlatTable final : public Source {
 public:
  FlatTable(std::string name, const table::ParquetTable& table)
      : name_(std::move(name)), table_(table) {
    for (const table::ParquetColumn& column : table.columns) {
      columns_.push_back({column.name.c_str(), column.is_text      ? "TEXT"
                                               : column.is_integer ? "INTEGER"
                                                                   : "REAL"});
    }
    if (columns_.empty()) columns_.push_back({"rank", "TEXT"});  // a table without a file
  }
  const char* name() const override { return name_.c_str(); }
  std::span<const SourceColumn> columns() const override { return columns_; }
  double rows() const override { return static_cast<double>(table_.rows); }
  std::unique_ptr<Cursor> open() const override { return std::make_unique<Walk>(table_); }

 private:
  class Walk final : public Cursor {
   public:
    explicit Walk(const table::ParquetTable& table) : table_(table) {}
    void start(std::span<const Constraint>, Order) override { at_ = 0; }
    bool at_end() const override { return at_ >= table_.rows; }
    void advance() override { ++at_; }
    int64_t row() const override { return static_cast<int64_t>(at_); }
    void column(sqlite3_context* out, int index) override {
      constexpr double kExact = 9'007'199'254'740'992;  // integers beyond it are rounded anyway
      const table::ParquetColumn& column = table_.columns[static_cast<size_t>(index)];
      if (column.is_text) {
        const uint32_t code = column.codes[at_];
        if (code == table::ParquetColumn::kNull) return sqlite3_result_null(out);
        return put(out, column.words[code]);
      }
      const double value = column.numbers[at_];
      if (std::isnan(value)) return sqlite3_result_null(out);
      if (column.is_integer && std::abs(value) <= kExact)
        return sqlite3_result_int64(out, static_cast<int64_t>(value));
      sqlite3_result_double(out, value);
    }

   private:
    const table::ParquetTable& table_;
    size_t at_ = 0;
  };

  std::string name_;
  const table::ParquetTable& table_;
  std::vector<SourceColumn> columns_;
};

}  // namespace

std::unique_ptr<Source> flat_table(std::string name, const table::ParquetTable& table) {
  return std::make_unique<FlatTable>(std::move(name), table);
}

}  // namespace sonde::capture::sql
