// TensorBoard's text plug-in: strings and tables of strings as safe HTML.
#include "api/tensorboard/areas.h"
#include "api/tensorboard/scalar_json.h"
#include "api/tensorboard/shared.h"
#include "log/event/blob.h"
#include "text/markdown.h"
#include "text/sanitize.h"

namespace sonde::api::tensorboard {
namespace {

Answer tags(const Context& context, const Request&) {
  const auto snapshot = context.store.snapshot();
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    for (const auto& run : snapshot->runs) {
      bool has_text = false;
      for (const auto& series : run->series) {
        has_text = has_text || belongs(*series, store::DataClass::kTensor, "text");
      }
      if (!has_text) continue;
      json.key(run->name).array([&] {
        for (const auto& series : run->series) {
          if (belongs(*series, store::DataClass::kTensor, "text") && has_known_version(*series)) {
            json.string(series->tag());
          }
        }
      });
    }
  });
  return Answer::json(std::move(out));
}

enum class Rendering { kMarkdown, kPlain };

std::string html_of(std::string_view text, Rendering rendering) {
  return rendering == Rendering::kMarkdown ? text::markdown_to_safe_html(text)
                                           : text::safe_html(text);
}

// A text value of any rank: a string, a column, a table; of higher ranks the first table.
std::string html_of(const event::Text& value, Rendering rendering) {
  if (value.dims.empty()) {
    return value.strings.empty() ? std::string() : html_of(value.strings[0], rendering);
  }
  const size_t rank = value.dims.size();
  std::string out;
  if (rank > 2) {
    out = text::markdown_to_safe_html(
        "**Warning:** This text summary contained data of dimensionality " + std::to_string(rank) +
        ", but only   2d tables are supported. Showing a 2d slice of the data instead.");
  }
  const auto columns = rank == 1 ? 1 : static_cast<size_t>(value.dims[rank - 1]);
  const auto rows = static_cast<size_t>(rank == 1 ? value.dims[0] : value.dims[rank - 2]);
  size_t dropped = 0;  // NUL characters, of all cells together
  std::string table = "<table>\n<tbody>\n";
  for (size_t row = 0; row < rows; ++row) {
    table += "<tr>\n";
    for (size_t column = 0; column < columns; ++column) {
      const size_t at = row * columns + column;
      std::string cell(at < value.strings.size() ? value.strings[at] : std::string_view());
      dropped += std::erase(cell, '\0');
      table += "<td>" + html_of(cell, rendering) + "</td>\n";
    }
    table += "</tr>\n";
  }
  if (rendering == Rendering::kMarkdown) out += text::null_warning(dropped);
  return out + table + "</tbody>\n</table>";
}

Answer text_series(const Context& context, const Request& request) {
  const auto run = request.param("run");
  const auto tag = request.param("tag");
  if (!run || !tag) return invalid("both run and tag must be given");
  const Rendering rendering =
      request.param("markdown") == "false" ? Rendering::kPlain : Rendering::kMarkdown;
  const auto snapshot = context.store.snapshot();
  const store::Series* series =
      find_series(*snapshot, *run, *tag, store::DataClass::kTensor, "text");
  if (!series) return Answer::json("[]");
  const auto points = query::blob_points(*series, samples(context, "text", query::kAllSamples));
  std::vector<std::string> pieces(points.size());
  for_each_part(context, points.size(), [&](size_t i) {
    std::string payload;
    const auto value = read_value(context, points[i].where, payload);
    if (!value) return;
    const auto text = event::text(*value);
    if (!text) return;  // a value of another kind under the same tag
    JsonWriter json(pieces[i]);
    json.object([&] {
      json.key("wall_time").number(points[i].wall_time);
      json.key("step").number(points[i].step);
      json.key("text").string(html_of(*text, rendering));
    });
  });
  std::erase_if(pieces, [](const std::string& piece) { return piece.empty(); });
  return Answer::json("[" + joined(pieces) + "]");
}

constexpr Route kRoutes[] = {
    {"*", "/data/plugin/text/tags", tags},
    {"*", "/data/plugin/text/text", text_series},
};

}  // namespace

std::span<const Route> text_area() { return kRoutes; }

}  // namespace sonde::api::tensorboard
