// The run by which a placed plan is compared with other placed plans. If the plan is for one of several equal replicas,
// this is a run of all replicas (planning/joined_replicas.hpp).
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "planning/request.hpp"
#include "platform/platform.hpp"

namespace sluice {

struct JudgedRun {
  double seconds = std::numeric_limits<double>::infinity();
  double at_least = 0;  ///< a lower bound of the seconds, also if the memories had less bytes
  std::string text;     ///< how the run differs from a run in the whole memories
  /// Returns the plan that has this run. `say` is called with the placed plan, and may add facts to it.
  std::function<Plan(const std::function<void(Plan&)>& say)> plan = {};
};

/// What judged_run() needs to know beside the placed plan.
struct JudgedRunWanted {
  const PolicyRequest& request;
  const std::vector<const Device*>& devices;  ///< the devices of the placed plan
  double worth = 0, enough = 0;               ///< as in RunsWanted
};

/// Returns the fastest run of the placed plan within limits of its memories (limited_runs.hpp). More memory never makes
/// it slower. If no run takes less than `worth` seconds, the seconds of the result are infinite or at least `worth`.
JudgedRun judged_run(const Plan& placed, const JudgedRunWanted& wanted);

}  // namespace sluice
