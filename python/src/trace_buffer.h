// The counts of a step's tensors, kept without a Python object each until they are written.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tensor_stats.h"

namespace sonde::python {
namespace nb = nanobind;

inline constexpr size_t kCounts = 7;   // size, -inf, +inf, nan, negative, zero, positive
inline constexpr size_t kNumbers = 8;  // as in numerics/health.h

inline std::array<double, kCounts> counts_of(const Stats& stats) {
  return {stats.size,     stats.neg_inf, stats.pos_inf, stats.nan,
          stats.negative, stats.zero,    stats.positive};
}

void append_frame(std::string& out, std::string_view payload);

// A name that Python looks up often.
inline PyObject* interned(const char* name) { return PyUnicode_InternFromString(name); }
// Nothing, and no error, where the object does not answer.
inline nb::object answer(PyObject* object) {
  if (!object) PyErr_Clear();
  return nb::steal(object);
}
inline nb::object asked(nb::handle object, PyObject* name) {
  return answer(PyObject_GetAttr(object.ptr(), name));
}
inline nb::object called(nb::handle object, PyObject* name) {
  return answer(PyObject_CallMethodObjArgs(object.ptr(), name, nullptr));
}

// The rows of one step. Ops are named once; a row costs no Python object.
class TraceBuffer {
 public:
  // Which types of torch's are counted: {dtype: (this module's number, the format's)}.
  void set_elements(const nb::dict& elements);

  // Gives the number by which add() knows the op.
  uint32_t op(const std::string& graph, const std::string& name, int64_t slot, int64_t tensor_id);

  // Counts the values of a torch tensor. False when it is not a plain block of main memory with
  // numbers of such a type: nothing was added then. Asked here and not in Python, because a step
  // asks hundreds of times.
  bool add(uint32_t op, nb::handle tensor, uint64_t step, bool with_histogram);

  // A row whose numbers are known; `stats` as tensor_stats gives them.
  void add_stats(uint32_t op, const nb::tuple& stats, int dtype, int rank, uint64_t step,
                 double wall_time);

  size_t size() const { return rows_.size(); }
  // Forgets the rows.
  void drop() { rows_.clear(); }

  // The rows as framed records; the buffer is empty afterwards.
  nb::bytes take();

 private:
  static constexpr int64_t kWorthReleasing = 1 << 18;  // values that take longer than the lock

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
  struct NamedOp {
    std::string body;  // a whole trace, its numbers zero; the last bytes are Row::numbers
    size_t health_at;  // where Row::counts and what is before them stand
    double tensor_id;
  };
  struct Known {
    nb::object dtype;
    Element element;
    int number;  // the format's
  };

  void append(const Row& row, std::string& out) const;

  std::vector<Known> known_;
  std::vector<NamedOp> ops_;
  std::vector<Row> rows_;
};

}  // namespace sonde::python
