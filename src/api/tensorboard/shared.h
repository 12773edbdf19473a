// What the plug-ins' routes have in common: finding series, TensorBoard's error texts,
// descriptions, form bodies, keys of blobs. Every error of TensorBoard that is a 500 is a clear 4xx
// here.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/routes.h"
#include "codec/json.h"
#include "log/event/value.h"
#include "log/model/snapshot.h"
#include "log/query/media/samples.h"

namespace sonde::api::tensorboard {

inline constexpr uint64_t kDefaultSamples = 1000;

// --- answers
Answer not_found(const std::string& details);  // 404 "Not found: ..."
Answer invalid(const std::string& details);    // 400 "Invalid argument: ..."
Answer bad_request(std::string_view text);     // 400 with the text as it is
Answer failed(const Error& error);             // status by code, the error's sentence
Answer csv(std::string body);
// A body that came out of a log: sniffed or stated type, never run by a browser.
Answer blob(std::string bytes, std::string content_type);

// --- parameters
using Fields = std::vector<std::pair<std::string, std::string>>;
// The fields of a POST body: urlencoded or multipart/form-data. Empty for other bodies.
Fields form_fields(const Request& request);
std::optional<std::string_view> field(const Fields& fields, std::string_view name);
// A run or tag name as Python prints it: 'a', or None when absent.
std::string python_name(std::optional<std::string_view> text);
// A whole number, negative allowed; nothing when the text is none.
std::optional<int64_t> integer_of(std::string_view text);
uint64_t samples(const Context& context, std::string_view plugin, uint64_t otherwise);

// Whether a page of another site made the browser send this. Some routes of TensorBoard change things
// by GET, which a link or, where browsers do not say where a request comes from, a picture can send.
bool is_from_elsewhere(const Request& request);

// --- series
bool belongs(const store::Series& series, store::DataClass data_class, std::string_view plugin);
const store::Series* find_series(const store::Snapshot& snapshot, std::string_view run,
                                 std::string_view tag, store::DataClass data_class,
                                 std::string_view plugin);
// Route::version of an answer that holds nothing but one series: the one that the parameters `run`
// and `tag` name, or run and tag themselves.
uint64_t series_version(const Context& context, const Request& request);
uint64_t series_version(const Context& context, std::string_view run, std::string_view tag);
// False when the plug-in's metadata is newer than what TensorBoard 2.21 reads: not listed then.
bool has_known_version(const store::Series& series);

// Renders descriptions; equal texts of one answer are rendered once.
class Descriptions {
 public:
  const std::string& html(const std::string& markdown);

 private:
  std::map<std::string, std::string> rendered_;
};

// JSON that depends on nothing but the snapshot's revision: made once for it.
Answer remembered_json(const Context& context, const std::string& key, uint64_t revision,
                       const std::function<std::string()>& make);

// {run: {tag: {"displayName", "description", ...}}}: the tag list most plug-ins answer with.
// more(json, run, series) adds members.
using TagMembers =
    std::function<void(JsonWriter&, const store::RunSnapshot&, const store::Series&)>;
Answer tag_listing(const Context& context, store::DataClass data_class, std::string_view plugin,
                   const TagMembers& more = {});

// --- values
// The value a point refers to; `payload` keeps the bytes alive.
Result<event::ValueView> read_value(const Context& context, const store::Reference& where,
                                    std::string& payload);

// Appends a scalar's value: integers as integers, bools as true and false, floats widened.
void append_value(std::string& out, const query::ScalarPoint& point);
// Appends [wall_time, step, value].
void append_triple(std::string& out, const query::ScalarPoint& point);
void append_integer(std::string& out, int64_t value);
// A float as Python prints it: 1.0, 1e-05, nan.
std::string python_float(double value);

}  // namespace sonde::api::tensorboard
