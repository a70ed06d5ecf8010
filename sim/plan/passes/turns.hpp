// Makes transfers that share a link run one after the other. If two loads share a link fairly, each of them may take
// twice as long as it takes alone, even if it is urgent. If the loads run one after the other, the first load takes
// only as long as it takes alone.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// A wait that an action gets so that transfers take turns.
struct TurnWait {
  std::uint32_t action = none;
  Wait wait;
  bool operator==(const TurnWait&) const = default;
};

/// Returns waits between transfers of different streams that use the same link. They are sorted by action. Within each
/// section, a transfer waits for the transfer before it on the link. `starts` gives the order: a time in seconds for
/// each action, indexed by action. Transfers with equal times are in listing order. Transfers with different `ahead` do
/// not wait for each other. `link_shared` says for each link whether several streams use it (PlanTables). Equal orders
/// of the transfers on all links have equal waits.
std::vector<TurnWait> waits_of_turns(const Plan& plan, const std::vector<char>& link_shared,
                                     const std::vector<double>& starts);

}  // namespace sluice
