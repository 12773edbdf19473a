// names, tracks, steps, metadata: tables of which a scan is never long.
#include <algorithm>
#include <array>
#include <string>

#include "capture/analysis/steps.h"
#include "capture/sql/tables.h"

namespace sonde::capture::sql {
namespace {

using trace::kNone;
using trace::Trace;
using trace::TrackId;
using trace::TrackKind;

// A table of numbered rows, whose first column is the number. Rows tells the count and a cell.
template <class Rows>
class NumberedTable final : public Source {
 public:
  explicit NumberedTable(Model& model) : model_(model) {}
  const char* name() const override { return Rows::kName; }
  std::span<const SourceColumn> columns() const override { return Rows::columns(); }
  double rows() const override { return Rows::kAbout; }
  Order order_for(std::span<const SortTerm> terms) const override {
    return terms.size() == 1 && terms[0].column == 0 && !terms[0].descending ? 0 : -1;
  }
  std::unique_ptr<Cursor> open() const override { return std::make_unique<Walk>(model_); }

 private:
  class Walk final : public Cursor {
   public:
    explicit Walk(Model& model) : rows_(model) {}
    void start(std::span<const Constraint> constraints, Order) override {
      Bounds id{0, static_cast<int64_t>(rows_.count()) - 1};
      for (const Constraint& constraint : constraints) {
        if (constraint.column == 0) id.narrow(constraint);
      }
      at_ = static_cast<size_t>(std::max<int64_t>(0, id.low));
      end_ = id.is_empty() ? at_ : static_cast<size_t>(id.high + 1);
    }
    bool at_end() const override { return at_ >= end_; }
    void advance() override { ++at_; }
    int64_t row() const override { return static_cast<int64_t>(at_); }
    void column(sqlite3_context* out, int column) override {
      if (column == 0) return sqlite3_result_int64(out, row());
      rows_.cell(out, at_, column);
    }

   private:
    Rows rows_;
    size_t at_ = 0, end_ = 0;
  };
  Model& model_;
};

class Tracks {
 public:
  static constexpr const char* kName = "tracks";
  static constexpr double kAbout = 200;
  static std::span<const SourceColumn> columns() {
    static constexpr SourceColumn kColumns[] = {{"id", "INTEGER", Narrows::kKey},
                                                {"name", "TEXT"},
                                                {"kind", "TEXT"},
                                                {"process", "TEXT"},
                                                {"thread", "TEXT"},
                                                {"number", "INTEGER"},
                                                {"parent", "INTEGER"},
                                                {"slices", "INTEGER"},
                                                {"points", "INTEGER"},
                                                {"depth", "INTEGER"}};
    return kColumns;
  }
  explicit Tracks(Model& model) : trace_(model.trace()) {}
  size_t count() const { return trace_.tracks().size(); }
  void cell(sqlite3_context* out, size_t row, int column) const {
    const auto t = static_cast<TrackId>(row);
    const trace::Track& track = trace_.tracks()[t];
    switch (column) {
      case 1:
        return put(out, trace_.shown_track_name(t));
      case 2:
        return put(out, trace::name_of(track.kind));
      case 3:
        if (const TrackId process = process_of(t); process != kNone)
          put(out, trace_.shown_track_name(process));
        return;
      case 4:
        if (track.kind == TrackKind::kThread || track.kind == TrackKind::kStream)
          put(out, trace_.shown_track_name(t));
        return;
      case 5:
        return sqlite3_result_int64(out, track.id);
      case 6:
        if (track.parent != kNone) sqlite3_result_int64(out, track.parent);
        return;
      case 7:
        return sqlite3_result_int64(out, track.slices);
      case 8:
        return sqlite3_result_int64(out, track.points);
      case 9:
        return sqlite3_result_int64(out, track.depth);
      default:
        return;
    }
  }

 private:
  TrackId process_of(TrackId t) const {
    // Parents of a file that lies may go in circles.
    for (size_t steps = 0; t < trace_.tracks().size() && steps < 64; ++steps) {
      if (trace_.tracks()[t].kind == TrackKind::kProcess) return t;
      t = trace_.tracks()[t].parent;
    }
    return kNone;
  }
  const Trace& trace_;
};

class StepRows {
 public:
  static constexpr const char* kName = "steps";
  static constexpr double kAbout = 50;
  // After the first four: one column a part, in the order of Part.
  static std::span<const SourceColumn> columns() {
    static constexpr SourceColumn kColumns[] = {{"id", "INTEGER", Narrows::kKey},
                                                {"name", "TEXT"},
                                                {"ts", "INTEGER"},
                                                {"dur", "INTEGER"},
                                                {"device_compute", "INTEGER"},
                                                {"device_to_device", "INTEGER"},
                                                {"collectives", "INTEGER"},
                                                {"host_compute", "INTEGER"},
                                                {"launch", "INTEGER"},
                                                {"input", "INTEGER"},
                                                {"output", "INTEGER"},
                                                {"compile", "INTEGER"},
                                                {"other", "INTEGER"}};
    static_assert(std::size(kColumns) == 4 + kPartCount);
    return kColumns;
  }
  explicit StepRows(Model& model) : steps_(model.host().steps().steps) {}
  size_t count() const { return steps_.size(); }
  void cell(sqlite3_context* out, size_t row, int column) const {
    const Step& step = steps_[row];
    if (column == 1) return put(out, step.name);
    if (column == 2) return sqlite3_result_int64(out, step.begin);
    if (column == 3) return sqlite3_result_int64(out, step.duration());
    sqlite3_result_int64(out, step.part(static_cast<Part>(column - 4)));
  }

