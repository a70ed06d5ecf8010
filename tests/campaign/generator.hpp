// Draws random scenarios, which are valid. They have every policy, mode, strategy for fates and cut, on machines whose
// links have latencies, set-ups and contention.
#pragma once

#include <string>

#include "campaign/draws.hpp"

namespace sluice::test {

struct Question {
  std::string text;  ///< of the scenario; its devices have unlimited memory
  /// The capacity, as a part of the peak of a run with unlimited memory; 0: unlimited.
  double share = 0;
};

Question random_question(Draws& draws);

// The parts of a scenario, as YAML.
std::string random_network(Draws& draws);
std::string random_machine(Draws& draws, int devices);

}  // namespace sluice::test
