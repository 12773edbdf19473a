#include "cli/digest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"
#include "base/strings.h"
#include "io/file.h"
#include "io/scan.h"
#include "log/event/value.h"
#include "log/record/frames.h"

namespace sonde::cli {
namespace {

const std::string kSeparator = std::string(70, '=') + "\n\n";

// What is counted, in the order printed.
enum Field : uint8_t {
  kAudio,
  kGraph,
  kHistograms,
  kImages,
  kScalars,
  kCheckpoint,
  kStart,
  kStopped,
  kTensor,
  kFields
};
constexpr std::array<std::string_view, kFields> kNames = {"audio",
                                                          "graph",
                                                          "histograms",
                                                          "images",
                                                          "scalars",
                                                          "sessionlog:checkpoint",
                                                          "sessionlog:start",
                                                          "sessionlog:stop",
                                                          "tensor"};
bool has_tags(uint8_t field) {
  return field == kAudio || field == kHistograms || field == kImages || field == kScalars ||
         field == kTensor;
}

struct Observed {
  std::vector<Step> steps;  // in file order
  std::set<std::string> tags;
};
using Unit = std::array<Observed, kFields>;

void observe(Unit& unit, Field field, Step step, std::string_view tag) {
  unit[field].steps.push_back(step);
  if (has_tags(field)) unit[field].tags.emplace(tag);
}

std::optional<Field> field_of(event::ValueKind kind) {
  switch (kind) {
    case event::ValueKind::kSimple:
      return kScalars;
    case event::ValueKind::kHisto:
      return kHistograms;
    case event::ValueKind::kImage:
      return kImages;
    case event::ValueKind::kAudio:
      return kAudio;
    case event::ValueKind::kTensor:
      return kTensor;
    default:
      return std::nullopt;
  }
}

void read_event(Bytes payload, const std::string& only_tag, Unit& unit) {
  const auto parsed = event::parse_event(payload);
  if (!parsed) return;
  if (parsed->what == event::What::kGraphDef && only_tag.empty()) {
    observe(unit, kGraph, parsed->step, "");
  } else if (parsed->what == event::What::kSessionLog && only_tag.empty()) {
    uint64_t status = 0;
    wire::Cursor cursor(parsed->body);
    for (wire::Field f; cursor.next(f);) {
      if (f.number == 1) status = f.as_uint();
    }
    if (status >= 1 && status <= 3) {
      constexpr Field kByStatus[] = {kStart, kStopped, kCheckpoint};
      observe(unit, kByStatus[status - 1], parsed->step, "");
    }
  } else if (parsed->what == event::What::kSummary) {
    event::for_each_value(payload, [&](Bytes message) {
      event::ValueView value;
      if (!event::parse_value(message, value)) return true;
      const auto field = field_of(value.kind);
      if (field && (only_tag.empty() || value.tag == only_tag)) {
        observe(unit, *field, parsed->step, value.tag);
      }
      return true;
    });
  }
}

Result<void> read_file(const std::string& path, const std::string& only_tag, Unit& unit) {
  SONDE_TRY(source, io::open_records(path));
  std::vector<std::byte> buffer;
  for (uint64_t at = 0;;) {
    std::array<std::byte, record::kHeader> header{};
    SONDE_TRY(got, source->read_at(at, header));
    if (got < header.size()) return {};
    const auto length = record::header_at(header, 0);
    if (!length || *length > record::kMaxPayload) return {};
    // A claimed length is believed only as far as bytes come.
    constexpr uint64_t kStep = 64 << 20;
    buffer.clear();
    while (buffer.size() < *length) {
      const size_t have = buffer.size();
      buffer.resize(have + std::min(kStep, *length - have));
      SONDE_TRY(read,
                source->read_at(at + record::kHeader + have, std::span(buffer).subspan(have)));
      if (read < buffer.size() - have) return {};
    }
    read_event(buffer, only_tag, unit);
    at += record::kOverhead + *length;
  }
}

std::string steps_out_of_order(const std::vector<Step>& steps) {
  std::string text = "[";
  for (size_t i = 1; i < steps.size(); ++i) {
    if (steps[i] >= steps[i - 1]) continue;
    text += fmt::format("{}({}, {})", text.size() > 1 ? ", " : "", steps[i - 1], steps[i]);
  }
  return text + "]";
}

void print_statistics(std::string& out, const Unit& unit, bool shows_missing) {
  const auto line = [&](std::string_view key, const auto& value) {
    out += fmt::format("   {:<20} {}\n", key, value);
  };
  for (uint8_t field = 0; field < kFields; ++field) {
    const std::vector<Step>& steps = unit[field].steps;
    if (steps.empty()) {
      if (shows_missing) out += fmt::format("{} -\n", kNames[field]);
      continue;
    }
    out += fmt::format("{}\n", kNames[field]);
    if (field == kStart || field == kStopped) {
      line("outoforder_steps", steps_out_of_order(steps));
      line("steps", fmt::format("[{}]", fmt::join(steps, ", ")));
      continue;
    }
    line("first_step", steps.front());
    line("last_step", steps.back());
    line("max_step", *std::ranges::max_element(steps));
    line("min_step", *std::ranges::min_element(steps));
    line("num_steps", std::unordered_set<Step>(steps.begin(), steps.end()).size());
    line("outoforder_steps", steps_out_of_order(steps));
  }
}

void print_unit(std::string& out, const std::string& name, const Unit& unit,
                const std::string& only_tag) {
  if (only_tag.empty()) {
    out += fmt::format("These tags are in {}:\n", name);
    for (uint8_t field = 0; field < kFields; ++field) {
      if (!has_tags(field)) continue;
      out += fmt::format("{}{}\n", kNames[field], unit[field].tags.empty() ? " -" : "");
      for (const std::string& tag : unit[field].tags) out += fmt::format("   {}\n", tag);
    }
    out += kSeparator;
    out += fmt::format("Event statistics for {}:\n", name);
  } else {
    out += fmt::format("Event statistics for tag {} in {}:\n", only_tag, name);
  }
  print_statistics(out, unit, only_tag.empty());
  out += kSeparator;
}

}  // namespace

Result<std::string> digest(const DigestRequest& request) {
  std::string out = kSeparator.substr(0, 71) +
                    "Processing event files... (this can take a few minutes)\n" + kSeparator;
  if (!request.event_file.empty()) {
    Unit unit;
    if (auto read = read_file(request.event_file, request.tag, unit); !read) {
      return fail(std::move(read).error().in("--event_file " + request.event_file));
    }
    print_unit(out, request.event_file, unit, request.tag);
    return out;
  }
  const auto stat = io::stat_of(io::absolute_path(request.logdir));
  if (stat && stat->regular) {
    return out + fmt::format(
                     "It seems that {} may be an event file instead of a logdir. If this is "
                     "the case, use --event_file instead of --logdir to pass it in.\n",
                     request.logdir);
  }
  std::vector<std::pair<std::string, Unit>> units;
  for (const io::FoundRun& run : io::scan({{"", request.logdir}}).runs) {
    std::string name = request.logdir;
    while (name.size() > 1 && name.ends_with('/')) name.pop_back();
    if (run.name != ".") name += "/" + run.name;
    auto& [where, unit] = units.emplace_back(name, Unit());
    for (const io::FoundFile& file : run.files) {
      // A file that cannot be opened holds nothing for this digest; `sonde inspect` says why.
      if (auto read = read_file(file.path, request.tag, unit); !read) continue;
    }
  }
  if (units.empty()) {
    return out + fmt::format("No event files found within logdir {}\n", request.logdir);
  }
  out += "Found event files in:\n";
  for (const auto& [name, unit] : units) out += name + "\n";
  out += "\n";
  for (const auto& [name, unit] : units) print_unit(out, name, unit, request.tag);
  return out;
}

}  // namespace sonde::cli
