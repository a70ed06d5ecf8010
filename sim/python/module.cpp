#include "python/module.hpp"

#include <pybind11/stl.h>

#include "base/error.hpp"
#include "base/processes.hpp"
#include "base/version.hpp"
#include "document/bundled.hpp"
#include "document/load.hpp"
#include "run/plan_json.hpp"
#include "study/zoo/entries.hpp"

namespace sluice::python {
namespace {

/// Calls the Python function sluice.errors.of(exit_code, text), and raises the exception that this function returns. If
/// the question is infeasible, `text` is JSON with the details.
void throw_in_python(int exit_code, const char* text) {
  const py::object error = py::module_::import("sluice.errors").attr("of")(exit_code, text);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

}  // namespace

void bind_errors(py::module_& module) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Infeasible& infeasible) {
      throw_in_python(infeasible.exit_code(), to_json(json_shortage(infeasible), 0).c_str());
    } catch (const Error& error) {
      throw_in_python(error.exit_code(), error.what());
    }
  });
  module.def("version", [] { return std::string(program_version()); });
  module.def("git_sha", [] { return std::string(git_sha()); });
  module.def("data_root", &data_root);
  module.def("kind_colours", [] {
    py::dict colours;
    for (const KindRecord& record : action_kinds())
      colours[py::str(std::string(record.name))] = std::string(record.colour);
    return colours;
  });
  module.def("set_data_root", &set_data_root);
  module.def("set_child_program", &set_child_program);
  module.def("find_document", &find_document);
  module.def("listing",
             [](const std::string& kind) { return to_json(entries_json(entries_of_kind(kind))); });
}

}  // namespace sluice::python

PYBIND11_MODULE(_sluice, module) {
  module.doc() =
      "The C++ part of the package sluice. Use the classes of the package instead of this module.";
  sluice::python::bind_errors(module);
  sluice::python::bind_platform(module);
  sluice::python::bind_model(module);
  sluice::python::bind_fits(module);
  sluice::python::bind_plan(module);
  sluice::python::bind_builder(module);
  sluice::python::bind_documents(module);
  sluice::python::bind_policy(module);
  sluice::python::bind_helper(module);
  sluice::python::bind_sweep(module);
  sluice::python::bind_search(module);
  sluice::python::bind_placement(module);
}
