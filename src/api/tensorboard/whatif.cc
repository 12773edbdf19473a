// The routes of TensorBoard's What-If plug-in: examples of a file, what TensorFlow Serving's REST
// says about them, partial dependence, thumbnails. Own clients use /api/v1/whatif, which has a
// session each and changes nothing by GET.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "api/tensorboard/areas.h"
#include "api/tensorboard/shared.h"
#include "api/tensorboard/whatif_plugin.h"
#include "io/mapped_file.h"
#include "log/record/frames.h"
#include "whatif/files/example_json.h"
#include "whatif/files/read.h"
#include "whatif/sprite.h"

namespace sonde::api::tensorboard {
namespace plugin_whatif {

Answer fresh(std::string body, int status) {
  Answer answer = Answer::json(std::move(body));
  answer.status = status;
  answer.cache = Cache::kNoStore;
  return answer;
}

Answer wrong(const Error& error) {
  std::string body;
  JsonWriter json(body);
  json.object([&] { json.key("error").string(error.text); });
  return fresh(std::move(body), error.code == Code::kForbidden ? 403 : 400);
}
Answer wrong(std::string text, Code code) { return wrong(Error{code, std::move(text)}); }
Answer foreign() { return wrong("requests of other sites are refused", Code::kForbidden); }

int64_t number(const Request& request, std::string_view name, int64_t otherwise) {
  return integer_of(request.param(name).value_or("")).value_or(otherwise);
}

whatif::Dataset table_of(const PluginExamples& all, const std::vector<size_t>& rows) {
  whatif::DatasetBuilder builder;
  for (const size_t row : rows)
    (void)whatif::add_example(as_bytes(all.messages[row]), all.kind, builder);
  auto made = std::move(builder).finish("");
  return made ? std::move(*made) : whatif::Dataset();
}
std::vector<size_t> all_rows(const PluginExamples& all) {
  std::vector<size_t> rows(all.messages.size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  return rows;
}

namespace {

constexpr size_t kPerAnswer = 10'000, kMaxExamples = 100'000, kMaxThumbnails = 10'000;
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;

// --- examples

Result<std::vector<std::string>> messages_of(const std::string& path, whatif::Message kind,
                                             const whatif::ReadOptions& options) {
  const bool is_pattern = path.find_first_of("*?") != std::string::npos;
  if (!is_pattern) {
    SONDE_TRY(const content, io::read_content(path, kMaxFileBytes));
    if (record::header_at(content.bytes(), 0))
      return whatif::read_messages(content.bytes(), options);
    if (kind == whatif::Message::kSequenceExample)
      return fail(Code::kInvalid, "the file holds no records");
  }
  SONDE_TRY(const data, whatif::read_dataset(path, options));
  std::vector<std::string> out;
  for (size_t row = 0; row < data.rows; ++row) out.push_back(whatif::write_example(data, row));
  return out;
}

Result<void> load(const Context& context, const Request& request, PluginExamples& all) {
  const std::string path(request.param("examples_path").value_or(""));
  double odds = 1;
  if (const auto text = request.param("sampling_odds");
      text && !text->empty() && (!whatif::parse_number(*text, odds) || !(odds > 0 && odds <= 1)))
    return fail(Code::kInvalid, "sampling_odds must lie between 0 and 1");
  whatif::ReadOptions options;
  options.max_examples = static_cast<size_t>(
      std::clamp<int64_t>(number(request, "max_examples", 1000), 1, kMaxExamples));
  options.sampling_odds = odds;
  const auto kind = request.param("sequence_examples") == "true" ? whatif::Message::kSequenceExample
                                                                 : whatif::Message::kExample;
  // A pattern's folder is what must lie inside.
  const size_t star = path.find_first_of("*?"), slash = path.find_last_of('/');
  const bool is_pattern = star != path.npos;
  if (is_pattern && slash != path.npos && star < slash)
    return fail(Code::kInvalid, "only the last part of a path may be a pattern");
  const std::string folder = slash == path.npos ? "." : path.substr(0, slash);
  SONDE_TRY(const place, whatif_path(context, is_pattern ? folder : path));
  const std::string name =
      is_pattern ? place + "/" + path.substr(slash == path.npos ? 0 : slash + 1) : place;
  SONDE_TRY(messages, messages_of(name, kind, options));
  all.kind = kind;
  all.messages = std::move(messages);
  all.updated.clear();
  for (size_t i = 0; i < all.messages.size(); ++i) all.updated.insert(i);
  return {};
}

const whatif::Column* images_of(const whatif::Dataset& data) {
  const whatif::Column* column = data.find("image/encoded");
  return column && !column->is_numeric() ? column : nullptr;
}

Answer examples_from_path(const Context& context, const Request& request) {
  if (is_from_elsewhere(request)) return foreign();
  PluginExamples& all = context.services.whatif().plugin();
  const std::lock_guard lock(all.mutex);
  const int64_t asked = number(request, "start_example", 0);
  if (asked <= 0)
    if (const auto loaded = load(context, request, all); !loaded) return wrong(loaded.error());
  const auto begin =
      std::min(static_cast<size_t>(std::max<int64_t>(asked, 0)), all.messages.size());
  const size_t end = std::min(all.messages.size(), begin + kPerAnswer);
  std::vector<std::string> texts;
  for (size_t i = begin; i < end; ++i) {
    auto text = whatif::example_to_json(as_bytes(all.messages[i]), all.kind);
    if (!text) return wrong(std::move(text).error().in(fmt::format("example {}", i)));
    texts.push_back(std::move(*text));
  }
  const bool has_sprite = !all.messages.empty() && images_of(table_of(all, {0})) != nullptr;
  std::string body;
  JsonWriter json(body);
  json.object([&] {
    json.key("examples").array([&] {
      for (const std::string& text : texts) json.string(text);
    });
    json.key("sprite").boolean(has_sprite);
    json.key("next").number(end < all.messages.size() ? static_cast<int64_t>(end) : int64_t{-1});
  });
  return fresh(std::move(body));
}

// Each change is refused from elsewhere and for an example that is not there.
template <class Fn>
Answer change(const Context& context, const Request& request, std::string_view index, Fn&& fn) {
  if (is_from_elsewhere(request)) return foreign();
  PluginExamples& all = context.services.whatif().plugin();
  const std::lock_guard lock(all.mutex);
  const auto row = integer_of(index);
  if (!row || *row < 0 || static_cast<size_t>(*row) >= all.messages.size())
    return wrong("invalid index provided");
  const Result<void> done = fn(all, static_cast<size_t>(*row));
  return done ? fresh("{}") : wrong(done.error());
}

Answer update_example(const Context& context, const Request& request) {
  if (request.method != "POST") {
    Answer answer = wrong("invalid non-POST request");
    answer.status = 405;
    return answer;
  }
  const Fields fields = form_fields(request);
  return change(
      context, request, field(fields, "index").value_or(""),
      [&](PluginExamples& all, size_t row) -> Result<void> {
        SONDE_TRY(made, whatif::example_from_json(field(fields, "example").value_or(""), all.kind));
        all.messages[row] = std::move(made);
        all.updated.insert(row);
        return {};
      });
}

Answer duplicate_example(const Context& context, const Request& request) {
  return change(context, request, request.param("index").value_or(""),
                [](PluginExamples& all, size_t row) -> Result<void> {
                  if (all.messages.size() >= kMaxExamples)
                    return fail(Code::kTooLarge, "there are too many examples");
                  all.messages.push_back(std::string(all.messages[row]));
                  all.updated.insert(all.messages.size() - 1);
                  return {};
                });
}

Answer delete_example(const Context& context, const Request& request) {
  return change(context, request, request.param("index").value_or(""),
                [](PluginExamples& all, size_t row) -> Result<void> {
                  all.messages.erase(all.messages.begin() + static_cast<int64_t>(row));
                  std::set<size_t> moved;
                  for (const size_t i : all.updated)
                    if (i != row) moved.insert(i < row ? i : i - 1);
                  all.updated = std::move(moved);
                  return {};
                });
}

// --- thumbnails

Answer sprite(const Context& context, const Request&) {
  PluginExamples& all = context.services.whatif().plugin();
  const std::lock_guard lock(all.mutex);
  const whatif::Dataset data = table_of(all, all_rows(all));
  const whatif::Column* images = images_of(data);
  if (!images) return wrong("these examples have no images", Code::kNotFound);
  if (data.rows > kMaxThumbnails)
    return wrong(fmt::format("at most {} thumbnails are made", kMaxThumbnails), Code::kTooLarge);
  std::vector<uint32_t> rows(data.rows);
  std::iota(rows.begin(), rows.end(), 0u);
  auto png = whatif::sprite_of(*images, rows);
  if (!png) return wrong(png.error());
  Answer answer = blob(std::move(*png), "image/png");
  answer.cache = Cache::kNoStore;
  return answer;
}

constexpr Route kRoutes[] = {
    {"GET", "/data/plugin/whatif/examples_from_path", examples_from_path},
    {"GET", "/data/plugin/whatif/infer", infer},
    {"*", "/data/plugin/whatif/update_example", update_example},
    {"GET", "/data/plugin/whatif/duplicate_example", duplicate_example},
    {"GET", "/data/plugin/whatif/delete_example", delete_example},
    {"GET", "/data/plugin/whatif/infer_mutants", infer_mutants},
    {"GET", "/data/plugin/whatif/eligible_features", eligible_features},
    {"GET", "/data/plugin/whatif/sort_eligible_features", sort_eligible_features},
    {"GET", "/data/plugin/whatif/sprite", sprite},
};

}  // namespace
}  // namespace plugin_whatif

std::span<const Route> whatif_area() { return plugin_whatif::kRoutes; }

}  // namespace sonde::api::tensorboard
