// GET text: text summaries as safe HTML or as their cells, with a search over all steps.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "api/v1/area.h"
#include "api/v1/support.h"
#include "base/strings.h"
#include "log/event/blob.h"
#include "log/event/value.h"
#include "text/markdown.h"

namespace sonde::api::v1 {
namespace {

struct Entry {
  std::shared_ptr<const std::string> payload;  // what `text` points into
  event::Text text;
  std::string damage;
};

Entry read_entry(const Context& context, const store::Reference& where) {
  Entry entry;
  auto payload = context.store.blobs().event(where);
  if (!payload) return {{}, {}, payload.error().text};
  entry.payload = std::make_shared<const std::string>(std::move(*payload));
  const auto value = event::find_value(as_bytes(*entry.payload), where.value);
  if (!value) return {{}, {}, value.error().text};
  auto text = event::text(*value);
  if (!text) return {{}, {}, text.error().text};
  entry.text = std::move(*text);
  return entry;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool contains(const event::Text& text, std::string_view lower_query) {
  return std::any_of(text.strings.begin(), text.strings.end(), [&](std::string_view cell) {
    return std::search(cell.begin(), cell.end(), lower_query.begin(), lower_query.end(),
                       [](char a, char b) { return lower(a) == b; }) != cell.end();
  });
}

// The two-dimensional part that is shown: beyond rank 2 the first slice of the leading dimensions.
struct Grid {
  size_t rows = 1, columns = 1, cells = 0;
  bool cut = false;
};

Grid grid_of(const event::Text& text) {
  Grid grid;
  const auto& dims = text.dims;
  const auto size = [&](size_t i) { return static_cast<size_t>(std::max<int64_t>(dims[i], 0)); };
  if (dims.size() == 1) grid.rows = size(0);
  if (dims.size() >= 2) {
    grid.rows = size(dims.size() - 2);
    grid.columns = size(dims.size() - 1);
    grid.cut = dims.size() > 2;
  }
  if (grid.columns > 0 && grid.rows > text.strings.size() / grid.columns)
    grid.rows = text.strings.size() / grid.columns;
  grid.cells = grid.rows * grid.columns;
  return grid;
}

std::string html_of(const event::Text& text) {
  if (text.dims.empty())
    return text.strings.empty() ? "" : text::markdown_to_safe_html(text.strings[0]);
  const Grid grid = grid_of(text);
  std::string html;
  if (grid.cut) {
    html = fmt::format(
        "<p><strong>Only tables of two dimensions are shown; this text has {}: its "
        "first slice follows.</strong></p>\n",
        text.dims.size());
  }
  html += "<table>\n<tbody>\n";
  for (size_t row = 0; row < grid.rows; ++row) {
    html += "<tr>\n";
    for (size_t column = 0; column < grid.columns; ++column) {
      html += "<td>";
      html += text::markdown_to_safe_html(text.strings[row * grid.columns + column]);
      html += "</td>\n";
    }
    html += "</tr>\n";
  }
  return html += "</tbody>\n</table>";
}

Answer text(const Context& context, const Request& request) {
  const auto snapshot = context.store.snapshot();
  SONDE_ANSWER(const found, series_param(*snapshot, request, "text"));
  SONDE_ANSWER(const view, view_param(request));
  const std::string_view render = request.param("render").value_or("html");
  if (render != "html" && render != "raw")
    return error({Code::kInvalid, "'render' is not html or raw"}, "render");
  const auto points = points_of(*found.series, view);
  std::string query(request.param("q").value_or(""));
  std::transform(query.begin(), query.end(), query.begin(), lower);
  std::vector<size_t> hits;
  if (query.empty()) {
    for (size_t i = 0; i < points.size(); ++i) hits.push_back(i);
  } else {
    std::vector<uint8_t> has(points.size());
    context.pool.for_each(points.size(), [&](size_t i) {
      has[i] = contains(read_entry(context, points[i].where).text, query);
    });
    for (size_t i = 0; i < points.size(); ++i) {
      if (has[i]) hits.push_back(i);
    }
  }
  SONDE_ANSWER(const page, page_of(request, hits.size()));
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("rev").number(snapshot->revision);
    json.key("total").number(static_cast<uint64_t>(hits.size()));
    if (request.param("steps").value_or("") == "1") return write_steps(json, points);
    json.key("from").number(static_cast<uint64_t>(page.begin));
    json.key("items").array([&] {
      for (size_t i = page.begin; i < page.end; ++i) {
        const auto& point = points[hits[i]];
        const Entry entry = read_entry(context, point.where);
        json.object([&] {
          json.key("index").number(static_cast<uint64_t>(hits[i]));
          json.key("step").safe_integer(point.step);
          json.key("wall").number(point.wall_time);
          if (!entry.damage.empty()) return json.key("damage").string(entry.damage);
          json.key("shape").array([&] {
            for (const int64_t dim : entry.text.dims) json.safe_integer(dim);
          });
          if (render == "html") return json.key("html").string(html_of(entry.text));
          json.key("cells").array([&] {
            for (const std::string_view cell : entry.text.strings) json.string(cell);
          });
        });
      }
    });
  });
  return json_answer(context, snapshot->revision, std::move(body));
}

constexpr Route kRoutes[] = {{"GET", "/api/v1/text", text}};

}  // namespace

std::span<const Route> text_routes() { return kRoutes; }

}  // namespace sonde::api::v1
