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

/// The body of `listed` runs once, and lists equal rounds. Returns the plan whose body is the first of these rounds,
/// and runs `times` times. All actions before it are in the prologue. All later rounds are iterations of the body: an
/// action that works for a round after the last one is dropped. Returns nothing if the rounds are not equal, or if an
/// action waits for an action of more than one round before.
std::optional<Plan> fold(const Plan& listed, const EqualRounds& rounds, std::int64_t times);

}  // namespace sluice
