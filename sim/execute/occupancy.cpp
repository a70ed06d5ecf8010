#include "execute/occupancy.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

Occupancy::Occupancy(const PlanTables& tables, bool every_flow) : first_{0} {
  own_.reserve(tables.plan.actions.size());
  first_.reserve(tables.plan.actions.size() + 1);
  for (std::uint32_t a = 0; a < tables.plan.actions.size(); ++a) {
    // For an action without flows, the arithmetic part is the whole time of the action.
    if (!tables.has_flows(a)) {
      const double seconds = tables.seconds_alone(a);
      own_.push_back(std::isnan(seconds) ? -1 : seconds);
      first_.push_back(static_cast<std::uint32_t>(shared_.size()));
      continue;
    }
    const Action& action = tables.plan.actions[a];
    double own = std::isnan(action.seconds) ? -1 : action.seconds;
    for (std::uint32_t f = 0; f < action.flows.size(); ++f) {
      const Flow& flow = action.flows[f];
      if (tables.meets_others(flow) || (every_flow && flow.bytes > 0))
        shared_.push_back(f);
      else
        own = std::max(own, seconds_alone(tables.plan, flow));
    }
    own_.push_back(own);
    first_.push_back(static_cast<std::uint32_t>(shared_.size()));
  }
}

}  // namespace sluice
