// TensorBoard's Time Series plug-in: scalars, histograms and images through one route. A request
// for one tag of a thousand runs, or a hundred tags of a hundred, is what a large log makes the
// page ask, so the series of all requests of a call are spread over the cores together.
#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "api/tensorboard/areas.h"
#include "api/tensorboard/blobs.h"
#include "api/tensorboard/histogram_json.h"
#include "api/tensorboard/scalar_json.h"
#include "api/tensorboard/shared.h"
#include "codec/json_read.h"

namespace sonde::api::tensorboard {
namespace {

constexpr size_t kMaxRequests = 100'000;

// Descriptions of one tag: which runs say what. Differing ones are shown together.
class TagDescriptions {
 public:
  void add(const std::string& run, const store::Series& series) {
    const std::string& text = series.metadata().description;
    if (text.empty()) return;
    tags_[series.tag()].insert(text);
    runs_[text].insert(run);
  }

  void write(JsonWriter& json, Descriptions& descriptions) const {
    json.object([&] {
      for (const auto& [tag, texts] : tags_) {
        json.key(tag).string(
            descriptions.html(texts.size() == 1 ? *texts.begin() : combined(texts)));
      }
    });
  }

 private:
  std::string combined(const std::set<std::string>& texts) const {
    std::string out = "# Multiple descriptions";
    for (const std::string& text : texts) {
      const std::set<std::string>& runs = runs_.at(text);
      out += runs.size() > 1 ? "\n## For runs: " : "\n## For run: ";
      bool is_first = true;
      for (const std::string& run : runs) {
        out += is_first ? run : ", " + run;
        is_first = false;
      }
      out += "\n" + text;
    }
    return out;
  }

