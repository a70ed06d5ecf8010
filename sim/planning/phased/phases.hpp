// The rules that a scenario gives for phased execution, and the order of phases that follows from
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/draft.hpp"

namespace sluice {

/// The scenario's `phases:` mapping.
const Record& phases_record();

enum class Activations { on_chip, pair_link, streaming };

/// A slice of time in which one device computes one stage for one or more batches.
struct Phase {
  std::size_t stage = 0;
  std::string device;
  std::vector<std::int64_t> micro_batches;  ///< counted from the first micro-batch of the window
};

struct PhaseRules {
  bool overlap = true, preload = true;
  bool once_a_step = false;  ///< weights are loaded once for all batches of a step
  bool real_data = true, return_outputs = true;
  Activations activations = Activations::on_chip;
  std::vector<std::string> devices;  ///< the devices that take turns; with `by_stage`: per stage
  bool by_stage = false;
  std::int64_t in_flight = 1;  ///< batches that take turns

  bool saves_answers() const { return real_data && return_outputs; }
  bool saves_boundaries() const { return activations == Activations::streaming; }
};

/// Throws InputError at the faulty key.
PhaseRules read_phase_rules(const PolicyRequest& request, const Reader& parameters);

/// The number of phases after which they repeat. A unit is all phases of the batches that take turns. If the batches of
/// a step cannot be divided into whole turns, a unit is all phases of a step. A round is the smallest number of units
/// after which the first phase is on the first device again.
struct PhaseRound {
  std::int64_t unit_batches = 1;
  std::int64_t units = 1;       ///< per round, which is the body
  std::int64_t iterations = 1;  ///< number of rounds
  std::int64_t rest = 0;        ///< units after the last round
  std::int64_t steps_per_iteration = 1, iterations_per_step = 1;
};
PhaseRound round_of(const PhaseRules& rules, const Workload& workload, std::size_t stages);
/// The same if a unit is a whole step.
PhaseRound round_of_steps(const PhaseRules& rules, const Workload& workload, std::size_t stages);

/// Whether the phases do not repeat within a step, and the step is too long to be tried.
bool is_long(const PhaseRules& rules, const Workload& workload);

/// The phases of some units, in order. The device of a phase is its number, counted from the first phase, modulo the
/// number of devices.
std::vector<Phase> phases_of(const PhaseRules& rules, const Workload& workload, std::size_t stages,
                             std::int64_t unit_batches, std::int64_t units);

/// The parameters of policy phased.
std::vector<Field> phase_parameters();

}  // namespace sluice
