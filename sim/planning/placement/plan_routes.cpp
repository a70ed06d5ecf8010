#include "planning/placement/plan_routes.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// Returns the index of the element with this name, or the number of elements if no element has the name.
template <class Named>
std::uint32_t number_of(const std::vector<Named>& all, const std::string& name) {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const Named& known) { return known.name == name; });
  return static_cast<std::uint32_t>(at - all.begin());
}

}  // namespace

std::uint32_t pool_number(const Plan& plan, const std::string& name) {
  return number_of(plan.pools, name);
}

void PlanRoutes::send(Action& action, Flow& flow, CopyMode mode) {
  const Path& path = platform_.path(plan_.pools[flow.from].name, plan_.pools[flow.to].name, mode);
  flow.route = route(path);
  if (record_of(action.kind).transfers) action.stream = stream(path);
}

std::uint32_t PlanRoutes::route(const Path& path) {
  const std::uint32_t number = number_of(plan_.routes, path.name);
  if (number == plan_.routes.size())
    plan_.routes.push_back({path.name, path.channels, path.setup_s, path.latency_s});
  return number;
}

std::uint32_t PlanRoutes::stream(const Path& path) {
  const std::uint32_t number = number_of(plan_.streams, path.stream);
  if (number == plan_.streams.size())
    plan_.streams.push_back({path.stream, StreamKind::copy, path.device});
  return number;
}

}  // namespace sluice
