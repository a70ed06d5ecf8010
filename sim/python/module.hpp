// The Python module `_sluice`: what the package `sluice` (analysis/sluice) is built on. It reads
// documents and makes plans; simulations run in the helper (protocol.hpp), so that the process that
// imports it never has an engine. The package's own classes give all this a face.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>

#include "plan/plan.hpp"
#include "platform/platform.hpp"

namespace sluice::python {

namespace py = pybind11;

/// Python holds plans that nobody changes.
struct PlanHandle {
  std::shared_ptr<const Plan> plan;
  bool lowered = true;  ///< false: a builder finished it, and some computations have no seconds yet
};

using FreeGil = py::call_guard<py::gil_scoped_release>;

void bind_errors(py::module_& module);
void bind_documents(py::module_& module);
void bind_platform(py::module_& module);
void bind_model(py::module_& module);
void bind_fits(py::module_& module);
void bind_plan(py::module_& module);
void bind_builder(py::module_& module);
void bind_policy(py::module_& module);
void bind_helper(py::module_& module);
void bind_sweep(py::module_& module);
void bind_search(py::module_& module);
void bind_placement(py::module_& module);

/// Calls `told` with done and total; what it raises, Ctrl-C among it, ends what is under way.
std::function<void(std::size_t, std::size_t)> progress_of(const py::object& told);

}  // namespace sluice::python
