#include "numerics/torch_log.h"

#include <doctest/doctest.h>

using namespace sonde::numerics;

namespace {

std::string hashes(const std::string& in, const std::string& out) {
  return R"({"type":"dict","items":[["input_hash",{"type":"tuple","items":[)" + in +
         R"(]}],["hash",)" + out + "]]}";
}
const std::string kOne = R"({"type":"scalar","value":1.5})";
const std::string kInf = R"({"type":"nonfinite_float","value":"inf"})";

std::string call(const std::string& op, const std::string& log, int line) {
  return R"({"type":"op","call_depth":1,"op_name":"aten::)" + op + R"(","log":)" + log +
         R"(,"fwd_stack_trace":null,"stack_trace":"  File \"/p/loss.py\", line )" +
         std::to_string(line) +
         R"(, in f\n    x\n  File \"/lib/site-packages/torch/f.py\", line 9, in g\n"})";
}

std::string document(const std::string& calls) {
  return R"({"format":"torch.utils._debug_mode.DebugMode.logs","version":1,"logs":[)" + calls +
         "]}";
}

}  // namespace

TEST_CASE("numerics: a log of DebugMode names the first op with finite inputs") {
  const std::string text =
      document(call("relu", hashes(kOne, kOne), 4) + "," + call("log", hashes(kOne, kInf), 5) +
               "," + call("sum", hashes(kInf, kInf), 6));
  REQUIRE(is_torch_log(text));
  const auto log = parse_torch_log(text);
  REQUIRE(log);
  const auto fault = first_fault(*log);
  REQUIRE(fault);
  CHECK(sentence(*fault) == "First infinity: `log` at loss.py:5; 1 tensor followed");
}

TEST_CASE("numerics: two logs of DebugMode are compared call by call") {
  const auto one = parse_torch_log(document(call("relu", hashes(kOne, kOne), 4)));
  const auto two =
      parse_torch_log(document(call("relu", hashes(kOne, R"({"type":"scalar","value":1.6})"), 4)));
  REQUIRE(one);
  REQUIRE(two);
  CHECK(first_difference(*one, *one, 0.001).empty());
  CHECK(first_difference(*one, *two, 0.001) ==
        "First difference: `relu` at loss.py:4, call 1: its norm is 1.5 and 1.6");
}

TEST_CASE("numerics: foreign and cut logs of DebugMode are refused with a sentence") {
  const std::string text = document(call("log", hashes(kOne, kInf), 5));
  for (size_t length = 0; length < text.size(); ++length)
    CHECK(!parse_torch_log(std::string_view(text).substr(0, length)));
  CHECK(!parse_torch_log(R"({"format":"other","version":1,"logs":[]})"));
  CHECK(!parse_torch_log(
      R"({"format":"torch.utils._debug_mode.DebugMode.logs","version":9,"logs":[]})"));
}