  std::map<std::string, std::set<std::string>> tags_;
  std::map<std::string, std::set<std::string>> runs_;
};

void write_plain_kind(JsonWriter& json, const store::Snapshot& snapshot,
                      store::DataClass data_class, std::string_view plugin,
                      Descriptions& descriptions) {
  TagDescriptions tags;
  json.object([&] {
    json.key("runTagInfo").object([&] {
      std::vector<std::string_view> names;
      for (const auto& run : snapshot.runs) {
        names.clear();
        bool is_listed = false;
        for (const auto& series : run->series) {
          if (!belongs(*series, data_class, plugin)) continue;
          is_listed = true;
          if (!has_known_version(*series)) continue;
          names.push_back(series->tag());
          tags.add(run->name, *series);
        }
        if (!is_listed) continue;
        std::sort(names.begin(), names.end());
        json.key(run->name).array([&] {
          for (const std::string_view name : names) json.string(name);
        });
      }
    });
    json.key("tagDescriptions");
    tags.write(json, descriptions);
  });
}

void write_images(const Context& context, JsonWriter& json, const store::Snapshot& snapshot,
                  Descriptions& descriptions) {
  TagDescriptions tags;
  std::map<std::string, std::vector<std::pair<std::string, int64_t>>> sampled;
  for (const auto& run : snapshot.runs) {
    for (const auto& series : run->series) {
      if (!belongs(*series, store::DataClass::kBlobSequence, "images") ||
          !has_known_version(*series))
        continue;
      tags.add(run->name, *series);
      const uint32_t most = query::longest(*series, *lengths_of(context, *run, *series));
      sampled[series->tag()].emplace_back(run->name, static_cast<int64_t>(most) - 2);
    }
  }
  json.object([&] {
    json.key("tagDescriptions");
    tags.write(json, descriptions);
    json.key("tagRunSampledInfo").object([&] {
      for (const auto& [tag, runs] : sampled) {
        json.key(tag).object([&] {
          for (const auto& [run, most] : runs) {
            json.key(run).object([&] { json.key("maxSamplesPerStep").number(most); });
          }
        });
      }
    });
  });
}

Answer tags(const Context& context, const Request&) {
  const auto snapshot = context.store.snapshot();
  return remembered_json(context, "timeseries/tags", snapshot->revision, [&] {
    Descriptions descriptions;
    std::string out;
    JsonWriter json(out);
    json.object([&] {
      json.key("scalars");
      write_plain_kind(json, *snapshot, store::DataClass::kScalar, "scalars", descriptions);
      json.key("histograms");
      write_plain_kind(json, *snapshot, store::DataClass::kTensor, "histograms", descriptions);
      json.key("images");
      write_images(context, json, *snapshot, descriptions);
    });
    return out;
  });
}

// One element of a call and the pieces of its answer.
struct Element {
  std::string head;  // {"plugin":…,"tag":…[,"run":…][,"sample":…]
  std::string error;
  std::string plugin, tag;
  std::optional<std::string> run;
  int64_t sample = 0;
  size_t first_part = 0, parts = 0;
};

struct Part {
  const Element* element;
  const store::RunSnapshot* run;
  const store::Series* series;
};

bool is_integer(const JsonValue* value) {
  return value && value->is_number() && value->text.find_first_of(".eE") == std::string::npos;
}

std::string error_of(const JsonValue& item) {
  const JsonValue* tag = item.find("tag");
  const JsonValue* plugin = item.find("plugin");
  const JsonValue* run = item.find("run");
  const JsonValue* sample = item.find("sample");
  if (!tag || !tag->is_string()) return "Missing tag";
  const std::string name = plugin && plugin->is_string() ? plugin->text : "";
  if (name != "scalars" && name != "histograms" && name != "images") return "Invalid plugin";
  if (name != "scalars" && (!run || !run->is_string())) return "Missing run";
  if (name == "images" && !is_integer(sample)) return "Missing sample";
  return {};
}

Element element_of(const JsonValue& item) {
  Element element;
  JsonWriter json(element.head);
  const auto echo = [&](std::string_view name) {
    const JsonValue* value = item.find(name);
    json.key(name);
    value ? write_json(json, *value) : json.null();
  };
  echo("plugin");
  echo("tag");
  const JsonValue* run = item.find("run");
  const JsonValue* sample = item.find("sample");
  if (run && run->is_string()) echo("run");
  if (is_integer(sample)) echo("sample");
  element.error = error_of(item);
  if (!element.error.empty()) return element;
  element.plugin = item.find("plugin")->text;
  element.tag = item.find("tag")->text;
  if (run && run->is_string() && !run->text.empty()) element.run = run->text;
  if (is_integer(sample)) element.sample = sample->integer().value_or(-1);
  return element;
}

store::DataClass class_of(std::string_view plugin) {
  return plugin == "scalars"      ? store::DataClass::kScalar
         : plugin == "histograms" ? store::DataClass::kTensor
                                  : store::DataClass::kBlobSequence;
}

void add_parts(const store::Snapshot& snapshot, const Element& element, std::vector<Part>& parts) {
  const store::DataClass data_class = class_of(element.plugin);
  const auto add = [&](const store::RunSnapshot* run) {
    const store::Series* series = run ? run->find(element.tag) : nullptr;
    if (series && belongs(*series, data_class, element.plugin))
      parts.push_back({&element, run, series});
  };
  if (element.run) {
    add(snapshot.find(*element.run));
  } else {
    for (const auto& run : snapshot.runs) add(run.get());
  }
}

void append_bins(std::string& out, const HistogramPoint& point) {
  out += "{\"wallTime\":";
  append_json_number(out, point.wall_time);
  out += ",\"step\":";
  append_integer(out, point.step);
  out += ",\"bins\":[";
  for (const event::Bucket& bucket : point.buckets) {
    out += out.back() == '[' ? "{\"min\":" : ",{\"min\":";
    append_json_number(out, bucket.left);
    out += ",\"max\":";
    append_json_number(out, bucket.right);
    out += ",\"count\":";
    append_json_number(out, bucket.count);
    out.push_back('}');
  }
  out += "]}";
}

// Empty when no step has the wanted sample: the run is left out then.
std::string image_steps(const Context& context, const Part& part) {
  const auto lengths = lengths_of(context, *part.run, *part.series);
  const uint64_t limit = samples(context, "images", query::kAllSamples);
  std::string out;
  for (const query::SequencePoint& step : query::sequence_points(*part.series, *lengths, limit)) {
    const auto index = element_index(part.element->sample, kImageSizes, step.length);
    if (!index) continue;
    out += out.empty() ? "[{\"step\":" : ",{\"step\":";
    append_integer(out, step.point.step);
    out += ",\"wallTime\":";
    append_json_number(out, step.point.wall_time);
    out += ",\"imageId\":\"" +
           encode({"images", part.run->name, part.series->tag(), step.point.step, *index}) + "\"}";
  }
  if (!out.empty()) out.push_back(']');
  return out;
}

// False when a run has nothing to show: no step has the wanted sample.
bool append_series(const Context& context, std::string& out, const Part& part, uint64_t limit) {
  if (part.element->plugin == "scalars") {
    append_objects(out, *part.series, limit);
    return true;
  }
  if (part.element->plugin == "histograms") {
    const uint64_t most = samples(context, "histograms", kDefaultSamples);
    out += histogram_array(context, *part.series, most, append_bins).json;
    return true;
  }
  const std::string steps = image_steps(context, part);
  out += steps;
  return !steps.empty();
}

// A stretch of the answer that one thread writes: an element, or some of the runs of a large one.
struct Stretch {
  const Element* element;
  std::span<const Part> parts;
  uint64_t points = 0;               // of scalars
  bool opens = true, closes = true;  // the element begins, ends in this stretch
};

// About 300 kB of text: enough to be worth a thread's turn, little enough to share evenly.
constexpr uint64_t kPointsOfStretch = 4096;

std::vector<Stretch> stretches_of(const std::vector<Element>& elements,
                                  const std::vector<Part>& parts, uint64_t limit) {
  std::vector<Stretch> stretches;
  for (const Element& element : elements) {
    const std::span<const Part> all(parts.data() + element.first_part, element.parts);
    if (element.plugin != "scalars" || all.empty()) {
      stretches.push_back({&element, all});
      continue;
    }
    size_t begin = 0;
    uint64_t points = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      points += std::min(all[i].series->size(store::View::kNewest), limit);
      if (points < kPointsOfStretch && i + 1 < all.size()) continue;
      stretches.push_back(
          {&element, all.subspan(begin, i + 1 - begin), points, begin == 0, i + 1 == all.size()});
      begin = i + 1;
      points = 0;
    }
  }
  return stretches;
}

std::string text_of(const Context& context, const Stretch& stretch, uint64_t limit) {
  const Element& element = *stretch.element;
  std::string out;
  out.reserve(stretch.points * kObjectBytes + stretch.parts.size() * 64 + element.head.size() + 64);
  if (stretch.opens) {
    out += "{" + element.head;
    if (!element.error.empty()) return out + ",\"error\":\"" + element.error + "\"}";
    out += ",\"runToSeries\":{";
  }
  bool is_first = stretch.opens;
  for (const Part& part : stretch.parts) {
    const size_t before = out.size();
    if (!is_first) out.push_back(',');
    append_json_string(out, part.run->name);
    out.push_back(':');
    if (append_series(context, out, part, limit)) {
      is_first = false;
    } else {
      out.resize(before);
    }
  }
  if (stretch.closes) out += "}}";
  return out;
}

Answer answer_of(const Context& context, const std::vector<Element>& elements,
                 const std::vector<Part>& parts) {
  const uint64_t limit = samples(context, "scalars", kDefaultSamples);
  const std::vector<Stretch> stretches = stretches_of(elements, parts, limit);
  std::vector<std::string> texts(stretches.size() + 1);
  const auto write = [&](size_t i) {
    texts[i] = text_of(context, stretches[i], limit);
    if (stretches[i].opens) texts[i].insert(texts[i].begin(), i == 0 ? '[' : ',');
  };
  const bool is_scalars = std::all_of(elements.begin(), elements.end(), [](const Element& element) {
    return element.plugin == "scalars";
  });
  if (is_scalars && stretches.size() > 1) {
    context.pool.for_each(stretches.size(), write);
  } else {  // histograms split inside
    for (size_t i = 0; i < stretches.size(); ++i) write(i);
  }
  texts.back() = stretches.empty() ? "[]" : "]";
  Answer answer;
  answer.body = std::move(texts);
  return answer;
}

Answer time_series(const Context& context, const Request& request) {
  const Fields fields = request.method == "POST" ? form_fields(request) : Fields(request.query);
  const auto text = field(fields, "requests");
  if (!text || text->empty()) return invalid("Missing 'requests' field");
  const auto requests = read_json(*text);
  if (!requests) return invalid("Unable to parse 'requests' as JSON");
  const bool is_empty_object = requests->is_object() && requests->members.empty();
  if (is_empty_object)
    return Answer::json("[]");  // as TensorBoard: nothing asked, nothing answered
  if (!requests->is_array() || requests->items.size() > kMaxRequests) {
    return invalid("'requests' must be a list of at most " + std::to_string(kMaxRequests) +
                   " objects");
  }
  const auto snapshot = context.store.snapshot();
  std::vector<Element> elements;
  elements.reserve(requests->items.size());
  for (const JsonValue& item : requests->items) {
    if (!item.is_object()) return invalid("each of 'requests' must be an object");
    elements.push_back(element_of(item));
  }
  std::vector<Part> parts;
  for (Element& element : elements) {
    element.first_part = parts.size();
    if (element.error.empty()) add_parts(*snapshot, element, parts);
    element.parts = parts.size() - element.first_part;
  }
  return answer_of(context, elements, parts);
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/timeseries/tags", tags},
    {"*", "/data/plugin/timeseries/timeSeries", time_series},
};

}  // namespace

std::span<const Route> timeseries_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
