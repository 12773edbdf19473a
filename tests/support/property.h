// Properties that hold for every input, tried on a few hundred made by rapidcheck, which shrinks one
// that fails to the smallest that still does. RC_PARAMS="seed=... max_success=5000" asks for others.
#pragma once

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace sonde::testing {

// A doctest check of "for all inputs"; the property is a lambda with RC_ASSERT inside.
template <class Property>
void for_all(const char* promise, Property&& property) {
  CHECK(rc::check(promise, std::forward<Property>(property)));
}

}  // namespace sonde::testing
