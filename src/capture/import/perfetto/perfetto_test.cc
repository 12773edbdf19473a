#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "capture/import/registry.h"
#include "codec/wire.h"

using namespace sonde;

namespace {

// One process, thread, stream and counter; aten::mm with interned name, category and argument, a
// flow to gemm, a sample. Verified with the published protos (package perfetto 0.59).
constexpr std::string_view kGolden =
    "0a1568015001e2030e08011a0a08643206707974686f6e"
    "0a1750016802e2031008022801220a086410652a046d61696e"
    "0a1550016802e2030e08032801120873747265616d2037"
    "0a1b50016802e2031408042801120a475055206d656d6f727942021803"
    "0a5d40e80750016802622a0a0a080112066370755f6f70120c080112086174656e3a3a6d6d1a0e0801120a496e7075"
    "7420"
    "44696d735a2848015802500118012214080132105b5b322c20335d2c205b332c20345d5df9024d00000000000000"
    "0a2740dc0b500168025a1e48015803ba010467656d6db201066b65726e656c81034d00000000000000"
    "0a1140c00c500168025a0848045804f0018020"
    "0a0d40d00f500168025a0448025802"
    "0a0d409423500168025a0448025803";

std::string unhexed(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

}  // namespace

TEST_CASE("perfetto: tracks, interned names, arguments, flows and counters") {
  const std::string bytes = unhexed(kGolden);
  REQUIRE(bytes.size() == 285);
  REQUIRE(imports::importer_for("x", as_bytes(bytes)));
  CHECK(imports::importer_for("x", as_bytes(bytes))->id == "perfetto");
  auto trace = imports::import_trace({"x.pftrace", as_bytes(bytes), nullptr});
  REQUIRE(trace);
  REQUIRE(trace->slice_count() == 2);
  CHECK(trace->name(0) == "aten::mm");
  CHECK(trace->text(trace->label(0).category) == "cpu_op");
  CHECK(trace->begin(0).value == 0);
  CHECK(trace->duration(0).value == 1'000'000);
  CHECK(trace->text_of(trace->find(0, trace->key("Input Dims"))) == "[[2, 3], [3, 4]]");
  CHECK(trace->name(1) == "gemm");
  CHECK(trace->begin(1).value == 500'000);
  CHECK(trace->duration(1).value == 3'000'000);
  REQUIRE(trace->flows().size() == 1);
  CHECK(trace->flows()[0].from == 0);
  CHECK(trace->flows()[0].to == 1);
  const trace::Track& thread = trace->tracks()[trace->track_of(0)];
  CHECK(trace->text(thread.name) == "main");
  CHECK(trace->text(trace->tracks()[thread.parent].name) == "python");
  bool has_counter = false;
  for (const trace::Track& track : trace->tracks()) {
    if (track.kind != trace::TrackKind::kCounter) continue;
    has_counter = true;
    CHECK(trace->text(track.name) == "GPU memory");
    CHECK(trace->point_value(track.first_point) == 4096);
  }
  CHECK(has_counter);
}

// Events of one track, (time, type), with a name and a flow each; `type` 1 begins, 2 ends.
std::string track_events(const std::vector<std::pair<uint64_t, uint64_t>>& events) {
  std::string out;
  wire::Encoder trace(out);
  for (const auto& [time, type] : events) {
    trace.message(1, [&](wire::Encoder& packet) {
      packet.varint(8, time);
      packet.varint(10, 1);
      packet.message(11, [&](wire::Encoder& event) {
        event.varint(9, type);
        event.varint(11, 5);
        if (type == 2) return;
        event.bytes(22, "c");
        event.bytes(23, "at " + std::to_string(time));
        event.fixed64(47, 77);
        event.message(4, [&](wire::Encoder& annotation) {
          annotation.bytes(10, "time");
          annotation.varint(4, time);
        });
      });
    });
  }
  return out;
}

TEST_CASE("perfetto: the order of a track's packets does not matter, nor what was let go of") {
  using Events = std::vector<std::pair<uint64_t, uint64_t>>;
  const Events in_order = {{100, 1}, {110, 1}, {120, 2}, {130, 3}, {140, 2}, {150, 1}, {160, 2}};
  const Events mixed = {{150, 1}, {130, 3}, {160, 2}, {100, 1}, {120, 2}, {110, 1}, {140, 2}};
  for (const Events& events : {in_order, mixed}) {
    const std::string bytes = track_events(events);
    size_t let_go = 0;
    const auto trace = imports::import_trace({"x", as_bytes(bytes), nullptr, [&](Bytes part) {
                                                CHECK(part.data() >= as_bytes(bytes).data());
                                                let_go += part.size();
                                              }});
    REQUIRE(trace);
    CHECK(let_go <= 2 * bytes.size());  // walked twice
    REQUIRE(trace->slice_count() == 4);
    const struct {
      int64_t begin_ns, duration_ns;
      uint16_t depth;
    } kSlices[] = {{0, 40, 0}, {10, 10, 1}, {30, 0, 1}, {50, 10, 0}};
    for (uint32_t s = 0; s < 4; ++s) {
      CHECK(trace->begin(s).value == kSlices[s].begin_ns * 1000);
      CHECK(trace->duration(s).value == kSlices[s].duration_ns * 1000);
      CHECK(trace->depth(s) == kSlices[s].depth);
      CHECK(trace->name(s) == "at " + std::to_string(100 + kSlices[s].begin_ns));
      CHECK(trace->find(s, trace->key("time"))->as_int() == 100 + kSlices[s].begin_ns);
    }
    REQUIRE(trace->flows().size() == 3);  // from each slice to the next in time
    for (uint32_t f = 0; f < 3; ++f) {
      CHECK(trace->flows()[f].from == f);
      CHECK(trace->flows()[f].to == f + 1);
    }
    CHECK(trace->diagnostics().empty());
  }
}

TEST_CASE("perfetto: a cut after every byte, tracks inside each other, lengths of 2^60") {
  const std::string whole = unhexed(kGolden);
  for (size_t length = 0; length < whole.size(); ++length)
    (void)imports::import_trace(
        {"x", as_bytes(std::string_view(whole).substr(0, length)), nullptr});
  std::string cyclic;
  wire::Encoder trace(cyclic);
  for (const auto& [uuid, parent] : {std::pair<uint64_t, uint64_t>{1, 2}, {2, 3}, {3, 1}, {4, 4}}) {
    trace.message(1, [&](wire::Encoder& packet) {
      packet.varint(10, 1);
      packet.message(60, [&](wire::Encoder& track) {
        track.varint(1, uuid);
        track.varint(5, parent);
      });
    });
    trace.message(1, [&](wire::Encoder& packet) {
      packet.varint(10, 1);
      packet.varint(8, uuid << 40);
      packet.message(11, [&](wire::Encoder& event) {
        event.varint(9, uuid % 2 + 1);
        event.varint(11, uuid);
      });
    });
  }
  CHECK(imports::import_trace({"x", as_bytes(cyclic), nullptr}));
  std::string huge = "\x0a";
  wire::Encoder(huge).raw_varint(uint64_t{1} << 60);
  huge += "\x50\x01";
  (void)imports::import_trace({"x", as_bytes(huge), nullptr});
}
