// `sonde inspect LOGDIR`: what is in a log directory, as tables for people or as JSON. The JSON of
// a run has the members of TensorBoard's inventory (points, steps, sums as its reader sees them)
// and beside them what Sonde knows.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/strings.h"
#include "base/text_table.h"
#include "cli/commands.h"
#include "cli/logdir.h"
#include "codec/json.h"
#include "log/event/blob.h"
#include "log/event/tensor.h"
#include "log/event/value.h"

namespace sonde::cli {
namespace {

using store::BlobReader;
using store::MistypedValue;
using store::Range;
using store::RunSnapshot;
using store::ScalarBlock;
using store::Series;
using store::Snapshot;
using store::View;

std::string_view kind_of(store::DataClass data_class) {
  switch (data_class) {
    case store::DataClass::kScalar:
      return "scalar";
    case store::DataClass::kTensor:
      return "tensor";
    case store::DataClass::kBlobSequence:
      return "blob_sequence";
    default:
      return "unknown";
  }
}

// Calls fn(step) for each point of a view in arrival order, strays in their places.
template <class Fn>
void each_step(const Series& series, View view, Fn&& fn) {
  const auto strays = series.strays();
  size_t next_stray = 0;
  const auto strays_until = [&](uint64_t position) {
    while (next_stray < strays.size() && strays[next_stray].position <= position)
      fn(strays[next_stray++].point.step);
  };
  for (const Range range : series.ranges(view)) {
    uint64_t at = range.begin;
    if (series.is_scalar()) {
      series.blocks(range, [&](const ScalarBlock& block) {
        if (next_stray == strays.size()) {
          for (const Step step : block.steps) fn(step);
          at += block.size();
          return;
        }
        for (const Step step : block.steps) {
          strays_until(at++);
          fn(step);
        }
      });
    } else {
      for (const store::BlobPoint& point : series.points(range)) fn(point.step);
    }
  }
  strays_until(std::numeric_limits<uint64_t>::max());
}

// [start, stride, count] runs.
class StepRuns {
 public:
  explicit StepRuns(JsonWriter& json) : json_(json) {}
  void add(Step step) {
    // Unsigned, because the difference of two steps may not fit.
    const auto stride = static_cast<uint64_t>(step) - static_cast<uint64_t>(last_);
    if (count_ == 1) {
      stride_ = stride;
    } else if (count_ == 0 || stride != stride_) {
      flush();
      start_ = step;
      count_ = 0;
    }
    last_ = step;
    ++count_;
  }
  void flush() {
    if (count_ == 0) return;
    json_.array([&] {
      json_.number(start_);
      json_.number(count_ == 1 ? int64_t{0} : static_cast<int64_t>(stride_));
      json_.number(count_);
    });
    count_ = 0;
  }

