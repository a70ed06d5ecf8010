// Draws random valid scenarios. All policies, modes, strategies for fates, cuts and cost models occur in them. Their
// machines may have groups, switches and several memories. The links may have latencies, set-ups and contention.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "campaign/draws.hpp"

namespace sluice::test {

struct Question {
  std::string text;  ///< the scenario, whose devices and host have unlimited memory
  /// The capacity of each device, as a share of the highest peak that a device has in unlimited memory. 0: unlimited.
  double share = 0;
  double host_share = 0;      ///< the capacity of host memory, as a share of its own peak; 0: unlimited
  std::int64_t reserved = 0;  ///< bytes of a limited memory that tensors cannot use
};

Question random_question(Draws& draws);

/// A machine with random links and memories. Its memories have unlimited capacities, except for the second memories of
/// devices.
struct DrawnMachine {
  std::string text;                  ///< the mapping `platform`
  std::vector<std::string> devices;  ///< the names of the devices
  bool has_bandwidth = false;        ///< whether `roofline` can price the devices
  bool is_fitted = false;            ///< whether `fitted` can price the devices
  bool has_own_second = false;       ///< whether a device has two memories of its own
  bool has_second = false;           ///< whether a device reaches two memories without a link
};
DrawnMachine random_machine(Draws& draws, int devices);

/// Returns the layers of a network, as YAML. If `is_measured` is true, each layer has measured seconds of its passes.
std::string random_network(Draws& draws, bool is_measured = false);

}  // namespace sluice::test
