// The rules that a scenario gives for phased execution, and the phases that follow from them, in
// order.
#pragma once

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
  /// The numbers of the micro-batches, counted from the first micro-batch of the window.
  std::vector<std::int64_t> micro_batches;
};

struct PhaseRules {
  bool overlap = true, preload = true;
  bool once_a_step = false;  ///< whether weights are loaded once for all batches of a step
  bool real_data = true, return_outputs = true;
  Activations activations = Activations::on_chip;
  /// The devices that take turns, in order. With `by_stage`, the list has the device of each stage instead.
  std::vector<std::string> devices;
  bool by_stage = false;
  std::int64_t in_flight = 1;  ///< the number of batches that take turns

  bool saves_answers() const { return real_data && return_outputs; }
  bool saves_boundaries() const { return activations == Activations::streaming; }
};

/// Reads the rules from a scenario. Throws InputError at a key with a wrong value.
PhaseRules read_phase_rules(const PolicyRequest& request, const Reader& parameters);

/// How the phases repeat. A unit is all phases of the `in_flight` batches that take turns. If the batches of a step
/// cannot be divided into such units, a unit is all phases of a step. A round is the smallest number of units after
/// which the next phase runs on the device of the first phase again.
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

/// Returns whether a unit would be a whole step with more than `longest_round` batches. Candidates with such long
/// rounds are not tried.
bool is_long(const PhaseRules& rules, const Workload& workload);

/// Returns the phases of `units` units, in order. If the devices take turns, the device of phase n
/// has the index n modulo the number of devices.
std::vector<Phase> phases_of(const PhaseRules& rules, const Workload& workload, std::size_t stages,
                             std::int64_t unit_batches, std::int64_t units);

/// Returns the parameters that a scenario may give to the policy `phased`.
std::vector<Field> phase_parameters();

}  // namespace sluice
