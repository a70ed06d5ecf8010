// Shows where the computation's time and energy go: by class of operators, and by layer.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice {

/// Sums over a whole run. Joules are above those of devices at rest, as in an action.
struct OperatorSum {
  std::string name;  ///< a layer type, a layer, "update" (of weights), or "other"
  std::string type;  ///< of a layer; for a class its name
  double seconds = 0, joules = 0;
  double measured_s = 0, measured_j = 0;  ///< the part of these that rests on measurements
};

struct OperatorSums {
  std::vector<OperatorSum> classes;  ///< most seconds first
  std::vector<OperatorSum> layers;   ///< in the order of the model; then what belongs to no layer
  OperatorSum all;
};

/// The sums for a lowered plan of that scenario. Seconds that a policy set itself, and that no
/// layer's price explains, are "other". Throws InputError as the cost model does.
OperatorSums operator_sums(const Scenario& scenario, const CutModel& cut, const Plan& plan);

}  // namespace sluice
