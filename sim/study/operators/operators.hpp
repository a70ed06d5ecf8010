// Sums the time and energy of the computation for each class of operators and for each layer.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.hpp"

namespace sluice {

/// The seconds and joules that all operators of a class, or one layer, take in a whole run. `joules` leaves out the
/// energy at idle power, as the joules of an action do.
struct OperatorSum {
  std::string name;  ///< name of a layer type or of a layer, "update" (of weights), or "other"
  std::string type;  ///< for a layer, the layer's type; for a class, the name of the class
  double seconds = 0, joules = 0;
  double measured_s = 0, measured_j = 0;  ///< the seconds and joules that come from measurements
};

struct OperatorSums {
  std::vector<OperatorSum> classes;  ///< the class with the most seconds comes first
  /// The layers in the order of the model. The updates of weights and all other work come last.
  std::vector<OperatorSum> layers;
  OperatorSum total;
};

/// Returns the seconds and joules of a plan of the scenario, summed by class and by layer. The actions of the plan must
/// already have seconds. The seconds of an action are divided among its layers in proportion to their prices. If an
/// action has no layers with prices, its seconds count as "other". Throws the InputErrors of the cost model.
OperatorSums operator_sums(const Scenario& scenario, const CutModel& cut, const Plan& plan);

}  // namespace sluice
