#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "codec/wire.h"
#include "log/event/blob.h"
#include "log/event/metadata.h"
#include "log/event/tensor.h"
#include "log/event/value.h"

using namespace sonde;
using namespace sonde::event;

namespace {

std::string unhex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

std::string message(const std::function<void(wire::Encoder&)>& fn) {
  std::string out;
  wire::Encoder encoder(out);
  fn(encoder);
  return out;
}

std::string tensor(DataType type, std::vector<int64_t> dims,
                   const std::function<void(wire::Encoder&)>& values) {
  return message([&](wire::Encoder& e) {
    e.varint(1, static_cast<uint64_t>(type));
    e.message(2, [&](wire::Encoder& shape) {
      for (const int64_t dim : dims)
        shape.message(2, [&](wire::Encoder& d) { d.varint(1, static_cast<uint64_t>(dim)); });
    });
    values(e);
  });
}

std::string event_of(std::string_view value) {
  return message([&](wire::Encoder& e) {
    e.real(1, 5);
    e.varint(2, 3);
    e.message(5, [&](wire::Encoder& s) { s.bytes(1, value); });
  });
}

}  // namespace

TEST_CASE("tensor: a double beside a rounded float is the scalar's value") {
  const std::string bytes = tensor(DataType::kFloat, {}, [](wire::Encoder& e) {
    e.real32(5, 0.1f);
    e.real(6, 0.1);
  });
  const auto scalar = decode_scalar(*parse_tensor(as_bytes(bytes)));
  REQUIRE(scalar);
  CHECK(scalar->type == NumberType::kFloat64);
  CHECK(scalar->f64 == 0.1);
}

TEST_CASE("Event: the recorded vectors of the real writers") {
  const std::string version = unhex("090000000000408f401a0d627261696e2e4576656e743a32");
  auto event = parse_event(as_bytes(version));
  REQUIRE(event);
  CHECK(event->wall_time == 1000);
  CHECK(event->what == What::kFileVersion);
  CHECK(file_version(as_text(event->body)) == 2);

  const std::string simple = unhex("090000000000488f4010072a0a0a080a0174150000003f");
  auto value = find_value(as_bytes(simple), 0);
  REQUIRE(value);
  CHECK(value->tag == "t");
  CHECK(value->kind == ValueKind::kSimple);
  CHECK(value->simple == 0.5f);
  const Metadata migrated = metadata_of(*value);
  CHECK(migrated.plugin == "scalars");
  CHECK(migrated.data_class == DataClass::kScalar);
  CHECK(migrated.from_v1);
  CHECK(find_value(as_bytes(simple), 1).error().code == Code::kNotFound);

  const std::string v2 = unhex(
      "090000000000508f4010ffffffffffffffffff012a1e0a1c0a0174420a080112002a040000c03f4a0b0a090a0773"
      "63616c617273");
  CHECK(parse_event(as_bytes(v2))->step == -1);
  value = find_value(as_bytes(v2), 0);
  REQUIRE(value);
  CHECK(metadata_of(*value).plugin == "scalars");
  CHECK(metadata_of(*value).data_class == DataClass::kScalar);
  CHECK(decode_scalar(*parse_tensor(value->body))->f32 == 1.5f);

  const std::string start = unhex("090000000000588f4010023a020801");
  event = parse_event(as_bytes(start));
  REQUIRE(event);
  CHECK(event->what == What::kSessionLog);
  CHECK(session_status(event->body) == SessionStatus::kStart);
}

TEST_CASE("Event: bytes that are no event are corrupt, wherever they are cut") {
  const std::string whole = unhex("090000000000488f4010072a0a0a080a0174150000003f");
  for (size_t n = 1; n < whole.size(); ++n) {
    if (n == 9 || n == 11) continue;  // between two fields: a shorter, valid message
    CHECK_MESSAGE(!parse_event(as_bytes(std::string_view(whole).substr(0, n))), n);
  }
}

