// Sums the time and energy of the computation by class of operators and by layer.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice {

/// Sums over a whole run. `joules` are the joules above idle power, as in an action.
struct OperatorSum {
  std::string name;  ///< a layer type, a layer, "update" (of weights), or "other"
  std::string type;  ///< the layer's type; for a class its name
  double seconds = 0, joules = 0;
  double measured_s = 0, measured_j = 0;  ///< the part that comes from measurements
};

struct OperatorSums {
  std::vector<OperatorSum> classes;  ///< most seconds first
  std::vector<OperatorSum> layers;   ///< in the order of the model; then all other work
  OperatorSum total;
};

/// Returns the sums for a plan of that scenario, whose actions must have their seconds. Seconds that a policy set
/// itself count as "other" if no price of a layer explains them. Throws InputError if the cost model throws an
/// InputError.
OperatorSums operator_sums(const Scenario& scenario, const CutModel& cut, const Plan& plan);

}  // namespace sluice
