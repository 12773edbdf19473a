// What sonde.debug.watch does at every module and every gradient of a recorded step.
#pragma once

#include <nanobind/nanobind.h>

namespace sonde::python {

void bind_module_hooks(nanobind::module_& m);

}  // namespace sonde::python
