// args and track_args: every argument of a slice (its own, then those that all slices of its name
// share) or of a track as a row.
#include <algorithm>
#include <optional>

#include "capture/sql/tables.h"

namespace sonde::capture::sql {

void put_argument(sqlite3_context* out, const trace::Trace& trace, const trace::ArgValue& value) {
  switch (value.type) {
    case trace::ArgType::kText:
      return put(out, trace.text(static_cast<trace::StringId>(value.bits)));
    case trace::ArgType::kDouble:
      return sqlite3_result_double(out, value.as_double());
    case trace::ArgType::kUint:
      if (value.bits > INT64_MAX) return sqlite3_result_double(out, value.as_double());
      return sqlite3_result_int64(out, static_cast<int64_t>(value.bits));
    case trace::ArgType::kInt:
    case trace::ArgType::kBool:
      return sqlite3_result_int64(out, value.as_int());
    case trace::ArgType::kBytes:
      return put_copy(out, trace.printed(value));
  }
}

const char* type_name(trace::ArgType type) {
  switch (type) {
    case trace::ArgType::kInt:
    case trace::ArgType::kUint:
      return "integer";
    case trace::ArgType::kDouble:
      return "real";
    case trace::ArgType::kText:
      return "text";
    case trace::ArgType::kBytes:
      return "bytes";
    case trace::ArgType::kBool:
      return "bool";
  }
  return "";
}

namespace {

using trace::ArgRange;
using trace::kNone;
using trace::Trace;

enum Column { kOwner, kKey, kValue, kType };

// Whose arguments: an owner is a number below count(), its arguments are up to two ranges.
struct OfSlices {
  static constexpr const char* kName = "args";
  static constexpr const char* kOwnerName = "slice";
  static size_t count(const Trace& trace) { return trace.slice_count(); }
  static ArgRange first(const Trace& trace, size_t owner) {
    return trace.args(static_cast<trace::SliceId>(owner));
  }
  static ArgRange second(const Trace& trace, size_t owner) {
    return trace.label(static_cast<trace::SliceId>(owner)).args;
  }
};

struct OfTracks {
  static constexpr const char* kName = "track_args";
  static constexpr const char* kOwnerName = "track";
  static size_t count(const Trace& trace) { return trace.tracks().size(); }
  static ArgRange first(const Trace& trace, size_t owner) { return trace.tracks()[owner].args; }
  static ArgRange second(const Trace&, size_t) { return {}; }
};

template <class Owners>
class ArgsTable final : public Source {
 public:
  explicit ArgsTable(Model& model) : trace_(model.trace()) {}
  const char* name() const override { return Owners::kName; }
  std::span<const SourceColumn> columns() const override {
    static constexpr SourceColumn kColumns[] = {{Owners::kOwnerName, "INTEGER", Narrows::kFew},
                                                {"key", "TEXT", Narrows::kText},
                                                {"value", ""},
                                                {"type", "TEXT"}};
    return kColumns;
  }
  double rows() const override { return 4.0 * static_cast<double>(Owners::count(trace_)); }
  std::unique_ptr<Cursor> open() const override { return std::make_unique<Walk>(trace_); }
  Order order_for(std::span<const SortTerm> terms) const override {
    const bool by_owner = terms.size() == 1 && terms[0].column == kOwner;
    return by_owner && !terms[0].descending ? 0 : -1;
  }

 private:
  class Walk final : public Cursor {
   public:
    explicit Walk(const Trace& trace) : trace_(trace) {}

    void start(std::span<const Constraint> constraints, Order) override {
      Bounds owner{0, static_cast<int64_t>(Owners::count(trace_)) - 1};
      key_.reset();
      for (const Constraint& constraint : constraints) {
        if (constraint.column == kOwner) owner.narrow(constraint);
        if (constraint.column == kKey && constraint.comparison == Comparison::kEqual &&
            sqlite3_value_type(constraint.value) == SQLITE_TEXT) {
          const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(constraint.value));
          key_ =
              text ? trace_.key({text, static_cast<size_t>(sqlite3_value_bytes(constraint.value))})
                   : kNone;
          if (key_ == kNone) owner = {1, 0};  // nobody has it
        }
      }
      row_ = 0;
      owner_ = static_cast<size_t>(std::max<int64_t>(0, owner.low));
      end_ = owner.is_empty() ? owner_ : static_cast<size_t>(owner.high + 1);
      begin_owner();
      find();
    }
    bool at_end() const override { return owner_ >= end_; }
    void advance() override {
      ++at_;
      ++row_;
      find();
    }
    int64_t row() const override { return row_; }

    void column(sqlite3_context* out, int column) override {
      const trace::Arg arg = current();
      if (column == kOwner) return sqlite3_result_int64(out, static_cast<int64_t>(owner_));
      if (column == kKey) return put(out, trace_.key_name(arg.key));
      if (column == kValue) return put_argument(out, trace_, arg.value);
      put(out, type_name(arg.value.type));
    }

   private:
    trace::Arg current() const {
      return trace_.arg(at_ < first_.count ? first_.first + at_
                                           : second_.first + (at_ - first_.count));
    }
    void begin_owner() {
      at_ = 0;
      if (owner_ >= end_) return;
      first_ = Owners::first(trace_, owner_);
      second_ = Owners::second(trace_, owner_);
    }
    void find() {
      while (owner_ < end_) {
        for (; at_ < first_.count + second_.count; ++at_) {
          if (!key_ || current().key == *key_) return;
        }
        ++owner_;
        begin_owner();
      }
    }

    const Trace& trace_;
    std::optional<trace::KeyId> key_;
    size_t owner_ = 0, end_ = 0;
    ArgRange first_, second_;
    uint32_t at_ = 0;
    int64_t row_ = 0;
  };

  const Trace& trace_;
};

}  // namespace

std::unique_ptr<Source> args_table(Model& model) {
  return std::make_unique<ArgsTable<OfSlices>>(model);
}
std::unique_ptr<Source> track_args_table(Model& model) {
  return std::make_unique<ArgsTable<OfTracks>>(model);
}

}  // namespace sonde::capture::sql
