// Columns of series that live in a database: asked for when somebody reads them, kept while they
// fit a budget, continued when the series has grown.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "log/team/tables.h"

namespace sonde::team {

struct Columns {
  uint64_t layout = 0;
  store::ValueType type = store::ValueType::kFloat32;
  std::vector<Step> steps;
  std::vector<double> wall_times;
  std::vector<std::byte> values;

  void append(const EndPoint& point);
  size_t size() const { return steps.size(); }
  size_t bytes() const { return steps.size() * 16 + values.size(); }
};

// Thread-safe.
class PointCache {
 public:
  PointCache(const Tables& tables, uint64_t budget_bytes)
      : tables_(tables), budget_(budget_bytes) {}

  // All points of a series. Null when the database did not give them: failures() has grown then.
  std::shared_ptr<const Columns> get(const SeriesRow& row);
  // The same for many series at once, with few requests.
  void prepare(const std::vector<const SeriesRow*>& rows);

  uint64_t failures() const { return failures_.load(); }
  std::string last_failure() const;
  void note_failure(const Error& error);

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const Columns> columns;
  };
  std::shared_ptr<const Columns> find(const SeriesRow& row);
  void keep(const SeriesRow& row, std::shared_ptr<const Columns> columns);
  Result<void> fetch(std::string_view tag, const std::vector<const SeriesRow*>& rows);

  const Tables& tables_;
  const uint64_t budget_;
  std::atomic<uint64_t> failures_ = 0;
  mutable std::mutex mutex_;  // guards: everything below
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
  uint64_t bytes_ = 0;
  std::string last_failure_;
};

}  // namespace sonde::team
