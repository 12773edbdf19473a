// How many operations a TensorFlow op does, from the shapes a profiler recorded.
#pragma once

#include <string_view>

namespace sonde::capture {

// Operations of one run of an op of this type with a `shape` argument such as
// "(float[2,3];half[3,4])"; 0 when unknown.
double flops_from_shapes(std::string_view type, std::string_view shape_text);

}  // namespace sonde::capture