 private:
  const std::vector<Step>& steps_;
};

// What GROUP BY name would say, in one walk of ours: ten million slices take SQLite seconds.
class Names {
 public:
  static constexpr const char* kName = "names";
  static constexpr double kAbout = 2000;
  static std::span<const SourceColumn> columns() {
    static constexpr SourceColumn kColumns[] = {{"id", "INTEGER", Narrows::kKey},
                                                {"name", "TEXT"},
                                                {"category", "TEXT"},
                                                {"count", "INTEGER"},
                                                {"dur", "INTEGER"},
                                                {"self", "INTEGER"},
                                                {"min_dur", "INTEGER"},
                                                {"max_dur", "INTEGER"}};
    return kColumns;
  }
  explicit Names(Model& model) : model_(model) {}
  size_t count() const { return model_.name_sums().size(); }
  void cell(sqlite3_context* out, size_t row, int column) const {
    const trace::Label& label = model_.trace().labels()[model_.ranks(Model::By::kName).first[row]];
    const Model::NameSum& sum = model_.name_sums()[row];
    switch (column) {
      case 1:
        return put(out, model_.trace().shown_name_of(label));
      case 2:
        if (label.category != kNone) put(out, model_.trace().text(label.category));
        return;
      case 3:
        return sqlite3_result_int64(out, sum.count);
      case 4:
        return sqlite3_result_int64(out, sum.dur);
      case 5:
        return sqlite3_result_int64(out, sum.self);
      case 6:
        if (sum.count > 0) sqlite3_result_int64(out, sum.shortest);
        return;
      case 7:
        if (sum.count > 0) sqlite3_result_int64(out, sum.longest);
        return;
      default:
        return;
    }
  }

 private:
  Model& model_;
};

// What the file says about itself, and what every trace has.
class Metadata {
 public:
  static constexpr const char* kName = "metadata";
  static constexpr double kAbout = 30;
  static std::span<const SourceColumn> columns() {
    static constexpr SourceColumn kColumns[] = {
        {"id", "INTEGER", Narrows::kKey}, {"key", "TEXT"}, {"value", ""}};
    return kColumns;
  }
  explicit Metadata(Model& model) : trace_(model.trace()) {}
  size_t count() const { return kOwn.size() + trace_.metadata().size(); }
  void cell(sqlite3_context* out, size_t row, int column) const {
    if (row >= kOwn.size()) {
      const auto& [key, value] = trace_.metadata()[row - kOwn.size()];
      return put(out, column == 1 ? key : value);
    }
    if (column == 1) return put(out, kOwn[row]);
    switch (row) {
      case 0:
        return put(out, trace_.format());
      case 1:
        return put(out, trace_.host());
      case 2:
        if (trace_.start_ns()) sqlite3_result_int64(out, *trace_.start_ns());
        return;
      case 3:
        return sqlite3_result_int64(out, trace_.first_begin().value);
      case 4:
        return sqlite3_result_int64(out, trace_.last_end().value);
      default:
        return;
    }
  }

 private:
  static constexpr std::array<std::string_view, 5> kOwn = {
      "sonde.format", "sonde.host", "sonde.start_ns", "sonde.first_ts", "sonde.last_ts"};
  const Trace& trace_;
};

}  // namespace

std::unique_ptr<Source> tracks_table(Model& model) {
  return std::make_unique<NumberedTable<Tracks>>(model);
}
std::unique_ptr<Source> names_table(Model& model) {
  return std::make_unique<NumberedTable<Names>>(model);
}
std::unique_ptr<Source> steps_table(Model& model) {
  return std::make_unique<NumberedTable<StepRows>>(model);
}
std::unique_ptr<Source> metadata_table(Model& model) {
  return std::make_unique<NumberedTable<Metadata>>(model);
}

}  // namespace sonde::capture::sql
