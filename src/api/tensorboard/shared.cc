#include "api/tensorboard/shared.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "codec/wire.h"
#include "text/markdown.h"

namespace sonde::api::tensorboard {

Answer not_found(const std::string& details) { return plain_error(404, "Not found: " + details); }

Answer invalid(const std::string& details) {
  return plain_error(400, "Invalid argument: " + details);
}

Answer bad_request(std::string_view text) { return plain_error(400, text); }

Answer failed(const Error& error) { return plain_error(status_of(error.code), error.text); }

Answer csv(std::string body) {
  Answer answer;
  answer.content_type = "text/csv; charset=utf-8";
  answer.body = std::move(body);
  return answer;
}

Answer blob(std::string bytes, std::string content_type) {
  Answer answer;
  answer.content_type = std::move(content_type);
  answer.body = std::move(bytes);
  answer.allows_range = true;
  answer.csp = "sandbox; default-src 'none'";
  return answer;
}

std::optional<std::string_view> field(const Fields& fields, std::string_view name) {
  for (const auto& [key, value] : fields) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::string python_name(std::optional<std::string_view> text) {
  if (!text) return "None";
  const char quote =
      text->find('\'') != std::string_view::npos && text->find('"') == std::string_view::npos
          ? '"'
          : '\'';
  std::string out(1, quote);
  for (const char c : *text) {
    if (c == quote || c == '\\') out.push_back('\\');
    if (c == '\n') {
      out += "\\n";
    } else {
      out.push_back(c);
    }
  }
  out.push_back(quote);
  return out;
}

std::optional<int64_t> integer_of(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

uint64_t samples(const Context& context, std::string_view plugin, uint64_t otherwise) {
  if (context.settings.samples_per_plugin.empty()) return otherwise;
  // The command line has refused a malformed text; here it simply does not count.
  const auto limits = query::SampleLimits::parse(context.settings.samples_per_plugin);
  return limits ? limits->of(plugin, otherwise) : otherwise;
}

bool belongs(const store::Series& series, store::DataClass data_class, std::string_view plugin) {
  const store::Metadata& metadata = series.metadata();
  return metadata.data_class == data_class && metadata.plugin == plugin;
}

const store::Series* find_series(const store::Snapshot& snapshot, std::string_view run,
                                 std::string_view tag, store::DataClass data_class,
                                 std::string_view plugin) {
  const store::RunSnapshot* found = snapshot.find(run);
  const store::Series* series = found ? found->find(tag) : nullptr;
  return series && belongs(*series, data_class, plugin) ? series : nullptr;
}

uint64_t series_version(const Context& context, std::string_view run, std::string_view tag) {
  const auto snapshot = context.store.snapshot();
  const store::RunSnapshot* found = snapshot->find(run);
  const store::Series* series = found ? found->find(tag) : nullptr;
  return series ? series->revision() : 0;
}

uint64_t series_version(const Context& context, const Request& request) {
  const auto run = request.param("run");
  const auto tag = request.param("tag");
  return run && tag ? series_version(context, *run, *tag) : 0;
}

bool has_known_version(const store::Series& series) {
  const std::string& content = series.metadata().content;
  if (content.empty() || content == "{}") return true;
  int64_t version = 0;
  wire::Cursor cursor(as_bytes(content));
  for (wire::Field part; cursor.next(part);) {
    if (part.number == 1 && part.type == wire::Type::kVarint) version = part.as_int();
  }
  return version == 0;
}

const std::string& Descriptions::html(const std::string& markdown) {
  static const std::string kNone;
  if (markdown.empty()) return kNone;
  const auto [place, is_new] = rendered_.try_emplace(markdown);
  if (is_new) place->second = text::markdown_to_safe_html(markdown);
  return place->second;
}

namespace {

std::string listing_json(const store::Snapshot& snapshot, store::DataClass data_class,
                         std::string_view plugin, const TagMembers& more) {
  Descriptions descriptions;
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    for (const auto& run : snapshot.runs) {
      bool is_listed = false;
      for (const auto& series : run->series) {
        if (!belongs(*series, data_class, plugin)) continue;
        if (!is_listed) out += out.size() > 1 ? "," : "";
        if (!is_listed) {
          append_json_string(out, run->name);
          out += ":{";
          is_listed = true;
        }
        if (!has_known_version(*series)) continue;
        if (out.back() != '{') out.push_back(',');
        append_json_string(out, series->tag());
        out += ":{\"displayName\":";
        append_json_string(out, series->metadata().display_name);
        out += ",\"description\":";
        append_json_string(out, descriptions.html(series->metadata().description));
        if (more) {
          std::string members;
          JsonWriter inner(members);
          more(inner, *run, *series);
          if (!members.empty()) out += "," + members;
        }
        out.push_back('}');
      }
      if (is_listed) out.push_back('}');
    }
  });
  return out;
}

}  // namespace

Answer remembered_json(const Context& context, const std::string& key, uint64_t revision,
                       const std::function<std::string()>& make) {
  Answer answer;
  answer.body = context.services.memo().get<std::string>(
      "json/" + key, revision, [&](const std::string*) { return make(); });
  return answer;
}

Answer tag_listing(const Context& context, store::DataClass data_class, std::string_view plugin,
                   const TagMembers& more) {
  const auto snapshot = context.store.snapshot();
  return remembered_json(context, std::string(plugin) + "/tags", snapshot->revision,
                         [&] { return listing_json(*snapshot, data_class, plugin, more); });
}

Result<event::ValueView> read_value(const Context& context, const store::Reference& where,
                                    std::string& payload) {
  SONDE_TRY(bytes, context.store.blobs().event(where));
  payload = std::move(bytes);
  return event::find_value(as_bytes(payload), where.value);
}

void append_integer(std::string& out, int64_t value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void append_value(std::string& out, const query::ScalarPoint& point) {
  switch (point.type) {
    case store::ValueType::kFloat32:
    case store::ValueType::kFloat64:
      append_json_number(out, point.value);
      break;
    case store::ValueType::kInt64:
      append_integer(out, static_cast<int64_t>(point.integer));
      break;
    case store::ValueType::kUint64:
      out += std::to_string(point.integer);
      break;
    case store::ValueType::kBool:
      out += point.integer != 0 ? "true" : "false";
      break;
  }
}

void append_triple(std::string& out, const query::ScalarPoint& point) {
  out.push_back('[');
  append_json_number(out, point.wall_time);
  out.push_back(',');
  append_integer(out, point.step);
  out.push_back(',');
  append_value(out, point);
  out.push_back(']');
}

std::string python_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[40];
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const std::string_view whole(text, static_cast<size_t>(end - text));
  const size_t e = whole.find('e');
  const int64_t exponent = integer_of(whole.substr(e + 1)).value_or(0);
  if (exponent < -4 || exponent >= 16) {  // Python writes 1e-05 and 1.5e+16
    return std::string(whole);
  }
  const auto fixed = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr;
  std::string out(text, fixed);
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

bool is_from_elsewhere(const Request& request) {
  const std::string_view site = request.header("sec-fetch-site");
  if (!site.empty() && site != "same-origin" && site != "none") return true;
  std::string_view referer = request.header("referer");
  const size_t scheme = referer.find("://");
  if (scheme == std::string_view::npos) return false;
  referer.remove_prefix(scheme + 3);
  return referer.substr(0, referer.find('/')) != request.header("host");
}

}  // namespace sonde::api::tensorboard
