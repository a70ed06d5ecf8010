// One scenario of the campaign, which is drawn, gets its memory, and is checked in a separate process.
#pragma once

#include <cstdint>
#include <string>

#include "campaign/draws.hpp"
#include "campaign/invariants.hpp"

namespace sluice::test {

struct Trial {
  Verdict verdict;
  std::string text;  ///< the scenario with its memory
  std::string died;  ///< how its process died, or empty if it answered
  Draws::Tape tape;  ///< all numbers that were drawn

  /// Returns the first complaint without its numbers, or says that the process died or that the scenario was refused
  /// (although every drawn scenario is valid). The text is empty if all claims hold.
  std::string fault() const;
};

/// Draws and checks a scenario. `which` selects the check with a changed scenario, as in verdict_of().
Trial try_seed(std::uint64_t seed, int which, bool simgrid);
Trial try_tape(const Draws::Tape& tape, int which, bool simgrid);
/// Tries a given scenario.
Trial try_text(const std::string& text, int which, bool simgrid);

/// Returns fewer and smaller draws that show the same fault, after a search of at most `seconds`.
Trial shrunk(Trial failed, int which, bool simgrid, double seconds);

}  // namespace sluice::test
