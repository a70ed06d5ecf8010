// Draws one scenario of the campaign, limits its memory, and checks the scenario in a separate process.
#pragma once

#include <cstdint>
#include <string>

#include "campaign/draws.hpp"
#include "campaign/invariants.hpp"

namespace sluice::test {

struct Trial {
  Verdict verdict;
  std::string text;  ///< the scenario with its limited memory, as YAML
  std::string died;  ///< how the process of the checks died; empty if the process answered
  Draws::Tape tape;  ///< all numbers that were drawn

  /// Returns the fault as a text: how the process died, or that the scenario was refused, or the first complaint
  /// without its numbers. A refusal is a fault, because every drawn scenario is valid. If all claims hold, returns "".
  std::string fault() const;
};

/// Draws and checks a scenario. `which` selects one of the checks that change the scenario, as in verdict_of().
Trial try_seed(std::uint64_t seed, int which, bool simgrid);
Trial try_tape(const Draws::Tape& tape, int which, bool simgrid);
/// Checks a given scenario in the same way as try_seed() checks a drawn scenario.
Trial try_text(const std::string& text, int which, bool simgrid);

/// Searches for fewer and smaller draws that show the same fault as `failed`. Returns the best trial that it finds
/// within `seconds`.
Trial shrunk(Trial failed, int which, bool simgrid, double seconds);

}  // namespace sluice::test
