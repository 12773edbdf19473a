// The unit tests' main(): doctest's own. Each src/**/x_test.cc adds its cases by being linked in.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
