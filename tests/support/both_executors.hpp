// Executes a plan in both executors.
#pragma once

#include <catch2/catch.hpp>

#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "run/isolated.hpp"

namespace sluice::test {

/// Returns the seconds of the plan. Both executors must give the same seconds.
inline double seconds_in_both_executors(const Plan& plan) {
  check(plan);
  const double replayed = replay(plan).makespan;
  CHECK(execute_isolated(plan).report.makespan == Approx(replayed).epsilon(1e-9));
  return replayed;
}

}  // namespace sluice::test
