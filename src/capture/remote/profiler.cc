#include "capture/remote/profiler.h"

#include <fmt/format.h>

#include <charconv>

#include "base/strings.h"
#include "codec/wire.h"

namespace sonde::remote {
namespace {

using wire::Encoder;

// A word, a truth or a number, by how it is written.
void write_extra(Encoder& out, const std::string& value) {
  int64_t number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value == "true" || value == "false") {
    out.varint(2, value == "true" ? 1 : 0);
  } else if (problem == std::errc() && end == value.data() + value.size()) {
    out.varint(3, static_cast<uint64_t>(number));
  } else {
    out.bytes(1, value);
  }
}

void write_options(Encoder& out, const ProfileRequest& request) {
  const Options& o = request.options;
  out.varint(1, 1);  // include_dataset_ops
  out.varint(2, static_cast<uint64_t>(o.host_tracer_level));
  out.varint(3, static_cast<uint64_t>(o.device_tracer_level));
  out.varint(4, static_cast<uint64_t>(o.python_tracer_level));
  out.varint(5, 1);  // version: without it a server takes its own defaults
  out.varint(7, 1);  // enable_hlo_proto
  if (request.start_ns > 0) out.varint(8, static_cast<uint64_t>(request.start_ns));
  out.varint(9, static_cast<uint64_t>(o.duration_ms));
  out.bytes(10, request.repository_root);
  for (const auto& [key, value] : o.extra) {
    out.message(12, [&](Encoder& entry) {
      entry.bytes(1, key);
      entry.message(2, [&](Encoder& typed) { write_extra(typed, value); });
    });
  }
}

}  // namespace

Result<void> check(const Options& o) {
  struct Range {
    std::string_view name;
    int64_t value, min, max;
  };
  const Range ranges[] = {
      {"duration_ms", o.duration_ms, 1, 3'600'000},
      {"delay_ms", o.delay_ms, 0, 3'600'000},
      {"retries", o.retries, 0, 100},
      {"host_tracer_level", o.host_tracer_level, 0, 3},
      {"device_tracer_level", o.device_tracer_level, 0, 1},
      {"python_tracer_level", o.python_tracer_level, 0, 1},
      {"timeout_ms", o.timeout_ms, 1, 3'600'000},
  };
  for (const Range& r : ranges) {
    if (r.value < r.min || r.value > r.max)
      return fail(Code::kInvalid, fmt::format("{} must lie between {} and {}, not {}", r.name,
                                              r.min, r.max, r.value));
  }
  if (o.host_tracer_level == 0 && o.device_tracer_level == 0 && o.python_tracer_level == 0)
    return fail(Code::kInvalid, "every tracer is off: nothing would be recorded");
  for (const auto& [key, value] : o.extra) {
    if (key.empty() || key.size() > 200 || value.size() > 4096 || !is_utf8(key) || !is_utf8(value))
      return fail(Code::kInvalid, "an extra option is a name and a value, both short text");
  }
  if (o.extra.size() > 50) return fail(Code::kInvalid, "more than 50 extra options");
  return {};
}

std::string encoded(const ProfileRequest& request) {
  std::string message;
  Encoder out(message);
  out.varint(1, static_cast<uint64_t>(request.options.duration_ms));
  out.bytes(3, "xplane.pb");
  out.message(4, [&](Encoder& options) { write_options(options, request); });
  out.bytes(5, request.repository_root);
  out.bytes(6, request.session_id);
  out.bytes(7, request.host_name);
  out.varint(9, 1);  // emit_xspace: answer with the capture instead of writing it
  return message;
}

std::string encoded_terminate(std::string_view session_id) {
  std::string message;
  Encoder(message).bytes(1, session_id);
  return message;
}

std::string encoded_new_session(const ProfileRequest& request,
                                const std::vector<std::string>& hosts) {
  std::string message;
  Encoder out(message);
  out.bytes(1, encoded(request));
  out.bytes(2, request.repository_root);
  for (const std::string& host : hosts) out.bytes(3, host);
  out.bytes(4, request.session_id);
  return message;
}

Result<ProfileResponse> parse_response(Bytes message) {
  ProfileResponse response;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 6 && f.is_bytes()) {
      std::pair<std::string_view, Bytes> item;
      wire::Cursor inner(f.bytes);
      for (wire::Field part; inner.next(part);) {
        if (part.number == 1 && part.is_bytes()) item.first = part.text();
        if (part.number == 2 && part.is_bytes()) item.second = part.bytes;
      }
      if (!inner.ok()) return fail(Code::kCorrupt, "a tool's data in the answer is malformed");
      response.tool_data.push_back(item);
    } else if (f.number == 7) {
      response.is_empty = f.as_bool();
    } else if (f.number == 8 && f.is_bytes()) {
      response.xspace = f.bytes;
    }
  }
  if (!cursor.ok()) return fail(Code::kCorrupt, "the answer is no profile");
  return response;
}

Result<NewSessionResponse> parse_new_session(Bytes message) {
  NewSessionResponse response;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) {
    if (f.number == 1 && f.is_bytes()) response.error = to_utf8(f.text().substr(0, 4096));
    if (f.number == 2) response.is_empty = f.as_bool();
  }
  if (!cursor.ok()) return fail(Code::kCorrupt, "the answer is no profile session");
  return response;
}

}  // namespace sonde::remote
