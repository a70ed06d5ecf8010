// A lower bound for runs of phased inference. Many cuts and orders of phases are compared, and a bound is found much
// faster than a plan is made and simulated.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "planning/copy_time.hpp"
#include "planning/phased/phases.hpp"
#include "planning/request.hpp"
#include "planning/stage_bytes.hpp"
#include "stage/stage_inputs.hpp"

namespace sluice {

/// Phases follow one another, so a run takes at least the seconds of all computations. Without overlap, transfers add
/// their seconds. With overlap, a phase waits for its loads, which begin when its device has ended its previous phase,
/// or with `weights: on_demand` when the phase before it has ended. The links count as if no other transfer used them.
class PhasedBound {
 public:
  /// `rules` must be read from this request. The turns of `rules` do not matter. Throws InputError.
  PhasedBound(const PolicyRequest& request, PhaseRules rules);

  /// Returns a lower bound of the seconds of a run with these turns. If no device has room for the weights, the results
  /// and the working set of a stage, returns infinity.
  double seconds(const PhaseTurns& turns) const;

 private:
  /// The seconds of the work of a phase, on the devices on which they are fewest. Copies include their latency.
  struct PhaseSeconds {
    double compute = 0, load = 0, save = 0;
    /// The seconds between the end of the previous stage's computation of a micro-batch, on another device, and the
    /// arrival of its results.
    double hand_over = 0;
    double copies = 0;  ///< the seconds of all loads and saves if they run one after the other
  };
  /// A turn of batches: each stage has `phases` phases, of which those after the first `batches` are idle.
  struct Turn {
    std::int64_t batches = 0, phases = 0;
  };
  /// What comes before and after a turn: the seconds of the last save of the turn before it, and whether a turn follows.
  struct Between {
    double save = 0;
    bool followed = true;
  };

  bool have_room(const Platform& platform) const;
  void add_copies(const Platform& platform, const std::string& device);
  void add_hand_overs(const Platform& platform);
  double sum(const PhaseTurns& turns) const;
  double seconds(const Turn& turn, const Between& between) const;
  double wait(const Turn& turn, std::size_t target, double computed) const;

  PhaseRules rules_;
  Workload workload_;
  std::vector<StageBytes> bytes_;  ///< indexed by stage
  std::vector<StageInput> inputs_;
  std::vector<StageTensors> tensors_;  ///< indexed by stage
  std::int64_t of_phase_ = 1;          ///< the number of micro-batches of a phase
  std::vector<PhaseSeconds> stages_;
  bool fits_ = true;  ///< whether each stage has room on a device, or memory is not limited
};

/// Returns a function that returns such a bound for the parameters of a run that differ from `parameters` only in their
/// turns or placement. If weights come from a second memory, the bound is 0. In training, returns null. `request` must
/// outlive the function.
std::function<double(const Reader& parameters)> phases_at_least(const PolicyRequest& request,
                                                                const Reader& parameters);

}  // namespace sluice
