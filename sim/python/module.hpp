// The Python module `_sluice`, which the package `sluice` (analysis/sluice) wraps. The module reads documents and makes
// plans. Simulations run in a separate process, the helper (protocol.hpp). So the process that imports the module never
// contains a SimGrid engine. Users work only with the classes of the package.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <optional>

#include "plan/plan.hpp"
#include "platform/platform.hpp"
#include "stage/stage.hpp"

namespace sluice::python {

namespace py = pybind11;

/// A plan that Python holds. The plan never changes.
struct PlanHandle {
  std::shared_ptr<const Plan> plan;
  bool lowered = true;  ///< whether all computations have seconds
  /// If a scenario leaves the cut open, and the plan was made for this scenario: the cut of the plan.
  std::optional<Chosen<Cut>> cut = {};
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

/// Returns a function that calls the Python function `progress` with two numbers: how many parts of the work are
/// finished, and how many parts the work has. If `progress` raises an exception, such as KeyboardInterrupt, the work
/// ends.
std::function<void(std::size_t, std::size_t)> progress_of(const py::object& progress);

}  // namespace sluice::python
