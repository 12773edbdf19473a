#include "capture/remote/profiler.h"

#include <doctest/doctest.h>

#include <map>

#include "capture/remote/session.h"
#include "codec/wire.h"

namespace sonde::remote {
namespace {

std::multimap<uint32_t, wire::Field> fields_of(Bytes message) {
  std::multimap<uint32_t, wire::Field> fields;
  wire::Cursor cursor(message);
  for (wire::Field f; cursor.next(f);) fields.emplace(f.number, f);
  CHECK(cursor.ok());
  return fields;
}

}  // namespace

TEST_CASE("capture: a request carries every option, and its version") {
  Options options;
  options.duration_ms = 300;
  options.host_tracer_level = 3;
  options.python_tracer_level = 1;
  options.extra = {{"trace_mode", "COMPUTE"}, {"deep", "true"}, {"chips", "-2"}};
  const std::string message =
      encoded({options, "/logs/plugins/profile", "2026_01_01", "localhost:6009", 77});
  const auto request = fields_of(as_bytes(message));
  CHECK(request.find(3)->second.text() == "xplane.pb");
  CHECK(request.find(5)->second.text() == "/logs/plugins/profile");
  CHECK(request.find(6)->second.text() == "2026_01_01");
  CHECK(request.find(7)->second.text() == "localhost:6009");
  CHECK(request.find(9)->second.as_bool());
  const auto told = fields_of(request.find(4)->second.bytes);
  CHECK(told.find(2)->second.as_uint() == 3);
  CHECK(told.find(3)->second.as_uint() == 1);
  CHECK(told.find(4)->second.as_uint() == 1);
  CHECK(told.find(5)->second.as_uint() == 1);
  CHECK(told.find(8)->second.as_uint() == 77);
  CHECK(told.find(9)->second.as_uint() == 300);
  std::map<std::string, wire::Field> extra;
  for (auto [at, end] = told.equal_range(12); at != end; ++at) {
    const auto entry = fields_of(at->second.bytes);
    extra[std::string(entry.find(1)->second.text())] =
        fields_of(entry.find(2)->second.bytes).begin()->second;
  }
  CHECK(extra["trace_mode"].number == 1);
  CHECK(extra["trace_mode"].text() == "COMPUTE");
  CHECK(extra["deep"].number == 2);
  CHECK(extra["chips"].number == 3);
  CHECK(extra["chips"].as_int() == -2);

  const std::string pod = encoded_new_session({options, "/r", "s", "head", 0}, {"a:1", "b:2"});
  const auto session = fields_of(as_bytes(pod));
  CHECK(session.count(3) == 2);
  CHECK(session.find(4)->second.text() == "s");
}

TEST_CASE("capture: options out of range are named") {
  const auto broken = [](auto change) {
    Options options;
    change(options);
    const auto checked = check(options);
    return checked ? std::string() : checked.error().text;
  };
  CHECK(broken([](Options&) {}).empty());
  CHECK(broken([](Options& o) { o.duration_ms = 0; }).starts_with("duration_ms"));
  CHECK(broken([](Options& o) { o.host_tracer_level = 4; }).starts_with("host_tracer_level"));
  CHECK(broken([](Options& o) { o.retries = -1; }).starts_with("retries"));
  CHECK(!broken([](Options& o) { o.host_tracer_level = o.device_tracer_level = 0; }).empty());
  CHECK(!broken([](Options& o) { o.extra = {{"", "x"}}; }).empty());
  CHECK(!broken([](Options& o) { o.extra = {{"x", "\xff"}}; }).empty());
}

TEST_CASE("capture: answers of servers old and new, and no answers") {
  std::string message;
  wire::Encoder out(message);
  out.bytes(8, "space");
  out.varint(7, 0);
  out.message(6, [](wire::Encoder& item) {
    item.bytes(1, "xplane.pb");
    item.bytes(2, "old");
  });
  const auto response = parse_response(as_bytes(message));
  REQUIRE(response);
  CHECK(as_text(response->xspace) == "space");
  CHECK(!response->is_empty);
  REQUIRE(response->tool_data.size() == 1);
  CHECK(response->tool_data[0].first == "xplane.pb");
  for (size_t cut = 1; cut < message.size(); ++cut) {
    // Cut anywhere it is refused, or read up to the end of a field.
    const auto part = parse_response(as_bytes(std::string_view(message).substr(0, cut)));
    if (!part) CHECK(part.error().code == Code::kCorrupt);
  }
  CHECK(!parse_response(as_bytes(std::string_view("\x42\xff\xff\xff\xff\x0f", 6))));
  CHECK(!parse_response(as_bytes(std::string_view("\x32\x02\x0a\x7f", 4))));
  CHECK(!parse_new_session(as_bytes(std::string_view("\x0a\x7f", 2))));
  CHECK(parse_new_session(as_bytes(std::string_view("\x0a\x02no\x10\x01", 6)))->error == "no");
}

TEST_CASE("capture: names that a server gives its data cannot leave the folder") {
  for (const char* good : {"xplane.pb", "trace.json.gz", "overview_page.json", "trace_viewer@"})
    CHECK(is_tool_name(good));
  for (const char* bad : {"", ".hidden", "../x", "a/b", "a..b", "a\\b", "a\nb", "\xff"})
    CHECK(!is_tool_name(bad));
  CHECK(!is_tool_name(std::string(65, 'a')));
}

}  // namespace sonde::remote
