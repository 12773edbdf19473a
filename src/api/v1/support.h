// What the routes of /api/v1 share: reading parameters and bodies, finding series, the form of an
// answer. docs/api.md §1 is the contract.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/routes.h"
#include "base/result.h"
#include "codec/json.h"
#include "codec/json_read.h"
#include "log/model/snapshot.h"

namespace sonde::api::v1 {

inline constexpr std::string_view kNames = "GET runs and GET tags list what there is";

// An answer from the store: revision header and an ETag of its content.
Answer json_answer(const Context& context, uint64_t revision, std::string body);
// A binary answer whose ETag is known beforehand.
Answer columns_answer(uint64_t revision, std::string body, std::string etag);
// 204: the client has this answer already.
Answer unchanged(uint64_t revision, std::string etag);
// A quoted ETag of a text that stands for the content.
std::string etag_of(const Context& context, std::string_view content);
uint64_t hash_of(std::string_view text);
// Which store a cached thing belongs to.
uint64_t source_of(const Context& context);

// The request's body as a JSON object; an empty body is an empty object.
Result<JsonValue> object_of(const Request& request);

// Optional fields of a body; kInvalid naming the field when it has the wrong type.
Result<std::string> text_in(const JsonValue& body, std::string_view name,
                            std::string_view otherwise = "");
Result<int64_t> integer_in(const JsonValue& body, std::string_view name, int64_t otherwise);
Result<double> number_in(const JsonValue& body, std::string_view name, double otherwise);
Result<store::View> view_in(const JsonValue& body);

Result<int64_t> integer_param(const Request& request, std::string_view name, int64_t otherwise);
Result<std::string> text_param(const Request& request, std::string_view name);  // must be there
Result<store::View> view_param(const Request& request);

// What sort of data a series is, in the words of GET tags.
std::string_view kind_of(const store::Series& series);

struct Found {
  const store::RunSnapshot* run = nullptr;
  const store::Series* series = nullptr;
};
// kNotFound, naming what is missing.
Result<Found> find_series(const store::Snapshot& snapshot, std::string_view run,
                          std::string_view tag);
// From the parameters run and tag; kUnsupported when the series is not of `kind`.
Result<Found> series_param(const store::Snapshot& snapshot, const Request& request,
                           std::string_view kind);
// A run by id (number) or name (string).
Result<const store::RunSnapshot*> run_in(const store::Snapshot& snapshot, const JsonValue& value);

// The points of a view of a series of references, in order.
std::vector<store::BlobPoint> points_of(const store::Series& series, store::View view);

// A slice [begin, end) of `total` things from the parameters from and count.
struct Page {
  size_t begin = 0, end = 0;
};
Result<Page> page_of(const Request& request, size_t total, size_t otherwise = 100,
                     size_t most = 1000);

// Writes that change something need the header Sonde-Request: 1 (no foreign page can send it).
Result<void> may_write(const Request& request);

void write_steps(JsonWriter& json, const std::vector<store::BlobPoint>& points);
void write_partial(JsonWriter& json, const store::LoadProgress& progress);

Answer error(const Error& error, std::string_view where = "", std::string_view fix = "");

}  // namespace sonde::api::v1

// SONDE_ANSWER(name, expression): declares `name` with the value, or answers with the error.
#define SONDE_ANSWER(name, ...)                                              \
  auto SONDE_CONCAT(answer_, __LINE__) = (__VA_ARGS__);                      \
  if (!SONDE_CONCAT(answer_, __LINE__))                                      \
    return ::sonde::api::v1::error(SONDE_CONCAT(answer_, __LINE__).error()); \
  auto name = std::move(*SONDE_CONCAT(answer_, __LINE__))
