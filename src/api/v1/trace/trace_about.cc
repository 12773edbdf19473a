// GET trace/about: what the capture says of itself and what reading it found wrong, and which
// categories, arguments and kinds of arrows there are to choose from.
#include <algorithm>

#include "api/v1/support.h"
#include "api/v1/trace/trace_viewed.h"

namespace sonde::api::v1 {
namespace {

using trace::kNone;
using trace::Trace;

struct Tally {
  trace::StringId text = kNone;
  uint64_t count = 0;
};

// How often each text occurs, most frequent first, equal ones by name.
class Tallies {
 public:
  explicit Tallies(const Trace& trace) : trace_(trace), counts_(trace.string_count()) {}
  void add(trace::StringId text, uint64_t by = 1) {
    if (text < counts_.size()) counts_[text] += by;
  }
  void write(JsonWriter& json) const {
    constexpr size_t kMost = 500;
    std::vector<Tally> rows;
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > 0) rows.push_back({static_cast<trace::StringId>(i), counts_[i]});
    }
    std::sort(rows.begin(), rows.end(), [&](const Tally& a, const Tally& b) {
      return a.count != b.count ? a.count > b.count : trace_.text(a.text) < trace_.text(b.text);
    });
    if (rows.size() > kMost) rows.resize(kMost);
    json.array([&] {
      for (const Tally& row : rows) {
        json.array([&] {
          json.string(trace_.text(row.text).substr(0, 500));
          json.number(row.count);
        });
      }
    });
  }

 private:
  const Trace& trace_;
  std::vector<uint64_t> counts_;
};

std::string_view severity_name(trace::Diagnostic::Severity severity) {
  using Severity = trace::Diagnostic::Severity;
  return severity == Severity::kInfo      ? "info"
         : severity == Severity::kWarning ? "warning"
                                          : "error";
}

void write_diagnostics(JsonWriter& json, const Trace& trace) {
  json.key("diagnostics").array([&] {
    for (const trace::Diagnostic& one : trace.diagnostics()) {
      json.object([&] {
        json.key("severity").string(severity_name(one.severity));
        json.key("text").string(one.text);
      });
    }
  });
}

void write_metadata(JsonWriter& json, const Trace& trace) {
  constexpr size_t kLongest = 4000;
  json.key("metadata").array([&] {
    for (const auto& [key, value] : trace.metadata()) {
      json.array([&] {
        json.string(key);
        json.string(std::string_view(value).substr(0, kLongest));
      });
    }
  });
}

}  // namespace

Answer trace_about(const Context& context, const Request& request) {
  SONDE_ANSWER(found, viewed(context, request));
  const Trace& trace = *found.trace;
  Tallies categories(trace), arguments(trace), flows(trace);
  std::vector<uint64_t> of_label(trace.labels().size());
  for (trace::SliceId s = 0; s < trace.slice_count(); ++s) ++of_label[trace.label_id(s)];
  for (size_t i = 0; i < of_label.size(); ++i) {
    const trace::Label& label = trace.labels()[i];
    categories.add(label.category, of_label[i]);
    // What a label says holds for each of its slices.
    for (uint32_t a = label.args.first; a < label.args.first + label.args.count; ++a)
      arguments.add(trace.arg(a).key, of_label[i]);
  }
  if (trace.slice_count() > 0) {
    const trace::ArgRange last = trace.args(trace.slice_count() - 1);
    for (uint32_t a = trace.args(0).first; a < last.first + last.count; ++a)
      arguments.add(trace.arg(a).key);
  }
  Arrows{found}.for_each([&](const trace::Flow& flow) { flows.add(flow.kind); });
  uint64_t points = 0;
  for (const trace::Track& track : trace.tracks()) points += track.points;
  const trace::Host& host = found.capture->session.hosts()[found.host];
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("format").string(trace.format());
    json.key("host").string(trace.host());
    json.key("file").string(host.file);
    json.key("file_bytes").number(host.file_bytes);
    if (trace.start_ns()) json.key("start_ns").safe_integer(*trace.start_ns());
    json.key("slices").number(trace.slice_count());
    json.key("points").number(points);
    json.key("flows").number(static_cast<uint64_t>(trace.flows().size()));
    write_metadata(json, trace);
    write_diagnostics(json, trace);
    json.key("categories");
    categories.write(json);
    json.key("arguments");
    arguments.write(json);
    json.key("kinds");
    flows.write(json);
  });
  return json_answer(context, 0, std::move(body));
}

}  // namespace sonde::api::v1
