#include "planning/run_seconds_below.hpp"

#include <limits>

#include "execute/arithmetic/least_rest.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/copy_time.hpp"
#include "planning/run_seconds.hpp"

namespace sluice {

namespace {

/// Returns whether a replay executes each action of the plan anyway. For longer runs, a bound for each execution would
/// take longer than the replay.
bool executes_all(const Plan& plan) {
  return plan.iterations <= few_iterations;
}

}  // namespace

double run_seconds_below(const Plan& plan, double worth) {
  if (worth == std::numeric_limits<double>::infinity() || !executes_all(plan))
    return run_seconds(plan);
  const PlanTables tables(plan);
  const LeastRest rest(tables);
  if (rest.all_seconds() * within_accuracy >= worth) return worth;
  const ReplayWorth to_beat{worth / within_accuracy, rest};
  const ReplayResult result = replay(tables, ReplayOptions{.worth = &to_beat});
  return result.blocking ? std::numeric_limits<double>::infinity() : result.makespan;
}

double least_seconds_of(const Plan& plan) {
  if (!executes_all(plan)) return 0;
  const PlanTables tables(plan);
  return LeastRest(tables).all_seconds() * within_accuracy;
}

}  // namespace sluice
