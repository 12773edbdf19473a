// sonde.Writer and the scalar call of SummaryWriter. The latter is the hot one: plain numbers go
// straight to the record, everything else takes the slow road through Python's make_np rules.
#include "sonde/writer.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cfloat>
#include <cmath>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "arrays.h"
#include "log/write/folder.h"

namespace sonde::python {
namespace {

// Writers still open when the interpreter ends: their last second must not be lost with it.
struct Open {
  std::mutex mutex;  // guards: writers
  std::set<Writer*> writers;
  static Open& all() {
    static Open* open = new Open;
    return *open;
  }
};

// The GIL given up, and remembered as such: a scalar call keeps it, since it is shorter than the
// release, and must give it up only in the rare case that it has to wait for the disk.
struct Unlocked {
  nb::gil_scoped_release released;
  static inline thread_local bool now = false;
  Unlocked() { now = true; }
  ~Unlocked() { now = false; }
  Unlocked(const Unlocked&) = delete;
};

class PyWriter {
 public:
  PyWriter(const std::string& folder, WriterOptions options) : writer(folder, std::move(options)) {
    std::lock_guard lock(Open::all().mutex);
    Open::all().writers.insert(&writer);
  }
  ~PyWriter() {
    {
      std::lock_guard lock(Open::all().mutex);
      Open::all().writers.erase(&writer);
    }
    const Unlocked unlocked;  // the last flush waits for the disk
    writer.close();
  }
  PyWriter(const PyWriter&) = delete;

