// The binding of placement curves (study/placement) for the Python module. The file placement.py of the package wraps
// this binding.
#include <pybind11/stl.h>

#include "base/error.hpp"
#include "document/load.hpp"
#include "placement/listing.hpp"
#include "python/module.hpp"
#include "python/scenario_handle.hpp"
#include "study/placement/answer.hpp"

namespace sluice::python {
namespace {

PlacementCurve ask(const ScenarioHandle& scenario, const std::string& device,
                   const std::string& fast, const std::vector<std::string>& ways,
                   const std::string& in_place, int nodes, const py::object& progress) {
  CurveRequest request{.device = device, .fast = fast, .ways = ways};
  request.nodes = nodes;
  if (!in_place.empty()) request.in_place = in_place_rates(in_place);
  request.progress = progress_of(progress);
  const py::gil_scoped_release free_gil;
  return placement_curve(*scenario.scenario, request);
}

PlanHandle plan(const PlacementCurve& curve, std::size_t place) {
  const PlacementResult& result = curve.results.at(place);
  if (!result.schedule)
    throw UsageError("'" + result.way + "' has no plan at this size of fast memory" +
                     (result.refused.empty() ? "" : ": " + result.refused));
  return {std::make_shared<const Plan>(plan_of(curve.question, *result.schedule, result.capacity))};
}

}  // namespace

void bind_placement(py::module_& module) {
  module.def("placement_columns", &placement_columns);
  module.def("fast_sizes", &fast_sizes);
  py::class_<PlacementCurve>(module, "PlacementCurve")
      .def(py::init(&ask))
      .def("json", [](const PlacementCurve& self) { return to_json(placement_document(self, 0)); })
      .def("worths",
           [](const PlacementCurve& self, std::size_t place) {
             return to_json(worth_rows(self, self.results.at(place), self.question.tensor_count()));
           })
      .def("plan", &plan);
}

}  // namespace sluice::python
