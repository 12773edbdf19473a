#include "capture/analysis/hlo/text.h"

#include <doctest/doctest.h>

#include "codec/wire.h"

using namespace sonde;
using namespace sonde::capture;

namespace {

// f32[2] at `field`.
void shape(wire::Encoder& out, uint32_t field, uint64_t type,
           std::initializer_list<uint64_t> sizes) {
  out.message(field, [&](wire::Encoder& s) {
    s.varint(2, type);
    for (const uint64_t size : sizes) s.varint(3, size);
  });
}

// main calls `inner`, which stands after it in the file: a parameter and a list of two numbers.
std::string small_module() {
  std::string out;
  wire::Encoder proto(out);
  proto.message(1, [](wire::Encoder& module) {
    module.bytes(1, "jit_f");
    module.bytes(2, "main");
    module.varint(6, 1);
    module.message(3, [](wire::Encoder& main) {
      main.bytes(1, "main");
      main.varint(5, 1);
      main.varint(6, 11);
      main.message(2, [](wire::Encoder& i) {
        i.bytes(1, "p");
        i.bytes(2, "parameter");
        shape(i, 3, 11, {2});
        i.varint(35, 10);
      });
      main.message(2, [](wire::Encoder& i) {
        i.bytes(1, "f");
        i.bytes(2, "fusion");
        shape(i, 3, 11, {2});
        i.bytes(11, "kLoop");
        i.varint(35, 11);
        i.varint(36, 10);
        i.varint(38, 2);
      });
    });
    module.message(3, [](wire::Encoder& inner) {
      inner.bytes(1, "inner");
      inner.varint(5, 2);
      inner.varint(6, 20);
      inner.message(2, [](wire::Encoder& i) {
        i.bytes(1, "c");
        i.bytes(2, "constant");
        shape(i, 3, 4, {2});
        i.message(8, [](wire::Encoder& literal) {
          literal.varint(4, 7);
          literal.varint(4, static_cast<uint64_t>(-1));
        });
        i.varint(35, 20);
      });
      inner.message(2, [](wire::Encoder& i) {
        i.bytes(1, "k");
        i.bytes(2, "custom-call");
        shape(i, 3, 11, {2});
        i.bytes(28, "attention");
        i.varint(35, 22);
        i.varint(36, 20);
        i.varint(56, 1);
        shape(i, 57, 4, {2});
        shape(i, 57, 11, {});
        i.varint(65, 1);
        i.message(68, [](wire::Encoder& attributes) {
          attributes.message(1, [](wire::Encoder& entry) {
            entry.bytes(1, "small");
            entry.bytes(2, "true");
          });
        });
        i.varint(77, 4);
      });
      inner.message(2, [](wire::Encoder& i) {
        i.bytes(1, "d");
        i.bytes(2, "constant");
        shape(i, 3, 11, {4});
        i.message(8, [](wire::Encoder& literal) {
          for (const float v : {1.5f, 1.41421354f, 2.81022636e-08f, 1e30f}) literal.real32(8, v);
        });
        i.varint(35, 21);
      });
    });
  });
  return out;
}

}  // namespace

TEST_CASE("hlo text: callees come first, names stand bare, short lists are shown") {
  const std::string bytes = small_module();
  const auto module = hlo::parse_module(as_bytes(bytes));
  REQUIRE(module);
  const std::string text = hlo::module_text(*module, hlo::TextStyle::kShort);
  CHECK(text.starts_with("HloModule jit_f, entry_computation_layout={(f32[2]"));
  CHECK(text.find("inner {") < text.find("ENTRY main {"));
  CHECK(text.find("constant({7, -1})") != std::string::npos);
  CHECK(text.find("constant({1.5, 1.41421354, 2.81022636e-08, 1e+30})") != std::string::npos);
  CHECK(text.find("fusion(p), kind=kLoop, calls=inner") != std::string::npos);
  CHECK(text.find('%') == std::string::npos);
  const hlo::Instruction* call = module->find("k");
  REQUIRE(call);
  const std::string_view how =
      "custom_call_target=\"attention\", operand_layout_constraints={s32[2], f32[]}, "
      "custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI";
  CHECK(text.find(std::string(how) + ", frontend_attributes={small=\"true\"}") !=
        std::string::npos);
  CHECK(hlo::instruction_text(*module, *call, hlo::TextStyle::kOneLine).ends_with(how));
  const hlo::Instruction* fusion = module->find("f");
  REQUIRE(fusion);
  CHECK(
      hlo::instruction_text(*module, *fusion, hlo::TextStyle::kOneLine).starts_with("%f = f32[2]"));
}
