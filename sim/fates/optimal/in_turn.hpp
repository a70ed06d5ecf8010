// Finds the fastest tape of a chain within a budget, and a bound, if copies and computation take turns. A frontier of
// the chain gives the answer. If the chain branches, a frontier of its view (joint.hpp) gives a first tape. The
// search of branches_in_turn.hpp improves this tape.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "fates/optimal/frontier.hpp"
#include "fates/strategy.hpp"

namespace sluice {

/// The tape that needs the least bytes. If no tape fits, the message names this number of bytes.
struct SmallestTape {
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
  Tape tape = {};
};

/// The answer is exact under four conditions. No segment of the frontier lost points. Host memory is unlimited. The
/// chain does not branch. Weights stay. If weights take turns, several passes of a stage may share one load. The
/// frontier counts one load per pass.
class InTurnSearch {
 public:
  explicit InTurnSearch(const FateRequest& request);

  /// Returns the fastest tape within the budget. The tape is empty if no tape fits.
  Tape within(std::int64_t budget);

  /// Returns the tape that needs the least bytes. If host memory is limited, the tape makes no copies in host memory.
  SmallestTape least() const;

  /// Returns the seconds of the fastest tape within the budget, or infinity if no tape fits.
  double seconds(std::int64_t budget);

  double bound(std::int64_t budget);

 private:
  using Use = std::function<void(const Tape&)>;
  bool keeps_all(std::int64_t budget) const;
  SmallestTape smallest(bool copies) const;
  Tape tape_of(const Frontier& frontier, std::size_t point) const;
  void consider_frontiers(std::int64_t budget, const Use& use);
  void consider_all_points(const Frontier& frontier, std::int64_t budget, const Use& use) const;
  const std::vector<Frontier>& frontiers();

  const Chain& chain_;
  Chain joint_;  ///< the view of the chain without branches (joint.hpp)
  bool exact_;
  std::vector<Tape> alike_;  ///< the first tape keeps all tensors
  std::vector<Frontier> frontiers_;
};

}  // namespace sluice
