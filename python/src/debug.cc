// What sonde.debug does often: counting what tensors hold and framing records, with the GIL released
// while the work is done.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>

#include "module_hooks.h"
#include "tensor_stats.h"
#include "trace_buffer.h"

namespace sonde::python {
namespace nb = nanobind;
namespace {

using AnyTensor = nb::ndarray<nb::ro, nb::device::cpu, nb::c_contig>;

// (size, -inf, +inf, nan, negative, zero, positive, rms, min, max, mean, subnormal, beyond fp16,
// bf16, fp8, exponents); None for types that are no floating point numbers.
nb::object tensor_stats(const AnyTensor& tensor, bool with_histogram) {
  const auto type = tensor.dtype();
  const bool is_float = type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Float);
  const bool is_bfloat = type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat);
  if (type.lanes != 1 || !(is_float || (is_bfloat && type.bits == 16))) return nb::none();
  if (type.bits != 16 && type.bits != 32 && type.bits != 64) return nb::none();
  const Element element = is_bfloat         ? Element::kBfloat16
                          : type.bits == 16 ? Element::kFloat16
                          : type.bits == 32 ? Element::kFloat32
                                            : Element::kFloat64;
  Stats stats;
  {
    const nb::gil_scoped_release release;
    stats = count_values(tensor.data(), tensor.size(), element, with_histogram);
  }
  nb::list all;
  for (const double count : counts_of(stats)) all.append(count);
  for (const double number : stats.numbers()) all.append(number);
  nb::list exponents;
  if (with_histogram) {
    for (const uint32_t n : stats.exponents) exponents.append(n);
  }
  all.append(exponents);
  return nb::tuple(all);
}

// Of values in main memory, by their address.
bool has_bad_at(uintptr_t address, size_t count, int element) {
  if (address == 0 || element < 0 || element > 3) return false;
  const nb::gil_scoped_release release;
  return has_bad(reinterpret_cast<const void*>(address), count, static_cast<Element>(element));
}

nb::bytes frames(const nb::list& payloads) {
  std::string out;
  for (const nb::handle item : payloads) {
    const auto payload = nb::cast<nb::bytes>(item);
    append_frame(out, {payload.c_str(), payload.size()});
  }
  return nb::bytes(out.data(), out.size());
}

}  // namespace

void bind_debug(nb::module_& m) {
  m.def("frames", frames, nb::arg("payloads"));
  m.def("tensor_stats", tensor_stats, nb::arg("tensor"), nb::arg("with_histogram") = false);
  m.def("has_bad", has_bad_at);
  nb::class_<TraceBuffer>(m, "TraceBuffer")
      .def(nb::init<>())
      .def("set_elements", &TraceBuffer::set_elements)
      .def("op", &TraceBuffer::op)
      .def("add", &TraceBuffer::add)
      .def("add_stats", &TraceBuffer::add_stats)
      .def("drop", &TraceBuffer::drop)
      .def("take", &TraceBuffer::take)
      .def("__len__", &TraceBuffer::size);
  bind_module_hooks(m);
}

}  // namespace sonde::python
