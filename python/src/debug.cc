// What sonde.debug does often: counting what tensors hold and framing records, with the GIL released
// while the work is done.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "codec/wire.h"
#include "log/write/frame.h"
#include "tensor_stats.h"

namespace sonde::python {
namespace nb = nanobind;
namespace {

using AnyTensor = nb::ndarray<nb::ro, nb::device::cpu, nb::c_contig>;

constexpr size_t kCounts = 7;   // size, -inf, +inf, nan, negative, zero, positive
constexpr size_t kNumbers = 8;  // as in numerics/health.h

std::array<double, kCounts> counts_of(const Stats& stats) {
  return {stats.size,     stats.neg_inf, stats.pos_inf, stats.nan,
          stats.negative, stats.zero,    stats.positive};
}

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

void append_frame(std::string& out, std::string_view payload) {
  const size_t at = out.size();
  out.resize(at + payload.size() + writer::kFrameHead + writer::kFrameTail);
  std::memcpy(out.data() + at + writer::kFrameHead, payload.data(), payload.size());
  writer::frame(out.data() + at, payload.size());
}

nb::bytes frames(const nb::list& payloads) {
  std::string out;
  for (const nb::handle item : payloads) {
    const auto payload = nb::cast<nb::bytes>(item);
    append_frame(out, {payload.c_str(), payload.size()});
  }
  return nb::bytes(out.data(), out.size());
}

// One graph-execution trace in mode FULL_HEALTH.
struct Row {
  uint32_t op = 0;
  int dtype = 1, rank = 1;
  uint64_t step = 0;
  double wall_time = 0;
  std::array<double, kCounts> counts{};
  std::array<double, kNumbers> numbers{};
  std::string histogram;  // packed
};

// The rows of one step. Ops are named once; a row costs no Python object.
class TraceBuffer {
 public:
  // Gives the number by which add() knows the op.
  uint32_t op(const std::string& graph, const std::string& name, int64_t slot, int64_t tensor_id) {
    std::string head;
    wire::Encoder trace(head);
    trace.bytes(1, graph);
    trace.bytes(2, name);
    if (slot > 0) trace.varint(3, static_cast<uint64_t>(slot));
    trace.varint(4, 4);
    ops_.push_back({std::move(head), static_cast<double>(tensor_id)});
    return static_cast<uint32_t>(ops_.size() - 1);
  }

  // Counts the values of a torch tensor; `elements` gives its type's own number and the format's.
  // False when it is not a plain block of main memory with numbers of such a type: nothing was
  // added then. Asked here and not in Python, because a step asks hundreds of times.
  bool add(uint32_t op, nb::handle tensor, const nb::dict& elements, uint64_t step,
           bool with_histogram) {
    static const Names names;
    if (op >= ops_.size()) return false;
    const nb::object dtype = asked(tensor, names.dtype);
    PyObject* const found = dtype ? PyDict_GetItem(elements.ptr(), dtype.ptr()) : nullptr;
    if (!found || asked(tensor, names.is_cpu).ptr() != Py_True ||
        called(tensor, names.is_contiguous).ptr() != Py_True)
      return false;
    const int64_t count = number(called(tensor, names.numel));
    const int64_t rank = number(called(tensor, names.dim));
    const nb::object pointer = count > 0 ? called(tensor, names.data_ptr) : nb::object();
    const uint64_t address = pointer ? PyLong_AsUnsignedLongLong(pointer.ptr()) : 0;
    if (PyErr_Occurred()) PyErr_Clear();  // a wrapper without memory (torch.func)
    const auto [element, type] = nb::cast<std::pair<int, int>>(nb::handle(found));
    if (count <= 0 || address == 0 || rank < 0 || element < 0 || element > 3) return false;
    const double wall_time =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    const auto* values = reinterpret_cast<const void*>(static_cast<uintptr_t>(address));
    const auto count_all = [&] {
      return count_values(values, static_cast<size_t>(count), static_cast<Element>(element),
                          with_histogram);
    };
    Stats stats;
    if (count < kWorthReleasing) {
      stats = count_all();
    } else {
      const nb::gil_scoped_release release;
      stats = count_all();
    }
    Row row{op, type, static_cast<int>(rank), step, wall_time, counts_of(stats), stats.numbers(),
            {}};
    if (with_histogram) {
      wire::Encoder packed(row.histogram);
      for (const uint32_t n : stats.exponents) packed.raw_varint(n);
    }
    rows_.push_back(std::move(row));
    return true;
  }

