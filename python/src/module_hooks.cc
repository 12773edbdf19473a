#include "module_hooks.h"

#include <memory>

#include "trace_buffer.h"

namespace sonde::python {
namespace {

// What torch gives, asked for once.
struct Torch {
  nb::object tensor_type, is_grad_enabled, ordered_dict;
};

// Of one module: where its output and its gradient are counted, once that is known.
struct Place {
  int64_t row = -1, grad_row = -1;
  int key = 0;  // of the gradient's hook in the tensor's dictionary; torch counts its own from 0 on
  nb::object grad_name;
};

class ModuleHooks {
 public:
  ModuleHooks(nb::object buffer, nb::object tensor_type, nb::object is_grad_enabled,
              nb::object ordered_dict, bool with_histogram)
      : buffer_object_(std::move(buffer)),
        buffer_(&nb::cast<TraceBuffer&>(buffer_object_)),
        torch_{std::move(tensor_type), std::move(is_grad_enabled), std::move(ordered_dict)},
        with_histogram_(with_histogram) {}

  bool is_on = false;
  uint64_t step = 0;
  nb::object last_grad = nb::str("");  // whose gradient came last: the next one is made of it

  // A module's output. False when it is to be looked at in Python: the first time, and all that is
  // no plain tensor in main memory.
  bool output(Place& place, nb::handle out, nb::handle grad_hook) {
    if (!is_on) return true;
    if (place.row < 0 || !is_plain(out)) return false;
    const nb::object grads = answer(PyObject_CallObject(torch_.is_grad_enabled.ptr(), nullptr));
    if (grads.ptr() != Py_True) return true;
    if (!buffer_->add(static_cast<uint32_t>(place.row), out, step, with_histogram_)) return false;
    return hook_gradient(place, out, grad_hook) || registered(out, grad_hook);
  }

  // As register_hook, without the handle that would take it away: most of what that costs. False
  // when torch does not have these parts.
  bool hook_gradient(Place& place, nb::handle out, nb::handle grad_hook) const {
    static PyObject* const requires_grad = interned("requires_grad");
    static PyObject* const grad_fn = interned("grad_fn");
    static PyObject* const hooks_name = interned("_backward_hooks");
    static PyObject* const register_name = interned("_register_hook_dict");
    if (asked(out, requires_grad).ptr() != Py_True) return true;
    const nb::object hooks = asked(out, hooks_name);
    if (!hooks) return false;
    const nb::object key = nb::int_(place.key);
    if (!hooks.is_none())
      return PyObject_SetItem(hooks.ptr(), key.ptr(), grad_hook.ptr()) == 0 || cleared();
    const nb::object made_by = asked(out, grad_fn);
    if (!made_by || made_by.is_none()) return false;
    const nb::object dict = answer(PyObject_CallObject(torch_.ordered_dict.ptr(), nullptr));
    if (!dict || PyObject_SetItem(dict.ptr(), key.ptr(), grad_hook.ptr()) != 0 ||
        PyObject_SetAttr(out.ptr(), hooks_name, dict.ptr()) != 0)
      return cleared();
    return answer(PyObject_CallMethodObjArgs(made_by.ptr(), register_name, out.ptr(), nullptr))
        .is_valid();
  }

  bool gradient(Place& place, nb::handle grad) {
    if (!is_on) return true;
    if (place.grad_row < 0 || !is_plain(grad)) return false;
    if (!buffer_->add(static_cast<uint32_t>(place.grad_row), grad, step, with_histogram_))
      return false;
    last_grad = place.grad_name;
    return true;
  }

 private:
  // The slow, public way.
  static bool registered(nb::handle out, nb::handle grad_hook) {
    static PyObject* const name = interned("register_hook");
    answer(PyObject_CallMethodObjArgs(out.ptr(), name, grad_hook.ptr(), nullptr));
    return true;
  }
  static bool cleared() {
    PyErr_Clear();
    return false;
  }
  bool is_plain(nb::handle tensor) const {
    return reinterpret_cast<PyObject*>(Py_TYPE(tensor.ptr())) == torch_.tensor_type.ptr();
  }

  nb::object buffer_object_;
  TraceBuffer* buffer_;
  Torch torch_;
  bool with_histogram_;
};

}  // namespace

void bind_module_hooks(nb::module_& m) {
  nb::class_<Place>(m, "ModulePlace")
      .def(nb::init<>())
      .def_rw("row", &Place::row)
      .def_rw("grad_row", &Place::grad_row)
      .def_rw("key", &Place::key)
      .def_rw("grad_name", &Place::grad_name);
  nb::class_<ModuleHooks>(m, "ModuleHooks")
      .def(nb::init<nb::object, nb::object, nb::object, nb::object, bool>())
      .def_rw("is_on", &ModuleHooks::is_on)
      .def_rw("step", &ModuleHooks::step)
      .def_rw("last_grad", &ModuleHooks::last_grad)
      .def("output", &ModuleHooks::output)
      .def("hook_gradient", &ModuleHooks::hook_gradient)
      .def("gradient", &ModuleHooks::gradient);
}

}  // namespace sonde::python