  Writer writer;
};

void close_all() {
  std::lock_guard lock(Open::all().mutex);
  for (Writer* writer : Open::all().writers) writer->close();
}

// simple_value as torch writes it: rounded to float32. What would become infinite keeps its value.
bool rounded_scalar(Writer& writer, std::string_view tag, int64_t step, double value,
                    Writer::Time time) {
  if (std::abs(value) <= FLT_MAX) value = static_cast<double>(static_cast<float>(value));
  return writer.scalar_at(tag, step, value, time);
}

struct Plain {
  std::string_view tag;
  double value;
  int64_t step = 0;
  Writer::Time time;
};

// The arguments of add_scalar when they are a str, a number and an int: nothing to interpret.
bool plain_arguments(nb::handle tag, nb::handle value, nb::handle step, nb::handle time,
                     Plain& out) {
  Py_ssize_t length = 0;
  if (!PyUnicode_CheckExact(tag.ptr())) return false;
  const char* text = PyUnicode_AsUTF8AndSize(tag.ptr(), &length);
  if (text == nullptr) {
    PyErr_Clear();
    return false;
  }
  out.tag = {text, static_cast<size_t>(length)};
  if (PyFloat_Check(value.ptr())) {
    out.value = PyFloat_AsDouble(value.ptr());
  } else if (PyLong_Check(value.ptr())) {
    out.value = PyLong_AsDouble(value.ptr());
    if (out.value == -1.0 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
  } else {
    return false;
  }
  if (!step.is_none()) {
    if (!PyLong_CheckExact(step.ptr())) return false;
    out.step = PyLong_AsLongLong(step.ptr());
    if (out.step == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
  }
  if (!time.is_none()) {
    if (!PyFloat_CheckExact(time.ptr())) return false;
    out.time = PyFloat_AsDouble(time.ptr());
  }
  return true;
}

// Base class of SummaryWriter: holds the writer of its directory and the quick add_scalar.
class ScalarLog {
 public:
  explicit ScalarLog(nb::object writer) : owner(std::move(writer)) {
    if (!nb::try_cast(owner, target)) target = nullptr;
  }
  nb::object owner;
  PyWriter* target = nullptr;  // null: owner is a stand-in that writes nowhere
};

nb::object add_scalar(nb::handle self, nb::handle tag, nb::handle value, nb::handle step,
                      nb::handle time, bool new_style, bool double_precision) {
  Plain plain;
  const ScalarLog& log = *nb::inst_ptr<ScalarLog>(self);
  if (log.target != nullptr && !new_style && plain_arguments(tag, value, step, time, plain)) {
    rounded_scalar(log.target->writer, plain.tag, plain.step, plain.value, plain.time);
    return nb::none();
  }
  return self.attr("_add_scalar")(tag, value, step, time, new_style, double_precision);
}

WriterOptions options(double flush_interval_s, size_t max_buffer_bytes, bool drop_when_full,
                      const std::string& filename_suffix, std::optional<int64_t> purge_step,
                      const std::string& source, bool create_now, bool whole_second_header) {
  WriterOptions out;
  out.flush_interval_s = flush_interval_s;
  out.max_buffer_bytes = max_buffer_bytes;
  out.when_full = drop_when_full ? WriterOptions::WhenFull::kDrop : WriterOptions::WhenFull::kWait;
  out.filename_suffix = filename_suffix;
  out.purge_step = purge_step;
  out.source = source;
  out.create_now = create_now;
  out.whole_second_header = whole_second_header;
  out.wait_with = [](const std::function<void()>& wait) {
    if (Unlocked::now) return wait();
    const Unlocked unlocked;
    wait();
  };
  return out;
}

}  // namespace

void bind_writer(nb::module_& m) {
  nb::class_<PyWriter>(m, "Writer", nb::is_weak_referenceable(),
                       "Logs one run into a directory. Calls hand over to a thread and return.")
      .def(
          "__init__",
          [](PyWriter* self, const std::string& folder, double flush_interval_s,
             size_t max_buffer_bytes, bool drop_when_full, const std::string& filename_suffix,
             std::optional<int64_t> purge_step, const std::string& source, bool create_now,
             bool whole_second_header) {
            WriterOptions made =
                options(flush_interval_s, max_buffer_bytes, drop_when_full, filename_suffix,
                        purge_step, source, create_now, whole_second_header);
            const auto good = writer::check_folder(folder);
            if (!good) throw nb::value_error(good.error().text.c_str());
            const Unlocked unlocked;
            new (self) PyWriter(folder, std::move(made));
          },
          nb::arg("folder"), nb::kw_only(), nb::arg("flush_interval_s") = 1.0,
          nb::arg("max_buffer_bytes") = size_t{64} << 20, nb::arg("drop_when_full") = false,
          nb::arg("filename_suffix") = "", nb::arg("purge_step") = nb::none(),
          nb::arg("source") = "sonde", nb::arg("create_now") = true,
          nb::arg("whole_second_header") = false)
      .def(
          "scalar",
          [](PyWriter& w, std::string_view tag, double value, int64_t step,
             std::optional<double> wall_time) {
            return w.writer.scalar_at(tag, step, value, wall_time);
          },
          nb::arg("tag"), nb::arg("value"), nb::arg("step"), nb::arg("wall_time") = nb::none(),
          "Log one number with all 64 bits. Cheap enough for every step.")
      .def(
          "rounded_scalar",
          [](PyWriter& w, std::string_view tag, double value, int64_t step,
             std::optional<double> wall_time) {
            return rounded_scalar(w.writer, tag, step, value, wall_time);
          },
          nb::arg("tag"), nb::arg("value"), nb::arg("step"), nb::arg("wall_time") = nb::none(),
          "Log one number as the float32 that torch writes.")
      .def(
          "scalars",
          [](PyWriter& w, nb::dict values, int64_t step, std::optional<double> wall_time) {
            std::vector<std::pair<std::string_view, double>> pairs;
            pairs.reserve(values.size());
            for (auto [tag, value] : values) {
              auto& [name, number] = pairs.emplace_back();
              if (!nb::try_cast(tag, name) || !nb::try_cast(value, number))
                throw nb::type_error("scalars takes a dict of tags to numbers");
            }
            return w.writer.scalars(step, pairs, wall_time);
          },
          nb::arg("values"), nb::arg("step"), nb::arg("wall_time") = nb::none(),
          "Log the numbers of one step, {tag: value}, as one record; cheaper than one by one.")
      .def(
          "add",
          [](PyWriter& w, nb::bytes summary, int64_t step, std::optional<double> wall_time) {
            const Summary made{std::string(text(summary)), {}};
            const Unlocked unlocked;
            return w.writer.add(made, step, wall_time);
          },
          nb::arg("summary"), nb::arg("step"), nb::arg("wall_time") = nb::none(),
          "Log a serialized Summary message.")
      .def(
          "add_event",
          [](PyWriter& w, nb::bytes event) {
            const std::string_view payload = text(event);
            const Unlocked unlocked;
            return w.writer.add_event(payload);
          },
          nb::arg("event"), "Log a serialized Event message.")
      .def(
          "flush",
          [](PyWriter& w, bool sync) {
            const Unlocked unlocked;
            return w.writer.flush(sync);
          },
          nb::arg("sync") = false,
          "Return when everything logged so far is written (with sync: on the device).")
      .def(
          "close",
          [](PyWriter& w) {
            const Unlocked unlocked;
            w.writer.close();
          },
          "Write what is left and close the file. A later call opens a new one.")
      .def_prop_ro("folder", [](const PyWriter& w) { return w.writer.folder(); })
      .def_prop_ro("path", [](const PyWriter& w) { return w.writer.path(); })
      .def_prop_ro(
          "problem", [](const PyWriter& w) { return w.writer.problem(); },
          "What is wrong with the log, or an empty text. Logging never raises because of the disk.")
      .def_prop_ro("dropped", [](const PyWriter& w) { return w.writer.dropped(); })
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__", [](PyWriter& w, nb::args) {
        const Unlocked unlocked;
        w.writer.close();
      });

  nb::class_<ScalarLog>(m, "ScalarLog", "Base of SummaryWriter: the quick add_scalar.")
      .def(nb::init<nb::object>(), nb::arg("writer"))
      .def_ro("_writer", &ScalarLog::owner)
      .def("add_scalar", &add_scalar, nb::arg("tag"), nb::arg("scalar_value"),
           nb::arg("global_step") = nb::none(), nb::arg("walltime") = nb::none(),
           nb::arg("new_style") = false, nb::arg("double_precision") = false, "Log one number.");

  m.def("close_all", [] {
    const Unlocked unlocked;
    close_all();
  });
}

}  // namespace sonde::python
