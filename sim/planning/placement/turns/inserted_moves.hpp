// Adds moves between the two memories of a device to the body of a finished plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// A move that is not in the plan yet. All numbers of actions are numbers in the plan before the insertion.
struct InsertedMove {
  /// A wait for another inserted move, which is given by its index in the list of inserted moves.
  struct After {
    std::size_t move = 0;
    std::uint32_t distance = 0;
  };
  Action action;
  std::uint32_t before =
      none;  ///< the action of the body before which the move is listed, or the end of the body
  std::vector<After> after;
  std::vector<Wait>
      waited_by;  ///< the actions that wait for the move, and over how many iterations
};

/// Inserts the moves into the body of the plan. Moves before the same action keep their order in the list.
void insert_moves(Plan& plan, std::vector<InsertedMove> moves);

/// Makes the facts of the plan say how many bytes move to each memory in a round.
void say_moved_bytes(Plan& plan);

}  // namespace sluice
