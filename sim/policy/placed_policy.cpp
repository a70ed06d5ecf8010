#include "policy/placed_policy.hpp"

#include <utility>

#include "planning/placement/placement_key.hpp"

namespace sluice {

Policy placed_policy(Policy policy, Field placement, PlansOf plans) {
  policy.parameters.push_back(std::move(placement));
  policy.plan = [plans](const PolicyRequest& request, const Reader& parameters) {
    return plan_of_turns(request, parameters, plans(request, parameters));
  };
  policy.candidates = [plans](const PolicyRequest& request, const Reader& parameters) {
    return candidates_of_turns(request, parameters, plans(request, parameters));
  };
  policy.alternatives = [plans, own = policy.alternatives](const PolicyRequest& request,
                                                           const Reader& parameters) {
    std::vector<Value> placed =
        alternatives_of_homes(request, parameters, plans(request, parameters));
    if (!own) return placed;
    std::vector<Value> maps = own(request, parameters);
    if (maps.empty() || placed.empty()) return placed.empty() ? maps : placed;
    // The first element of `placed` has `placement: none`. The policy's alternatives take its place.
    for (Value& map : maps) map.set("placement", *placed.front().find("placement"));
    maps.insert(maps.end(), placed.begin() + 1, placed.end());
    return maps;
  };
  return policy;
}

}  // namespace sluice
