#include "planning/placement/turns/shortage_of_both.hpp"

#include <limits>

#include "base/quantity.hpp"
#include "execute/feasibility.hpp"
#include "planning/draft.hpp"
#include "planning/placement/placed_draft.hpp"
#include "planning/placement/turns/shown_machine.hpp"

namespace sluice {

Shortage shortage_of_both(const PlacedTurns& turns) {
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
  std::string both;
  for (const std::string& name : turns.of_policy.on.names) {
    const auto& memories = turns.request.pricing.platform.device(name).memories;
    // Under these two placements, all tensors are in the second memory.
    const bool second = turns.way == all_slow_placement || turns.way == hardware_cache;
    if ((!second && !memories[0].capacity) || !memories[1].capacity) continue;
    const std::int64_t sum = checked_add(second ? 0 : *memories[0].capacity, *memories[1].capacity,
                                         "bytes of two memories");
    if (sum >= bytes) continue;
    bytes = sum;
    both = (second ? "" : memories[0].pool + " and ") + memories[1].pool;
  }
  if (both.empty()) return {};
  try {
    const ShownMachine shown(turns.request, turns.of_policy.on.names, bytes, {});
    check(finish(turns.of_policy.plan(shown.request), shown.request));
  } catch (const Infeasible& refused) {
    // The actions that wait, and how many micro-batches fit, are different on the real machine.
    const Shortage& there = refused.shortage;
    if (there.available_bytes != bytes) return {};
    return {.pool = both,
            .needed_bytes = there.needed_bytes,
            .available_bytes = bytes,
            .by_class = there.by_class};
  }
  return {};
}

}  // namespace sluice