 private:
  JsonWriter& json_;
  Step start_ = 0, last_ = 0;
  uint64_t stride_ = 0, count_ = 0;
};

void write_steps(JsonWriter& json, const Series& series, View view) {
  json.array([&] {
    StepRuns runs(json);
    each_step(series, view, [&](Step step) { runs.add(step); });
    runs.flush();
  });
}

// The first element of a value as a number, as TensorBoard's reader makes one of it; NaN when it
// cannot.
double first_number(const BlobReader& blobs, const MistypedValue& stray) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const auto payload = blobs.event(stray.point.where);
  if (!payload) return kNone;
  const auto value = event::find_value(as_bytes(*payload), stray.point.where.value);
  if (!value) return kNone;
  std::string text;
  if (value->kind == event::ValueKind::kTensor) {
    const auto tensor = event::parse_tensor(value->body);
    if (!tensor) return kNone;
    if (const auto numbers = event::decode_doubles(*tensor); numbers && !numbers->empty())
      return numbers->front();
    if (const auto strings = event::decode_strings(*tensor); strings && !strings->empty())
      text = strings->front();
  } else if (const auto items = event::blob_sequence(*value, ""); items && !items->items.empty()) {
    text = items->items.front();
  }
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? kNone : number;
}

struct Sums {
  double sum = 0, min = std::numeric_limits<double>::quiet_NaN(), max = min;
  uint64_t not_finite = 0;
  void add(double value) {
    if (!std::isfinite(value)) {
      ++not_finite;
      return;
    }
    sum += value;
    min = std::isnan(min) ? value : std::min(min, value);
    max = std::isnan(max) ? value : std::max(max, value);
  }
};

void write_sums(JsonWriter& json, const Series& series, const BlobReader& blobs) {
  Sums sums;
  for (const Range range : series.ranges(View::kNewest)) {
    series.blocks(range, [&](const ScalarBlock& block) {
      for (size_t i = 0; i < block.size(); ++i) sums.add(block.value(i));
    });
  }
  Sums theirs = sums;
  // TensorBoard reads nothing of a series in bfloat16, uint32 or uint64.
  if (series.unreadable() > 0 && series.unreadable() == series.size()) {
    theirs = {};
    theirs.not_finite = series.size(View::kNewest);
  }
  for (const MistypedValue& stray : series.strays()) theirs.add(first_number(blobs, stray));
  json.key("finite_sum").number(theirs.sum);
  json.key("not_finite").number(theirs.not_finite);
  json.key("value_sum").number(sums.sum);
  json.key("value_min").number(sums.min);
  json.key("value_max").number(sums.max);
  json.key("values_not_finite").number(sums.not_finite);
}

std::optional<Step> first_step(const Series& series) {
  std::optional<Step> first;
  const auto ranges = series.ranges(View::kNewest);
  if (!ranges.empty() && ranges.front().begin < ranges.front().end) {
    const Range one{ranges.front().begin, ranges.front().begin + 1};
    if (series.is_scalar())
      series.blocks(one, [&](const ScalarBlock& block) { first = block.steps.front(); });
    else
      first = series.points(one).front().step;
  }
  if (!series.strays().empty() && (!first || series.strays().front().position == 0))
    first = series.strays().front().point.step;
  return first;
}

std::optional<Step> last_step(const Series& series) {
  std::optional<Step> last;
  const auto ranges = series.ranges(View::kNewest);
  if (!ranges.empty() && ranges.back().begin < ranges.back().end) {
    const Range one{ranges.back().end - 1, ranges.back().end};
    if (series.is_scalar())
      series.blocks(one, [&](const ScalarBlock& block) { last = block.steps.back(); });
    else
      last = series.points(one).back().step;
  }
  if (!series.strays().empty() && (!last || series.strays().back().position == series.size()))
    last = series.strays().back().point.step;
  return last;
}

void write_optional(JsonWriter& json, std::optional<Step> step) {
  if (step)
    json.number(*step);
  else
    json.null();
}

void write_time(JsonWriter& json, double time) {
  if (std::isnan(time))
    json.null();
  else
    json.number(time);
}

void write_series(JsonWriter& json, const Series& series, const BlobReader& blobs) {
  json.object([&] {
    const uint64_t strays = series.strays().size();
    json.key("plugin").string(to_utf8(series.metadata().plugin));
    json.key("kind").string(kind_of(series.metadata().data_class));
    json.key("points").number(series.size(View::kNewest) + strays);
    json.key("raw_points").number(series.size() + strays);
    json.key("first_step");
    write_optional(json, first_step(series));
    json.key("last_step");
    write_optional(json, last_step(series));
    json.key("steps");
    write_steps(json, series, View::kNewest);
    if (series.size(View::kNewest) != series.size()) {
      json.key("raw_steps");
      write_steps(json, series, View::kAll);
    }
    if (series.is_scalar()) write_sums(json, series, blobs);
    if (strays > 0) json.key("not_numbers").number(strays);
    json.key("display_name").string(to_utf8(series.metadata().display_name));
  });
}

void write_run(JsonWriter& json, const Snapshot& snapshot, const RunSnapshot& run,
               const BlobReader& blobs) {
  json.object([&] {
    json.key("files").object([&] {
      for (const store::FileId id : run.files) {
        const store::FileState& file = *snapshot.files[static_cast<size_t>(id)];
        json.key(file.name).object([&] {
          json.key("bytes").number(file.size_bytes);
          json.key("records").number(file.records);
          json.key("state").string(file.state);
          json.key("damaged").number(file.damaged);
        });
      }
    });
    json.key("first_event_wall_time");
    write_time(json, run.first_wall_time);
    json.key("last_wall_time");
    write_time(json, run.last_wall_time);
    json.key("has_graph").boolean(run.find(event::kRunGraphTag) || !run.meta_graphs.empty());
    json.key("has_meta_graph").boolean(!run.meta_graphs.empty());
    json.key("run_metadata").array([] {});
    json.key("points").number(run.points);
    json.key("bytes").number(run.bytes);
    json.key("segments").number(uint64_t{run.segments});
    json.key("tags").object([&] {
      for (const auto& series : run.series) {
        json.key(to_utf8(series->tag()));
        write_series(json, *series, blobs);
      }
    });
  });
}

struct Totals {
  uint64_t runs = 0, series = 0, points = 0, bytes = 0, files = 0, records = 0, damaged = 0;
  double first = std::numeric_limits<double>::infinity(), last = -first;
};

Totals totals_of(const Snapshot& snapshot) {
  Totals totals;
  totals.runs = snapshot.runs.size();
  for (const auto& run : snapshot.runs) {
    totals.series += run->series.size();
    totals.points += run->points;
    totals.bytes += run->bytes;
    for (const store::FileId id : run->files) {
      const store::FileState& file = *snapshot.files[static_cast<size_t>(id)];
      ++totals.files;
      totals.records += file.records;
      totals.damaged += file.damaged;
    }
    if (std::isfinite(run->min_wall_time))
      totals.first = std::min(totals.first, run->min_wall_time);
    if (std::isfinite(run->last_wall_time))
      totals.last = std::max(totals.last, run->last_wall_time);
  }
  return totals;
}

void write_damage(JsonWriter& json, const Snapshot& snapshot) {
  json.array([&] {
    for (const auto& run : snapshot.runs) {
      for (const store::Damage& damage : run->damage) {
        json.object([&] {
          json.key("run").string(run->name);
          json.key("file").string(snapshot.files[static_cast<size_t>(damage.file)]->name);
          json.key("offset").number(damage.offset);
          json.key("length").number(damage.length);
          json.key("kind").string(damage.kind);
          json.key("severity").string(damage.severity == store::Severity::kLoss ? "loss" : "note");
          json.key("text").string(damage.text);
          json.key("advice").string(damage.advice);
        });
      }
    }
  });
}

std::string as_json(const store::Store& store) {
  const auto snapshot = store.snapshot();
  const Totals totals = totals_of(*snapshot);
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("runs").object([&] {
      for (const auto& run : snapshot->runs) {
        json.key(run->name);
        write_run(json, *snapshot, *run, store.blobs());
      }
    });
    json.key("totals").object([&] {
      json.key("runs").number(totals.runs);
      json.key("tags").number(totals.series);
      json.key("points").number(totals.points);
      json.key("bytes").number(totals.bytes);
      json.key("files").number(totals.files);
      json.key("records").number(totals.records);
      json.key("damaged").number(totals.damaged);
      json.key("first_wall_time");
      write_time(json, totals.first <= totals.last ? totals.first : std::nan(""));
      json.key("last_wall_time");
      write_time(json, totals.first <= totals.last ? totals.last : std::nan(""));
    });
    json.key("damage");
    write_damage(json, *snapshot);
    json.key("skipped").array([&] {
      for (const store::Skipped& skipped : store.diagnosis().skipped) {
        json.object([&] {
          json.key("path").string(to_utf8(skipped.path));
          json.key("reason").string(skipped.reason);
        });
      }
    });
  });
  out += '\n';
  return out;
}

