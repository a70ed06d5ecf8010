// Lists the measurements that a model needs. Each operator is measured with each placement of its tensors. Each of
// these measurements is a row of a profile. The rows are packed into runs, and all rows of a run are measured together.
// Two operators of the same run never share a tensor. The method comes from two sources: the document 'Kernel timing by
// memory pool', and Hildebrand et al., AutoTM (ASPLOS 2020), section 4.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "profile/profile.hpp"

namespace sluice {

struct PlacementRequest {
  std::int64_t samples = 1;
  std::string dtype = "float32";
  std::vector<std::string> passes = {"forward"};
  /// The memories in which tensors may be placed. If the list is empty, placements are not distinguished, and of
  /// several equal operators only one is measured.
  std::vector<std::string> pools = {};
  /// The tensors that stay in the first pool. Each element is "weights", "input" (of the model), "output", or the name
  /// of the layer that makes the tensor.
  std::vector<std::string> fixed = {};
  /// A profile whose rows were measured or have failed. These rows are not measured again. The pointer may be null.
  const Profile* done = nullptr;
};

struct MeasurementPlan {
  Profile profile;  ///< the rows to measure, run by run; these rows have no times
  /// The number of measurements: one for each placement of each operator. If `pools` is empty, equal operators have one
  /// measurement together.
  std::size_t wanted = 0;
  /// How many of the `wanted` measurements were already made or have failed.
  std::size_t done = 0;
  /// The number of runs for the `wanted` measurements that are still to be made.
  std::size_t runs = 0;
  /// A lower bound of the number of runs. It follows from the rule that operators that share a tensor are never in the
  /// same run.
  std::size_t least_runs = 0;
  std::size_t left() const { return wanted - done; }
};

/// Returns the measurements that `request` asks for. Throws InputError at a name in `fixed` that no tensor has. Also
/// throws InputError if there are more than a million placements.
MeasurementPlan plan_measurements(const Model& model, const PlacementRequest& request);

}  // namespace sluice
