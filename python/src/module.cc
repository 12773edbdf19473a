// The Python face of the logging library. It converts and nothing else: every rule about files,
// steps and threads lives in C++ behind sonde::Writer, so that C++ and Python users get the same
// bytes. Built once for the stable ABI (CPython 3.10 and later) in nanobind's split mode. The
// module must link libstdc++ dynamically: exceptions cross into the backend module, and a second,
// static copy of the runtime turns every one of them into an abort.
#include <nanobind/nanobind.h>

#include "sonde/version.h"

namespace sonde::python {
void bind_writer(nanobind::module_& m);
void bind_debug(nanobind::module_& m);
void bind_encoders(nanobind::module_& m);
void bind_reader(nanobind::module_& m);
}  // namespace sonde::python

NB_MODULE(_sonde, m) {
  nanobind::set_leak_warnings(false);  // a recording may live until the interpreter ends
  m.doc() = "The native part of Sonde's logging library.";
  m.attr("__version__") = SONDE_VERSION;
  sonde::python::bind_writer(m);
  sonde::python::bind_debug(m);
  sonde::python::bind_encoders(m);
  sonde::python::bind_reader(m);
}
