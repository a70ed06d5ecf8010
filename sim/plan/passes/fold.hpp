// Folds a plan: of equal rounds in its body, one becomes the body of a shorter plan. This is the reverse of unroll.hpp.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/plan.hpp"

namespace sluice {

/// Equal rounds in the body of a plan. Each round has `size` actions.
struct EqualRounds {
  std::uint32_t begin = 0, size = 0;  ///< the first round begins with the action `begin`
  std::int64_t count = 0;             ///< how many equal rounds the plan lists, one after the other
};

/// Returns the plan without those actions of the body that never run, and without waits for executions before the first
/// iteration.
Plan without_dropped(Plan plan);

/// Returns the index of the action after the first `count` computations of the body and the saves that follow them.
std::uint32_t after_computations(const Plan& plan, std::int64_t count);

/// The body of `listed` runs once, without dropped actions, and lists equal rounds. Returns the plan of a run that has
/// `times` of these rounds: its body is the first of them. All actions before it are in the prologue, and all actions
/// after the equal rounds are in the epilogue. So an action of the body may use an instance of an iteration before
/// (Access::distance). Returns nothing if the rounds are not equal, or if an action waits for an action of more than
/// one round before.
std::optional<Plan> fold(Plan listed, const EqualRounds& rounds, std::int64_t times);

}  // namespace sluice