  // A row whose numbers are known; `stats` as tensor_stats gives them.
  void add_stats(uint32_t op, const nb::tuple& stats, int dtype, int rank, uint64_t step,
                 double wall_time) {
    if (op >= ops_.size() || nb::len(stats) < kCounts + kNumbers) return;
    Row row{op, dtype, rank, step, wall_time, {}, {}, {}};
    for (size_t i = 0; i < kCounts; ++i) row.counts[i] = nb::cast<double>(stats[i]);
    for (size_t i = 0; i < kNumbers; ++i) row.numbers[i] = nb::cast<double>(stats[kCounts + i]);
    if (nb::len(stats) > kCounts + kNumbers) {
      wire::Encoder packed(row.histogram);
      for (const nb::handle n : nb::cast<nb::list>(stats[kCounts + kNumbers]))
        packed.raw_varint(nb::cast<uint64_t>(n));
    }
    rows_.push_back(std::move(row));
  }

  size_t size() const { return rows_.size(); }

  // The rows as framed records; the buffer is empty afterwards.
  nb::bytes take() {
    std::string out;
    {
      const nb::gil_scoped_release release;
      std::string body, payload;
      for (const Row& row : rows_) {
        encode(row, body);
        payload.clear();
        wire::Encoder event(payload);
        event.real(1, row.wall_time);
        event.varint(2, row.step);
        event.bytes(10, body);
        append_frame(out, payload);
      }
    }
    rows_.clear();
    return nb::bytes(out.data(), out.size());
  }

 private:
  static constexpr int64_t kWorthReleasing = 1 << 18;  // values that take longer than the lock

  struct Names {
    PyObject* dtype = PyUnicode_InternFromString("dtype");
    PyObject* is_cpu = PyUnicode_InternFromString("is_cpu");
    PyObject* is_contiguous = PyUnicode_InternFromString("is_contiguous");
    PyObject* numel = PyUnicode_InternFromString("numel");
    PyObject* dim = PyUnicode_InternFromString("dim");
    PyObject* data_ptr = PyUnicode_InternFromString("data_ptr");
  };
  // Nothing, and no error, where the object does not answer.
  static nb::object answer(PyObject* object) {
    if (!object) PyErr_Clear();
    return nb::steal(object);
  }
  static nb::object asked(nb::handle object, PyObject* name) {
    return answer(PyObject_GetAttr(object.ptr(), name));
  }
  static nb::object called(nb::handle object, PyObject* name) {
    return answer(PyObject_CallMethodObjArgs(object.ptr(), name, nullptr));
  }
  static int64_t number(const nb::object& object) {
    if (!object) return -1;
    const long long value = PyLong_AsLongLong(object.ptr());
    if (value == -1 && PyErr_Occurred()) PyErr_Clear();
    return value;
  }

  struct NamedOp {
    std::string head;  // the trace's first fields
    double tensor_id;
  };

  void encode(const Row& row, std::string& body) const {
    const auto bytes_of = [](const auto& list) {
      return std::string_view(reinterpret_cast<const char*>(list.data()), sizeof list);
    };
    const NamedOp& op = ops_[row.op];
    std::array<double, 4 + kCounts> health{op.tensor_id, 0, static_cast<double>(row.dtype),
                                           static_cast<double>(row.rank)};
    std::copy(row.counts.begin(), row.counts.end(), health.begin() + 4);
    std::array<float, kNumbers> numbers;
    for (size_t i = 0; i < kNumbers; ++i) {
      constexpr double kMost = std::numeric_limits<float>::max();
      const double value = row.numbers[i];
      numbers[i] = static_cast<float>(std::isnan(value) ? value : std::clamp(value, -kMost, kMost));
    }
    body = op.head;
    wire::Encoder trace(body);
    trace.message(5, [&](wire::Encoder& tensor) {
      tensor.varint(1, 2);
      tensor.message(2, [](wire::Encoder& shape) {
        shape.message(2, [](wire::Encoder& dim) { dim.varint(1, 4 + kCounts); });
      });
      tensor.bytes(4, bytes_of(health));
    });
    trace.bytes(6, "/device:CPU:0");
    trace.bytes(30, bytes_of(numbers));
    if (!row.histogram.empty()) trace.bytes(31, row.histogram);
  }

  std::vector<NamedOp> ops_;
  std::vector<Row> rows_;
};

}  // namespace

void bind_debug(nb::module_& m) {
  m.def("frames", frames, nb::arg("payloads"));
  m.def("tensor_stats", tensor_stats, nb::arg("tensor"), nb::arg("with_histogram") = false);
  m.def("has_bad", has_bad_at);
  nb::class_<TraceBuffer>(m, "TraceBuffer")
      .def(nb::init<>())
      .def("op", &TraceBuffer::op)
      .def("add", &TraceBuffer::add)
      .def("add_stats", &TraceBuffer::add_stats)
      .def("take", &TraceBuffer::take)
      .def("__len__", &TraceBuffer::size);
}

}  // namespace sonde::python
