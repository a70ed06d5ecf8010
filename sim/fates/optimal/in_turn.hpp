// For devices on which copies and computation take turns: finds the fastest tape of a chain within a budget, and a
// lower bound on its seconds. A frontier of the chain (frontier.hpp) gives the answer. If the chain branches, or if
// its stages are on several devices, a frontier of a view gives only a first tape. This view has no branches
// (joint.hpp), and a single memory. Then the search of branches_in_turn.hpp improves this tape. It also does so if
// weights take turns, because a frontier only knows roughly how often they are loaded.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "fates/optimal/frontier.hpp"
#include "fates/strategy.hpp"

namespace sluice {

/// The tape that needs the fewest bytes, and this number of bytes. If no tape fits, the error message names this
/// number.
struct SmallestTape {
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
  Tape tape = {};
};

/// The found tape is often the fastest tape, but this is not certain. The frontier leaves out some schedules
/// (frontier.hpp), and long segments split at some boundaries only. So the bound does not come from the frontier.
class InTurnSearch {
 public:
  explicit InTurnSearch(const FateRequest& request);

  /// Returns the fastest tape that was found within the budget. If no tape fits, returns an empty tape.
  Tape within(std::int64_t budget);

  /// Returns the tape that needs the fewest bytes of the device. Its copies may need more host memory than there is.
  const SmallestTape& least();

  /// Returns the seconds of the tape that within() returns. If no tape fits, returns infinity.
  double seconds(std::int64_t budget);

  /// Returns a lower bound on the seconds of every tape within the budget.
  double bound(std::int64_t budget) const;

 private:
  using Use = std::function<void(const Tape&)>;
  bool is_view() const;
  bool takes_turns() const;
  bool keeps_all(std::int64_t budget) const;
  SmallestTape find_smallest() const;
  Tape tape_of(const Frontier& frontier, std::size_t point) const;
  void consider_frontiers(std::int64_t budget, const Use& use);
  void consider_all_points(const Frontier& frontier, std::int64_t budget, const Use& use) const;
  const std::vector<Frontier>& frontiers();

  const Chain& chain_;
  Chain joint_;              ///< the view of the chain without branches (joint.hpp)
  std::vector<Tape> alike_;  ///< the first tape keeps all tensors
  /// Whether the search uses frontiers. They take longer than the rest of it. With several devices, they count all
  /// memories as one, so the other tapes are hardly worse. If the caller compares several searches, they are then left
  /// out.
  bool has_frontiers_;
  std::vector<Frontier> frontiers_;
  std::optional<SmallestTape>
      least_;  ///< the result of find_smallest(), which takes long for a long chain
};

}  // namespace sluice
