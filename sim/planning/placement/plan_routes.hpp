// Helps to change a finished plan so that its transfers run between other memories. The platform gives the routes and
// the copy streams of these transfers.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// Returns the index of the pool with this name. If there is none, returns the number of pools.
std::uint32_t pool_number(const Plan& plan, const std::string& name);

class PlanRoutes {
 public:
  /// Both arguments must outlive the object.
  PlanRoutes(Plan& plan, const Platform& platform) : plan_(plan), platform_(platform) {}

  /// Sets the route of a flow of the action: the route from the flow's first pool to its second pool. If the action is
  /// a transfer, the function also moves it to the copy stream of this route. Throws InputError if no links connect the
  /// two pools.
  void send(Action& action, Flow& flow, CopyMode mode = CopyMode::asynchronous);

 private:
  std::uint32_t route(const Path& path);
  std::uint32_t stream(const Path& path);

  Plan& plan_;
  const Platform& platform_;
};

}  // namespace sluice
