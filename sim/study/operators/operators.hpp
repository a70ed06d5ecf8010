// Where the computation's time and energy go: by class of operators, and by layer.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice {

/// Of a whole run. Joules above those of devices at rest, as an action's.
struct OperatorSum {
  std::string name;  ///< a layer type, or a layer; "update" of weights; "other"
  std::string type;  ///< of a layer; of a class its name
  double seconds = 0, joules = 0;
  double measured_s = 0, measured_j = 0;  ///< of these: those that rest on measurements
};

struct OperatorSums {
  std::vector<OperatorSum> classes;  ///< the most seconds first
  std::vector<OperatorSum> layers;   ///< in the order of the model; then what is no layer's
  OperatorSum all;
};

/// Of a plan of that scenario, lowered. What a policy priced itself, and no layer's price explains,
/// is "other". Throws InputError as the cost model does.
OperatorSums operator_sums(const Scenario& scenario, const CutModel& cut, const Plan& plan);

}  // namespace sluice
