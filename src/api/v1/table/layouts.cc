// GET layouts: charts that runs brought along (custom scalars) and those a person saved. Every
// layout summary of a run counts, not only its last; categories of one title become one, and of
// charts with one title in a category the first is kept, since runs of a sweep bring the same
// layout.
#include <algorithm>

#include "api/services/state.h"
#include "api/v1/area.h"
#include "api/v1/support.h"
#include "codec/wire.h"
#include "log/event/blob.h"
#include "log/event/value.h"

namespace sonde::api::v1 {
namespace {

struct Chart {
  std::string title, json;
};

struct Category {
  std::string title, run;
  bool is_closed = false;
  std::vector<Chart> charts;
};

std::string text_field(Bytes message, uint32_t number) {
  std::string text;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == number && field.is_bytes()) text = field.text();
  }
  return text;
}

void write_margin(JsonWriter& json, Bytes content) {
  json.key("margin").object([&] {
    json.key("series").array([&] {
      wire::Cursor cursor(content);
      for (wire::Field series; cursor.next(series);) {
        if (series.number != 1 || !series.is_bytes()) continue;
        json.object([&] {
          json.key("value").string(text_field(series.bytes, 1));
          json.key("lower").string(text_field(series.bytes, 2));
          json.key("upper").string(text_field(series.bytes, 3));
        });
      }
    });
  });
}

void write_multiline(JsonWriter& json, Bytes content) {
  json.key("multiline").object([&] {
    json.key("tags").array([&] {
      wire::Cursor cursor(content);
      for (wire::Field tag; cursor.next(tag);) {
        if (tag.number == 1 && tag.is_bytes()) json.string(tag.text());
      }
    });
  });
}

Chart chart_of(Bytes message) {
  Chart chart{text_field(message, 1), {}};
  wire::Field content;  // the member of the oneof that was set last
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if ((field.number == 2 || field.number == 3) && field.is_bytes()) content = field;
  }
  JsonWriter json(chart.json);
  json.object([&] {
    json.key("title").string(chart.title);
    if (content.number == 2) write_multiline(json, content.bytes);
    if (content.number == 3) write_margin(json, content.bytes);
  });
  return chart;
}

Category category_of(Bytes message, std::string_view run) {
  Category category;
  category.run = run;
  wire::Cursor cursor(message);
  for (wire::Field field; cursor.next(field);) {
    if (field.number == 1 && field.is_bytes()) category.title = field.text();
    if (field.number == 2 && field.is_bytes()) category.charts.push_back(chart_of(field.bytes));
    if (field.number == 3 && !field.is_bytes()) category.is_closed = field.as_bool();
  }
  return category;
}

void merge(std::vector<Category>& all, Category added) {
  const auto same = std::find_if(all.begin(), all.end(),
                                 [&](const Category& one) { return one.title == added.title; });
  if (same == all.end()) {
    all.push_back(std::move(added));
    return;
  }
  same->is_closed = same->is_closed && added.is_closed;
  for (Chart& chart : added.charts) {
    const bool known = std::any_of(same->charts.begin(), same->charts.end(),
                                   [&](const Chart& one) { return one.title == chart.title; });
    if (!known) same->charts.push_back(std::move(chart));
  }
}

std::vector<Category> categories_of(const Context& context, const store::Snapshot& snapshot) {
  std::vector<Category> all;
  for (const auto& run : snapshot.runs) {
    for (const auto& series : run->series) {
      if (kind_of(*series) != "layout") continue;
      for (const store::BlobPoint& point : points_of(*series, store::View::kNewest)) {
        const auto payload = context.store.blobs().event(point.where);
        if (!payload) continue;
        const auto value = event::find_value(as_bytes(*payload), point.where.value);
        if (!value) continue;
        const auto text = event::text(*value);
        if (!text || text->strings.empty()) continue;
        wire::Cursor cursor(as_bytes(text->strings[0]));
        for (wire::Field field; cursor.next(field);) {
          if (field.number == 2 && field.is_bytes())
            merge(all, category_of(field.bytes, run->name));
        }
      }
    }
  }
  return all;
}

void write_saved(JsonWriter& json, const JsonValue& layouts) {
  for (const JsonValue& one : layouts.items) {
    if (!one.is_object()) continue;
    json.object([&] {
      json.key("source").string("sidecar");
      for (const auto& [name, value] : one.members) {
        if (name != "source") json.key(name).raw(to_text(value));
      }
    });
  }
}

Answer layouts(const Context& context, const Request&) {
  const auto snapshot = context.store.snapshot();
  const auto saved = context.services.state().sidecar().read();
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("rev").number(snapshot->revision);
    json.key("layouts").array([&] {
      for (const Category& category : categories_of(context, *snapshot)) {
        json.object([&] {
          json.key("source").string("run");
          json.key("run").string(category.run);
          json.key("title").string(category.title);
          json.key("closed").boolean(category.is_closed);
          json.key("charts").array([&] {
            for (const Chart& chart : category.charts) json.raw(chart.json);
          });
        });
      }
      const JsonValue* own = saved ? saved->value.find("layouts") : nullptr;
      if (own && own->is_array()) write_saved(json, *own);
    });
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/layouts", layouts}};

}  // namespace

std::span<const Route> layout_routes() { return kRoutes; }

}  // namespace sonde::api::v1
