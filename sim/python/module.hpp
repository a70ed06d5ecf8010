// The Python module `_sluice`, on which the package `sluice` (analysis/sluice) is built. It reads documents and makes
// plans. Simulations run in another process, the helper (protocol.hpp). So the process that imports the module never
// has a SimGrid engine. Users see only the package's own classes.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>

#include "plan/plan.hpp"
#include "platform/platform.hpp"

namespace sluice::python {

namespace py = pybind11;

/// A plan that Python holds. It never changes.
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

/// Returns a function that calls `progress` with two numbers: done and total. If `progress` raises an exception, such
/// as that of Ctrl-C, the work ends.
std::function<void(std::size_t, std::size_t)> progress_of(const py::object& progress);

}  // namespace sluice::python
