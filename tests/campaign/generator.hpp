// Random scenarios that are valid: every policy, mode, strategy for fates and cut, on machines
// whose links have latencies, set-ups and contention.
#pragma once

#include <string>

#include "campaign/draws.hpp"

namespace sluice::test {

struct Question {
  std::string text;  ///< of the scenario; its devices have unlimited memory
  /// Of the memory that it takes then, what it is to have; 0: all that it wants.
  double share = 0;
};

Question random_question(Draws& draws);

// Its parts, as YAML.
std::string random_network(Draws& draws);
std::string random_machine(Draws& draws, int devices);

}  // namespace sluice::test
