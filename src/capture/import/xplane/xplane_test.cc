#include <doctest/doctest.h>

#include "capture/import/registry.h"
#include "codec/wire.h"

using namespace sonde;
using namespace sonde::trace;

namespace {

// A plane with one line of two nested events; the second has a text, a reference and a number.
std::string small_space() {
  std::string out;
  wire::Encoder space(out);
  space.message(1, [](wire::Encoder& plane) {
    plane.varint(1, 3);
    plane.bytes(2, "/host:CPU");
    plane.message(3, [](wire::Encoder& line) {
      line.varint(1, 77);
      line.bytes(2, "python");
      line.varint(3, 1000);
      line.message(4, [](wire::Encoder& event) {
        event.varint(1, 1);
        event.varint(2, 5000);
        event.varint(3, 9000);
      });
      line.message(4, [](wire::Encoder& event) {
        event.varint(1, 2);
        event.varint(2, 6000);
        event.varint(3, 1000);
        event.message(4, [](wire::Encoder& stat) {
          stat.varint(1, 1);
          stat.bytes(5, "hello");
        });
        event.message(4, [](wire::Encoder& stat) {
          stat.varint(1, 2);
          stat.varint(7, 3);
        });
        event.message(4, [](wire::Encoder& stat) {
          stat.varint(1, 3);
          stat.varint(3, UINT64_MAX);
        });
      });
      line.message(4, [](wire::Encoder& event) {  // aggregated: no place in time
        event.varint(1, 2);
        event.varint(5, 12);
        event.varint(3, 500);
      });
    });
    for (const auto& [id, name] : {std::pair{1, "outer"}, {2, "inner"}}) {
      plane.message(4, [&](wire::Encoder& entry) {
        entry.varint(1, static_cast<uint64_t>(id));
        entry.message(2, [&](wire::Encoder& value) { value.bytes(2, name); });
      });
    }
    for (const auto& [id, name] : {std::pair{1, "text"}, {2, "ref"}, {3, "number"}}) {
      plane.message(5, [&](wire::Encoder& entry) {
        entry.varint(1, static_cast<uint64_t>(id));
        entry.message(2, [&](wire::Encoder& value) { value.bytes(2, name); });
      });
    }
  });
  space.bytes(4, "host0");
  return out;
}

Trace imported(std::string_view bytes) {
  auto trace = imports::import_trace({"h.xplane.pb", as_bytes(bytes), nullptr});
  REQUIRE(trace);
  return std::move(*trace);
}

}  // namespace

TEST_CASE("xplane: planes, lines, events and stats become tracks, slices and arguments") {
  const Trace trace = imported(small_space());
  CHECK(trace.format() == "xplane");
  CHECK(trace.host() == "host0");
  REQUIRE(trace.slice_count() == 3);
  CHECK(trace.name(0) == "outer");
  CHECK(trace.begin(0) == Picos{1'005'000});
  CHECK(trace.duration(0) == Picos{9000});
  CHECK(trace.name(1) == "inner");
  CHECK(trace.depth(1) == 1);
  CHECK(trace.text_of(trace.find(1, trace.key("text"))) == "hello");
  CHECK(trace.text_of(trace.find(1, trace.key("ref"))) == "number");
  CHECK(trace.find(1, trace.key("number"))->as_uint() == UINT64_MAX);
  const TrackId aggregate = trace.track_of(2);
  CHECK(trace.tracks()[aggregate].kind == TrackKind::kAggregate);
  CHECK(trace.find(2, trace.key("num_occurrences"))->as_int() == 12);
}

TEST_CASE("xplane: every truncation is read without a crash and said") {
  const std::string whole = small_space();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto trace = imports::import_trace(
        {"h.xplane.pb", as_bytes(std::string_view(whole).substr(0, size)), nullptr});
    if (trace && size > 0 && size < whole.size() - 7) CHECK_FALSE(trace->diagnostics().empty());
  }
}

TEST_CASE("xplane: times that would overflow are kept in range") {
  std::string out;
  wire::Encoder space(out);
  space.message(1, [](wire::Encoder& plane) {
    plane.bytes(2, "/host:CPU");
    plane.message(3, [](wire::Encoder& line) {
      line.varint(3, INT64_MAX);
      line.message(4, [](wire::Encoder& event) {
        event.varint(2, INT64_MAX);
        event.varint(3, INT64_MAX);
      });
    });
  });
  const Trace trace = imported(out);
  REQUIRE(trace.slice_count() == 1);
  CHECK(trace.end(0) >= trace.begin(0));
}

TEST_CASE("xplane: fields of later versions, in any order, are passed over") {
  std::string out;
  wire::Encoder space(out);
  space.message(1, [](wire::Encoder& plane) {
    plane.bytes(2, "/host:CPU");
    plane.message(3, [](wire::Encoder& line) {
      line.message(4, [](wire::Encoder& event) {
        event.message(4, [](wire::Encoder& stat) {
          stat.bytes(99, "of a later version");
          stat.varint(4, 7);
          stat.varint(1, 1);
        });
        event.varint(3, 9000);
        event.bytes(200, "of a later version");
        event.varint(2, 5000);
        event.message(4, [](wire::Encoder& stat) {
          stat.varint(1, 1);
          stat.varint(4, 8);
        });
        event.varint(1, 1);
      });
    });
    plane.message(4, [&](wire::Encoder& entry) {
      entry.varint(1, 1);
      entry.message(2, [&](wire::Encoder& value) { value.bytes(2, "event"); });
    });
    plane.message(5, [&](wire::Encoder& entry) {
      entry.varint(1, 1);
      entry.message(2, [&](wire::Encoder& value) { value.bytes(2, "number"); });
    });
  });
  const Trace trace = imported(out);
  REQUIRE(trace.slice_count() == 1);
  CHECK(trace.name(0) == "event");
  CHECK(trace.begin(0) == Picos{5000});
  CHECK(trace.duration(0) == Picos{9000});
  REQUIRE(trace.args(0).count == 2);
  CHECK(trace.arg(trace.args(0).first).value.as_int() == 7);
  CHECK(trace.arg(trace.args(0).first + 1).value.as_int() == 8);
}
