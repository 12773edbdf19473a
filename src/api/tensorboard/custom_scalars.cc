// TensorBoard's custom scalars plug-in: layouts of charts, and the scalars their patterns name.
#include <algorithm>
#include <map>

#include "api/tensorboard/areas.h"
#include "api/tensorboard/scalar_json.h"
#include "api/tensorboard/shared.h"
#include "base/regex.h"
#include "codec/wire.h"
#include "log/event/blob.h"

namespace sonde::api::tensorboard {
namespace {

constexpr std::string_view kConfigTag = "custom_scalars__config__";

struct Category {
  std::string title;
  bool is_closed = false;
  std::vector<std::string> charts;  // as JSON; equal text means an equal chart
};

std::string text_field(const wire::Field& message, uint32_t number) {
  std::string text;
  wire::Cursor cursor(message.bytes);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == number && field.is_bytes()) text = field.text();
  }
  return text;
}

// {"title":…,"multiline":{"tag":[…]}} or {"title":…,"margin":{"series":[…]}}
std::string chart_json(const wire::Field& chart) {
  std::string out;
  JsonWriter json(out);
  wire::Field content;  // the member of the oneof that was set last
  wire::Cursor cursor(chart.bytes);
  for (wire::Field field; cursor.next(field);) {
    if ((field.number == 2 || field.number == 3) && field.is_bytes()) content = field;
  }
  json.object([&] {
    json.key("title").string(text_field(chart, 1));
    wire::Cursor parts(content.bytes);
    if (content.number == 2) {
      json.key("multiline").object([&] {
        json.key("tag").array([&] {
          for (wire::Field tag; parts.next(tag);) {
            if (tag.number == 1 && tag.is_bytes()) json.string(tag.text());
          }
        });
      });
    } else if (content.number == 3) {
      json.key("margin").object([&] {
        json.key("series").array([&] {
          for (wire::Field series; parts.next(series);) {
            if (series.number != 1 || !series.is_bytes()) continue;
            json.object([&] {
              json.key("value").string(text_field(series, 1));
              json.key("lower").string(text_field(series, 2));
              json.key("upper").string(text_field(series, 3));
            });
          }
        });
      });
    }
  });
  return out;
}

Category category_of(const wire::Field& message) {
  Category category;
  wire::Cursor cursor(message.bytes);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == 1 && field.is_bytes()) category.title = field.text();
    if (field.number == 2 && field.is_bytes()) category.charts.push_back(chart_json(field));
    if (field.number == 3 && !field.is_bytes()) category.is_closed = field.as_bool();
  }
  return category;
}

// The layouts of all runs as one: categories of one title are joined, equal charts kept once.
class Layout {
 public:
  void add(Bytes layout) {
    const bool is_first = !is_found_;
    is_found_ = true;
    wire::Cursor cursor(layout);
    for (wire::Field field; cursor.next(field);) {
      if (field.number == 1 && !field.is_bytes() && is_first) version_ = field.as_int();
      if (field.number == 2 && field.is_bytes()) add(category_of(field), is_first);
    }
  }

  std::string json() const {
    if (!is_found_) return "{}";
    std::string out;
    JsonWriter json(out);
    json.object([&] {
      json.key("category").array([&] {
        for (const Category& category : categories_) {
          json.object([&] {
            json.key("title").string(category.title);
            json.key("chart").array([&] {
              for (const std::string& chart : category.charts) json.raw(chart);
            });
            json.key("closed").boolean(category.is_closed);
          });
        }
      });
      json.key("version").number(version_);
    });
    return out;
  }

 private:
  void add(Category category, bool is_first) {
    const auto same = std::find_if(categories_.begin(), categories_.end(),
                                   [&](const Category& c) { return c.title == category.title; });
    if (is_first || same == categories_.end()) {
      categories_.push_back(std::move(category));
      return;
    }
    for (std::string& chart : category.charts) {
      if (std::find(same->charts.begin(), same->charts.end(), chart) == same->charts.end()) {
        same->charts.push_back(std::move(chart));
      }
    }
  }

  std::vector<Category> categories_;
  int64_t version_ = 0;
  bool is_found_ = false;
};

Answer layout(const Context& context, const Request&) {
  const auto snapshot = context.store.snapshot();
  std::map<std::string_view, const store::Series*> by_run;
  for (const auto& run : snapshot->runs) {
    const store::Series* series = run->find(kConfigTag);
    if (series && belongs(*series, store::DataClass::kTensor, "custom_scalars"))
      by_run[run->name] = series;
  }
  Layout merged;
  for (const auto& [run, series] : by_run) {
    const auto points = query::blob_points(*series);
    if (points.empty()) continue;
    std::string payload;
    const auto value = read_value(context, points.back().where, payload);
    if (!value) continue;
    const auto text = event::text(*value);
    if (text && !text->strings.empty()) merged.add(as_bytes(text->strings[0]));
  }
  return Answer::json(merged.json());
}

Answer matching_scalars(const Context& context, const Request& request) {
  const auto run = request.param("run");
  const auto pattern = request.param("tag");
  const auto regex = Regex::compile(pattern.value_or(""));
  if (!pattern || pattern->empty() || !regex) {
    return Answer::json("{\"regex_valid\":false,\"tag_to_events\":{}}");
  }
  if (!run) return invalid("run must be given");
  const auto snapshot = context.store.snapshot();
  std::vector<const store::Series*> found;
  if (const store::RunSnapshot* known = snapshot->find(*run)) {
    for (const auto& series : known->series) {
      if (belongs(*series, store::DataClass::kScalar, "scalars") &&
          regex->matches_start(series->tag())) {
        found.push_back(series.get());
      }
    }
  }
  const uint64_t limit = samples(context, "scalars", kDefaultSamples);
  std::vector<std::string> pieces(found.size());
  for_each_part(context, found.size(), [&](size_t i) {
    append_json_string(pieces[i], found[i]->tag());
    pieces[i].push_back(':');
    append_triples(pieces[i], *found[i], limit);
  });
  return Answer::json("{\"regex_valid\":true,\"tag_to_events\":{" + joined(pieces) + "}}");
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/custom_scalars/layout", layout},
    {"*", "/data/plugin/custom_scalars/scalars", matching_scalars},
    {"*", "/data/plugin/custom_scalars/download_data", scalar_series},
};

}  // namespace

std::span<const Route> custom_scalars_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