TEST_CASE("Tensor: every numeric encoding gives its number") {
  struct Case {
    const char* promise;
    DataType type;
    std::function<void(wire::Encoder&)> values;
    double expected;
  };
  const auto content = [](std::string bytes) {
    return [bytes](wire::Encoder& e) { e.bytes(4, bytes); };
  };
  const auto varint = [](uint32_t field, uint64_t v) {
    return [=](wire::Encoder& e) { e.varint(field, v); };
  };
  const auto packed = [](uint32_t field, uint64_t v) {
    return [=](wire::Encoder& e) {
      e.bytes(field, message([&](wire::Encoder& inner) { inner.raw_varint(v); }));
    };
  };
  const std::vector<Case> cases = {
      {"float_val", DataType::kFloat, [](wire::Encoder& e) { e.real32(5, 1.5f); }, 1.5},
      {"float content", DataType::kFloat, content(unhex("0000c03f")), 1.5},
      {"double_val", DataType::kDouble, [](wire::Encoder& e) { e.real(6, 0.1); }, 0.1},
      {"double content", DataType::kDouble, content(unhex("9a9999999999b93f")), 0.1},
      {"int_val", DataType::kInt32, varint(7, static_cast<uint64_t>(-3)), -3},
      {"int_val packed", DataType::kInt32, packed(7, static_cast<uint64_t>(-3)), -3},
      {"int8 content", DataType::kInt8, content("\xfe"), -2},
      {"uint8", DataType::kUint8, varint(7, 200), 200},
      {"int16", DataType::kInt16, content(unhex("0080")), -32768},
      {"int64_val", DataType::kInt64, varint(10, uint64_t{1} << 62), std::pow(2.0, 62)},
      {"uint32_val", DataType::kUint32, varint(16, 4294967295u), 4294967295.0},
      {"uint64_val", DataType::kUint64, varint(17, UINT64_MAX), 18446744073709551615.0},
      {"bool", DataType::kBool, varint(11, 1), 1},
      {"half", DataType::kHalf, varint(13, 0x3e00), 1.5},
      {"half denormal", DataType::kHalf, varint(13, 1), std::ldexp(1.0, -24)},
      {"bfloat16", DataType::kBfloat16, varint(13, 16256), 1},
      {"bfloat16 content", DataType::kBfloat16, content(unhex("803f")), 1},
      {"complex64 real part", DataType::kComplex64, content(unhex("0000c03f00000040")), 1.5},
      {"float8 e5m2", DataType::kFloat8E5m2, [](wire::Encoder& e) { e.bytes(18, "\x3c"); }, 1},
      {"float8 e4m3fn", DataType::kFloat8E4m3fn, [](wire::Encoder& e) { e.bytes(18, "\x38"); }, 1},
      {"float8 e4m3fn max", DataType::kFloat8E4m3fn, [](wire::Encoder& e) { e.bytes(18, "\x7e"); },
       448},
      {"int4", DataType::kInt4, varint(7, 15), -1},
      {"no value is zero", DataType::kInt64, [](wire::Encoder&) {}, 0},
  };
  for (const Case& c : cases) {
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {1}, {1, 1}}) {
      const std::string bytes = tensor(c.type, dims, c.values);
      const auto view = parse_tensor(as_bytes(bytes));
      REQUIRE_MESSAGE(view, c.promise);
      const auto scalar = decode_scalar(*view);
      REQUIRE_MESSAGE(scalar, c.promise);
      CHECK_MESSAGE(scalar->as_double() == c.expected, c.promise);
      CHECK_MESSAGE(decode_doubles(*view)->at(0) == c.expected, c.promise);
    }
  }
}

