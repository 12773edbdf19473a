// The unit tests' main(): doctest's own. Each src/**/x_test.cc adds its cases by being linked in.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  // Properties are tried on the same inputs everywhere, so that a red test is red again; RC_PARAMS asks for others.
  setenv("RC_PARAMS", "seed=18 max_success=200", 0);
  return doctest::Context(argc, argv).run();
}
