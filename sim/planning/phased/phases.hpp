// The rules that a scenario gives for phased execution, and the phases that follow from them, in
// order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "planning/draft.hpp"

namespace sluice {

/// Returns the record of a scenario's mapping `phases:`.
const Record& phases_record();

enum class Activations { on_chip, pair_link, streaming };

/// A phase: one device computes one stage for one batch or several batches.
struct Phase {
  std::size_t stage = 0;
  std::string device;
  /// The numbers of the micro-batches, counted from the first micro-batch of the window. An idle phase has none.
  std::vector<std::int64_t> micro_batches;

  bool is_idle() const { return micro_batches.empty(); }
};

struct PhaseRules {
  bool overlap = true, preload = true;
  bool once_a_step = false;  ///< whether weights are loaded once for all batches of a step
  bool real_data = true, return_outputs = true;
  Activations activations = Activations::on_chip;
  /// The devices that take turns, in order. With `by_stage`, the list has the device of each stage instead.
  std::vector<std::string> devices;
  bool by_stage = false;
  std::int64_t in_flight = 1;  ///< the number of batches in flight: they alternate phase by phase
  /// How many phases a stage has in the last turn of a step if fewer than `in_flight` batches are left for this turn.
  /// The phases without a batch are idle. So all batches of the turn are on the same devices as in a turn of more
  /// batches.
  std::int64_t last_turn = 0;

  bool saves_answers() const { return real_data && return_outputs; }
  bool saves_boundaries() const { return activations == Activations::streaming; }
  /// Returns how many batches are left for the last turn of a step; 0 if every turn has `in_flight` batches.
  std::int64_t left_of_step(const Workload& workload) const {
    return workload.batches_per_step % in_flight;
  }
  /// Returns how many phases a stage has in a turn of `batches` batches; 0 if the turn has no batches.
  std::int64_t phases_of_turn(std::int64_t batches) const {
    return batches > 0 && batches < in_flight ? std::max(batches, last_turn) : batches;
  }
  /// Returns how many devices take turns. If each stage has its own device, no devices take turns, and the result is 1.
  std::int64_t turning_devices() const {
    return by_stage ? 1 : static_cast<std::int64_t>(devices.size());
  }
};

/// Reads the rules from a scenario. Throws InputError at a key with a wrong value.
PhaseRules read_phase_rules(const PolicyRequest& request, const Reader& parameters);

/// How the phases repeat. A unit is all phases of one turn of `in_flight` batches. If the batches of a step cannot be
/// divided into such turns, a unit is all phases of a step. A round is the smallest number of units after which the
/// next phase runs on the device of the first phase again.
struct PhaseRound {
  std::int64_t unit_batches = 1;
  std::int64_t units = 1;       ///< the number of units in a round; a round is the body of the plan
  std::int64_t iterations = 1;  ///< number of rounds
  std::int64_t rest = 0;        ///< the number of units after the last round
  std::int64_t steps_per_iteration = 1, iterations_per_step = 1;
};
PhaseRound round_of(const PhaseRules& rules, const Workload& workload, std::size_t stages);
/// Returns the round for units that are a whole step each.
PhaseRound round_of_steps(const PhaseRules& rules, const Workload& workload, std::size_t stages);

/// How many batches are in flight, and how many phases a stage has in a shorter last turn (PhaseRules).
struct PhaseTurns {
  std::int64_t in_flight = 1, last_turn = 0;
};
/// Returns the turns that the judge compares in inference, if the scenario leaves a choice.
///
/// A longer step, with one more batch, usually has no better order of phases than this step. The reason: most orders
/// of the longer step are also orders of this step, with the phases of the additional batch left out or idle. The
/// longer step may have a better order in these cases:
/// - If a step has more than `longest_round` batches, only numbers in flight that divide its batches are compared. The
///   longer step may have other divisors.
/// - If the additional batch is alone in the last of several turns, this step does not have this turn, nor the idle
///   phases of this turn. So the next step may begin on another device.
/// - If the scenario says `last_turn`, this number may suit only the longer step.
std::vector<PhaseTurns> turns_to_compare(PhaseRules rules, const Workload& workload,
                                         const Reader& parameters);

/// Returns the phases of `units` units, in order. If the devices take turns, the device of phase n
/// has the index n modulo the number of devices.
std::vector<Phase> phases_of(const PhaseRules& rules, const Workload& workload, std::size_t stages,
                             std::int64_t unit_batches, std::int64_t units);

/// Returns the parameters that a scenario may give to the policy `phased`.
std::vector<Field> phase_parameters();

}  // namespace sluice