TEST_CASE("Tensor: the last value fills the rest, and claims are checked before memory is taken") {
  const auto two = [](wire::Encoder& e) {
    e.real32(5, 1);
    e.real32(5, 2);
  };
  std::string bytes = tensor(DataType::kFloat, {2, 2}, two);
  CHECK(*decode_doubles(*parse_tensor(as_bytes(bytes))) == std::vector<double>{1, 2, 2, 2});
  CHECK(*decode_integers(*parse_tensor(as_bytes(bytes))) == std::vector<int64_t>{1, 2, 2, 2});
  bytes = tensor(DataType::kFloat, {0}, two);
  CHECK(decode_doubles(*parse_tensor(as_bytes(bytes)))->empty());
  bytes = tensor(DataType::kFloat, {int64_t{1} << 60, 4}, two);
  CHECK(decode_doubles(*parse_tensor(as_bytes(bytes))).error().code == Code::kTooLarge);
  bytes = tensor(DataType::kFloat, {int64_t{1} << 60, 0}, two);
  CHECK(decode_doubles(*parse_tensor(as_bytes(bytes)))->empty());
  bytes = tensor(DataType::kFloat, {int64_t{1} << 26}, two);
  CHECK(decode_doubles(*parse_tensor(as_bytes(bytes))).error().code == Code::kTooLarge);
  bytes = tensor(DataType::kFloat, {-1}, two);
  CHECK(!parse_tensor(as_bytes(bytes)));
  // Doubles as content are copied in one go: none of them, all of them, fewer than claimed.
  const auto content = [](wire::Encoder& e) {
    const double two_doubles[] = {1, 2};
    e.bytes(4, {reinterpret_cast<const char*>(two_doubles), sizeof two_doubles});
  };
  bytes = tensor(DataType::kDouble, {6, 0}, content);
  CHECK(decode_doubles(*parse_tensor(as_bytes(bytes)))->empty());
  bytes = tensor(DataType::kDouble, {1}, content);
  CHECK(*decode_doubles(*parse_tensor(as_bytes(bytes))) == std::vector<double>{1});
  bytes = tensor(DataType::kDouble, {3}, content);
  CHECK(*decode_doubles(*parse_tensor(as_bytes(bytes))) == std::vector<double>{1, 2, 2});
  bytes = tensor(DataType::kString, {3}, [](wire::Encoder& e) { e.bytes(8, "a"); });
  CHECK(*decode_strings(*parse_tensor(as_bytes(bytes))) ==
        std::vector<std::string_view>{"a", "a", "a"});
  CHECK(decode_doubles(*parse_tensor(as_bytes(bytes))).error().code == Code::kUnsupported);
}

TEST_CASE("Blob: old images, audio and graphs become what today's writers write") {
  const std::string image = event_of(message([](wire::Encoder& e) {
    e.bytes(1, "img");
    e.message(4, [](wire::Encoder& i) {
      i.varint(1, 20);
      i.varint(2, 10);
      i.bytes(4, "png");
    });
  }));
  auto blobs = blob_sequence(as_bytes(image), 0, "images");
  REQUIRE(blobs);
  CHECK(blobs->items == std::vector<std::string_view>{"10", "20", "png"});

  const std::string labelled = event_of(message([](wire::Encoder& e) {
    e.bytes(1, "snd");
    e.bytes(8, tensor(DataType::kString, {2, 2}, [](wire::Encoder& t) {
              for (const char* s : {"wav0", "label0", "wav1", "label1"}) t.bytes(8, s);
            }));
  }));
  CHECK(blob_sequence(as_bytes(labelled), 0, "audio")->items ==
        std::vector<std::string_view>{"wav0", "wav1"});

  const std::string graph = message([](wire::Encoder& e) { e.bytes(4, "graph"); });
  CHECK(find_value(as_bytes(graph), 0)->tag == kRunGraphTag);
  CHECK(blob_sequence(as_bytes(graph), 0, "graphs")->items ==
        std::vector<std::string_view>{"graph"});
  const std::string run_metadata = message([](wire::Encoder& e) {
    e.message(8, [](wire::Encoder& t) {
      t.bytes(1, "step1");
      t.bytes(2, "meta");
    });
  });
  CHECK(find_value(as_bytes(run_metadata), 0)->tag == "step1");
  CHECK(blob_sequence(as_bytes(run_metadata), 0, "x")->items ==
        std::vector<std::string_view>{"meta"});
}

TEST_CASE("Histogram: empty outer buckets are trimmed and min and max become the edges") {
  const std::string payload = event_of(message([](wire::Encoder& e) {
    e.bytes(1, "h");
    e.message(5, [](wire::Encoder& h) {
      h.real(1, -1);
      h.real(2, 5);
      for (const double limit : {-2.0, 0.0, 1.0, 6.0, 1e300}) h.real(6, limit);
      for (const double count : {0.0, 1.0, 0.0, 2.0, 0.0}) h.real(7, count);
    });
  }));
  const auto buckets = histogram(as_bytes(payload), 0);
  REQUIRE(buckets);
  REQUIRE(buckets->size() == 3);
  CHECK((*buckets)[0].left == -1);
  CHECK((*buckets)[0].right == 0);
  CHECK((*buckets)[0].count == 1);
  CHECK((*buckets)[1].count == 0);
  CHECK((*buckets)[2].left == 1);
  CHECK((*buckets)[2].right == 5);
  CHECK((*buckets)[2].count == 2);
}