std::string time_text(double seconds) {
  if (!std::isfinite(seconds) || std::abs(seconds) > 1e11) return "-";
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm local{};
  ::localtime_r(&whole, &local);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", local);
}

std::string steps_text(std::optional<Step> first, std::optional<Step> last) {
  if (!first || !last) return "-";
  return *first == *last ? std::to_string(*first) : fmt::format("{} … {}", *first, *last);
}

std::string duration_text(double seconds) {
  if (!(seconds >= 0)) return "-";
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} days", seconds / 86400);
}

void print_runs(const Snapshot& snapshot) {
  Table table({{"RUN"},
               {"TAGS", Align::kRight},
               {"POINTS", Align::kRight},
               {"SIZE", Align::kRight},
               {"FILES", Align::kRight},
               {"SEGMENTS", Align::kRight},
               {"FIRST WRITTEN"},
               {"SPAN", Align::kRight},
               {"DAMAGE", Align::kRight}});
  for (const auto& run : snapshot.runs) {
    uint64_t damaged = 0;
    for (const store::FileId id : run->files)
      damaged += snapshot.files[static_cast<size_t>(id)]->damaged;
    table.row({run->name, human_count(run->series.size()), human_count(run->points),
               human_bytes(run->bytes), human_count(run->files.size()),
               std::to_string(run->segments), time_text(run->min_wall_time),
               duration_text(run->last_wall_time - run->min_wall_time),
               damaged ? human_count(damaged) : ""});
  }
  table.print();
}

