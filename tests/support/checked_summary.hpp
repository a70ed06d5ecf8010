// The metrics of a plan that fits, with the seconds of further steps.
#pragma once

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "metrics/metric.hpp"
#include "run/further_steps.hpp"

namespace sluice::test {

/// Checks the plan, runs it in the replay, and returns its metrics. Throws Infeasible.
inline Summary checked_summary(const Plan& plan) {
  check(plan);
  Totals totals(plan);
  replay(plan, totals);
  totals.set_further_step(further_step_s(plan));
  return summarise(totals);
}

}  // namespace sluice::test
