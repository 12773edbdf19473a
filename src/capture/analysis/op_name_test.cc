#include "capture/analysis/op_name.h"

#include <doctest/doctest.h>

using namespace sonde::capture;

TEST_CASE("op names: TensorFlow, JAX, tf.data and copies are told apart") {
  struct Case {
    const char* full;
    OpCategory category;
    const char *name, *type;
  };
  const Case cases[] = {
      {"model/dense/MatMul:MatMul", OpCategory::kTensorFlow, "model/dense/MatMul", "MatMul"},
      {"Iterator::Root::Map", OpCategory::kTfData, "Iterator::Root::Map", "Dataset"},
      {"jit(step)/dot_general:", OpCategory::kJax, "jit(step)/dot_general", "dot_general"},
      {"jit(f)/reduce_sum[axes=(0,)]:", OpCategory::kJax, "jit(f)/reduce_sum[axes=(0,)]",
       "reduce_sum"},
      {"jit(f)/add_12:", OpCategory::kJax, "jit(f)/add_12", "add"},
      {"XlaModule:", OpCategory::kTensorFlow, "XlaModule", "XlaModule"},
      {"MemcpyH2D", OpCategory::kCopyHostToDevice, "MemcpyH2D", "MemcpyHToD"},
      {"MEMCPYDtoH", OpCategory::kCopyDeviceToHost, "MEMCPYDtoH", "MemcpyDToH"},
      {"train", OpCategory::kUnknown, "train", ""},
      {"$file.py:12 f", OpCategory::kUnknown, "$file.py:12 f", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.full);
    const OpName op = parse_op_name(c.full);
    CHECK(op.category == c.category);
    CHECK(op.name == c.name);
    CHECK(op.type == c.type);
  }
}

TEST_CASE("op names: a trailing number is the compiler's") {
  CHECK(without_number("MatMul_12") == "MatMul");
  CHECK(without_number("a_b") == "a_b");
  CHECK(without_number("MatMul_") == "MatMul_");
}