void print_tags(const Snapshot& snapshot) {
  Table table({{"RUN"}, {"TAG"}, {"PLUGIN"}, {"KIND"}, {"POINTS", Align::kRight}, {"STEPS"}});
  for (const auto& run : snapshot.runs) {
    for (const auto& series : run->series) {
      const uint64_t shown = series->size(View::kNewest) + series->strays().size();
      const uint64_t hidden = series->size() - series->size(View::kNewest);
      table.row({run->name, to_utf8(series->tag()), to_utf8(series->metadata().plugin),
                 std::string(kind_of(series->metadata().data_class)),
                 human_count(shown) + (hidden ? " (+" + human_count(hidden) + ")" : ""),
                 steps_text(first_step(*series), last_step(*series))});
    }
  }
  table.print();
}

void print_plugins(const Snapshot& snapshot) {
  struct Count {
    uint64_t tags = 0, points = 0;
  };
  std::map<std::string, Count> plugins;
  for (const auto& run : snapshot.runs) {
    for (const auto& series : run->series) {
      const std::string& plugin = series->metadata().plugin;
      Count& count = plugins[plugin.empty() ? "(no plug-in)" : to_utf8(plugin)];
      ++count.tags;
      count.points += series->size() + series->strays().size();
    }
  }
  Table table({{"PLUGIN"}, {"TAGS", Align::kRight}, {"POINTS", Align::kRight}});
  for (const auto& [plugin, count] : plugins)
    table.row({plugin, human_count(count.tags), human_count(count.points)});
  table.print();
}

void print_damage(const Snapshot& snapshot) {
  Table table({{"RUN"}, {"FILE"}, {"BYTE", Align::kRight}, {"WHAT"}, {"ADVICE"}});
  for (const auto& run : snapshot.runs) {
    for (const store::Damage& damage : run->damage)
      table.row({run->name, snapshot.files[static_cast<size_t>(damage.file)]->name,
                 std::to_string(damage.offset), damage.text, damage.advice});
  }
  table.print();
}

void print_tables(const store::Store& store, bool all_tags) {
  const auto snapshot = store.snapshot();
  const Totals totals = totals_of(*snapshot);
  fmt::print("{}: {} runs, {} tags, {} points, {} in {} files", store.options().roots.front().path,
             human_count(totals.runs), human_count(totals.series), human_count(totals.points),
             human_bytes(totals.bytes), human_count(totals.files));
  if (totals.first <= totals.last)
    fmt::print(", {} from {}", duration_text(totals.last - totals.first), time_text(totals.first));
  fmt::print("\n");
  if (totals.runs == 0) return;
  fmt::print("\n");
  print_runs(*snapshot);
  fmt::print("\n");
  print_plugins(*snapshot);
  constexpr uint64_t kFitsTheScreen = 60;
  if (all_tags || totals.series <= kFitsTheScreen) {
    fmt::print("\n");
    print_tags(*snapshot);
  } else {
    fmt::print("\n--tags lists all {} tags\n", human_count(totals.series));
  }
  if (totals.damaged > 0) {
    fmt::print("\n{} damaged places\n", human_count(totals.damaged));
    print_damage(*snapshot);
  }
}

}  // namespace

int inspect_command(const Args& args) {
  if (asks_for_help(args)) {
    fmt::print(
        "sonde inspect LOGDIR [--json] [--tags]\n"
        "\n"
        "Lists what a log directory holds: runs, tags, points, steps, times, damage.\n"
        "\n"
        "  --json                        everything as one JSON object\n"
        "  --tags                        all tags, however many\n"
        "{}",
        kLogdirHelp);
    return 0;
  }
  LogdirFlags logdir;
  bool json = false, tags = false;
  Flags flags("sonde inspect");
  logdir.declare(flags);
  flags.on("json", json);
  flags.on("tags", tags);
  if (const auto parsed = flags.parse(args); !parsed) return failed(parsed.error().text, 2);
  const auto start = std::chrono::steady_clock::now();
  const auto store = open_logdir(logdir);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!store) return failed(store.error().text, store.error().code == Code::kInvalid ? 2 : 1);
  if (json) {
    const std::string out = as_json(**store);
    std::fwrite(out.data(), 1, out.size(), stdout);
  } else {
    print_tables(**store, tags);
    fmt::print("\nread in {:.3f} s\n", took.count());
  }
  return std::fflush(stdout) == 0 ? 0 : failed("cannot write the answer");
}

}  // namespace sonde::cli
