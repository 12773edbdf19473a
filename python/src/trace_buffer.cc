#include "trace_buffer.h"

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "codec/wire.h"
#include "log/write/frame.h"

namespace sonde::python {
namespace {

int64_t number(const nb::object& object) {
  if (!object) return -1;
  const long long value = PyLong_AsLongLong(object.ptr());
  if (value == -1 && PyErr_Occurred()) PyErr_Clear();
  return value;
}

}  // namespace

void append_frame(std::string& out, std::string_view payload) {
  const size_t at = out.size();
  out.resize(at + payload.size() + writer::kFrameHead + writer::kFrameTail);
  std::memcpy(out.data() + at + writer::kFrameHead, payload.data(), payload.size());
  writer::frame(out.data() + at, payload.size());
}

void TraceBuffer::set_elements(const nb::dict& elements) {
  known_.clear();
  for (const auto [dtype, numbers] : elements) {
    const auto [element, type] = nb::cast<std::pair<int, int>>(numbers);
    if (element < 0 || element > 3) throw nb::value_error("no such type of numbers");
    known_.push_back({nb::borrow(dtype), static_cast<Element>(element), type});
  }
}

uint32_t TraceBuffer::op(const std::string& graph, const std::string& name, int64_t slot,
                         int64_t tensor_id) {
  std::string body;
  wire::Encoder trace(body);
  trace.bytes(1, graph);
  trace.bytes(2, name);
  if (slot > 0) trace.varint(3, static_cast<uint64_t>(slot));
  trace.varint(4, 4);
  const std::string health(sizeof(double) * (4 + kCounts), '\0');
  trace.message(5, [&](wire::Encoder& tensor) {
    tensor.varint(1, 2);
    tensor.message(2, [](wire::Encoder& shape) {
      shape.message(2, [](wire::Encoder& dim) { dim.varint(1, 4 + kCounts); });
    });
    tensor.bytes(4, health);
  });
  const size_t health_at = body.size() - health.size();
  trace.bytes(6, "/device:CPU:0");
  trace.bytes(30, std::string(sizeof(float) * kNumbers, '\0'));
  ops_.push_back({std::move(body), health_at, static_cast<double>(tensor_id)});
  return static_cast<uint32_t>(ops_.size() - 1);
}

bool TraceBuffer::add(uint32_t op, nb::handle tensor, uint64_t step, bool with_histogram) {
  static PyObject* const dtype_name = interned("dtype");
  static PyObject* const cpu_name = interned("is_cpu");
  static PyObject* const contiguous_name = interned("is_contiguous");
  static PyObject* const numel_name = interned("numel");
  static PyObject* const dim_name = interned("dim");
  static PyObject* const pointer_name = interned("data_ptr");
  if (op >= ops_.size()) return false;
  const nb::object dtype = asked(tensor, dtype_name);
  const auto known = std::find_if(known_.begin(), known_.end(),
                                  [&](const Known& one) { return one.dtype.is(dtype); });
  if (known == known_.end() || asked(tensor, cpu_name).ptr() != Py_True ||
      called(tensor, contiguous_name).ptr() != Py_True)
    return false;
  const int64_t count = number(called(tensor, numel_name));
  const int64_t rank = number(called(tensor, dim_name));
  const nb::object pointer = count > 0 ? called(tensor, pointer_name) : nb::object();
  const uint64_t address = pointer ? PyLong_AsUnsignedLongLong(pointer.ptr()) : 0;
  if (PyErr_Occurred()) PyErr_Clear();  // a wrapper without memory (torch.func)
  if (count <= 0 || address == 0 || rank < 0) return false;
  const double wall_time =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto* values = reinterpret_cast<const void*>(static_cast<uintptr_t>(address));
  const Element element = known->element;
  const int type = known->number;
  const auto count_all = [&] {
    return count_values(values, static_cast<size_t>(count), element, with_histogram);
  };
  Stats stats;
  if (count < kWorthReleasing) {
    stats = count_all();
  } else {
    const nb::gil_scoped_release release;
    stats = count_all();
  }
  Row& row = rows_.emplace_back(Row{
      op, type, static_cast<int>(rank), step, wall_time, counts_of(stats), stats.numbers(), {}});
  if (with_histogram) {
    wire::Encoder packed(row.histogram);
    for (const uint32_t n : stats.exponents) packed.raw_varint(n);
  }
  return true;
}

void TraceBuffer::add_stats(uint32_t op, const nb::tuple& stats, int dtype, int rank, uint64_t step,
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

nb::bytes TraceBuffer::take() {
  std::string out;
  out.reserve(rows_.size() * 320);
  for (const Row& row : rows_) append(row, out);
  rows_.clear();
  return nb::bytes(out.data(), out.size());
}

// Rows of an op differ in their numbers only: these are put into the text they share.
void TraceBuffer::append(const Row& row, std::string& out) const {
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
  std::string histogram;
  if (!row.histogram.empty()) wire::Encoder(histogram).bytes(31, row.histogram);
  const size_t start = out.size();
  out.append(writer::kFrameHead, '\0');
  wire::Encoder event(out);
  event.real(1, row.wall_time);
  event.varint(2, row.step);
  event.raw_varint(10 << 3 | 2);
  event.raw_varint(op.body.size() + histogram.size());
  const size_t body = out.size();
  out += op.body;
  std::memcpy(out.data() + body + op.health_at, health.data(), sizeof health);
  std::memcpy(out.data() + body + op.body.size() - sizeof numbers, numbers.data(), sizeof numbers);
  out += histogram;
  const size_t length = out.size() - start - writer::kFrameHead;
  out.append(writer::kFrameTail, '\0');
  writer::frame(out.data() + start, length);
}

}  // namespace sonde::python
