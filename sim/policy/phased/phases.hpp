// The rules of phased execution as a scenario gives them, and the order of phases that follows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policy/policy.hpp"

namespace sluice {

enum class Activations { on_chip, pair_link, streaming };

/// A slice of time in which one device computes one stage for one or more batches.
struct Phase {
  std::size_t stage = 0;
  std::string device;
  std::vector<std::int64_t> micro_batches;  ///< counted from the window's first
};

struct PhaseRules {
  bool overlap = true, preload = true;
  bool once_a_step = false;  ///< weights are loaded once for all batches of a step
  bool real_data = true, return_outputs = true;
  Activations activations = Activations::on_chip;
  std::vector<std::string> devices;  ///< that take turns; by stage where `by_stage`
  bool by_stage = false;
  std::int64_t in_flight = 1;  ///< batches that take turns

  bool saves_answers() const { return real_data && return_outputs; }
  bool saves_boundaries() const { return activations == Activations::streaming; }
};

/// Throws InputError at the key at fault.
PhaseRules read_phase_rules(const PolicyRequest& request, const Reader& parameters);

/// The phases of some steps, in order. Device = number mod n, counted from the first.
std::vector<Phase> phases_of(const PhaseRules& rules, const Workload& workload, std::size_t stages,
                             std::int64_t steps);

/// As many steps as bring the device of the first phase back to the first device.
std::int64_t steps_a_round(const PhaseRules& rules, const Workload& workload, std::size_t stages);

/// The parameters of policy phased.
std::vector<Field> phase_parameters();

}  // namespace sluice
