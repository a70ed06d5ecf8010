// A lower bound of the seconds of a run whose weights take turns and whose tensors are placed in two memories. The
// bound is the policy's own bound for a made-up machine. On this machine, each device has a single memory. Each kernel
// takes the least seconds that it takes in any placement, and copies from and to the device are at least as fast as the
// copies from and to each of the two memories. So no placed plan is faster than the same plan on this machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planning/equal_replicas.hpp"
#include "planning/placement/turns/placed_turns.hpp"

namespace sluice {

class PlacedPrices;

class FastestMachine {
 public:
  /// `turns.request` and `prices` must outlive the object.
  FastestMachine(const PlacedTurns& turns, const PlacedPrices& prices);
  FastestMachine(const FastestMachine&) = delete;

  /// The policy makes a plan for a shown machine, whose devices have a single memory of so many bytes each. Then the
  /// tensors of this plan are placed in two memories. Returns, for each size, a lower bound of the seconds of all such
  /// placed plans. The sizes are in order. A bound for more bytes also holds for fewer bytes. So if the bounds of two
  /// sizes are equal, the sizes between them get the same bound, which then takes no time to find.
  std::vector<double> seconds(const std::vector<std::int64_t>& sizes);

  /// Returns a lower bound of the seconds of all placed plans of training that fit into both memories of each device,
  /// with any fates. If no bound is known, returns 0.
  double seconds_with_any_fates();

 private:
  double seconds_of(std::int64_t bytes);

  std::function<double(const PolicyRequest&)> at_least_, any_fates_;
  const PolicyRequest& asked_;  ///< the request for the real machine
  std::vector<std::string> devices_;
  std::unique_ptr<const Cost> cost_;
  Platform platform_;
  std::optional<Platform> share_;  ///< of equal replicas
  std::optional<EqualReplicas> replicas_;
  PolicyRequest request_;  ///< refers to the members above
};

}  // namespace sluice
