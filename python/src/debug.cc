// What sonde.debug does often: counting what tensors hold and framing records, with the GIL released
// while the work is done.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
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

  // Counts `count` values of main memory at `address`; true when one of them is no number.
  bool add(uint32_t op, uintptr_t address, size_t count, int element, int dtype, int rank,
           uint64_t step, double wall_time, bool with_histogram) {
    if (op >= ops_.size() || address == 0 || element < 0 || element > 3) return false;
    Stats stats;
    {
      const nb::gil_scoped_release release;
      stats = count_values(reinterpret_cast<const void*>(address), count,
                           static_cast<Element>(element), with_histogram);
    }
    Row row{op, dtype, rank, step, wall_time, counts_of(stats), stats.numbers(), {}};
    if (with_histogram) {
      wire::Encoder packed(row.histogram);
      for (const uint32_t n : stats.exponents) packed.raw_varint(n);
    }
    rows_.push_back(std::move(row));
    return stats.is_bad();
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
  nb::class_<TraceBuffer>(m, "TraceBuffer")
      .def(nb::init<>())
      .def("op", &TraceBuffer::op)
      .def("add", &TraceBuffer::add)
      .def("add_stats", &TraceBuffer::add_stats)
      .def("take", &TraceBuffer::take)
      .def("__len__", &TraceBuffer::size);
}

}  // namespace sonde::python
