#include "planning/joined_replicas.hpp"

#include <limits>

#include "execute/arithmetic/least_rest.hpp"
#include "plan/tables.hpp"
#include "planning/copy_time.hpp"
#include "planning/run_seconds.hpp"

namespace sluice {

double seconds_in_any_memory(const Plan& plan) {
  constexpr std::int64_t few_iterations = 16;
  if (plan.iterations > few_iterations) return 0;
  return LeastRest(PlanTables(plan)).all_seconds() * within_accuracy;
}

double seconds_of_all(const Plan& plan, const PolicyRequest& request, double worth) {
  const JoinedReplicas* const replicas = joined_replicas(request);
  if (!replicas) return run_seconds(plan);
  Plan all = replicas->plan(plan);
  if (seconds_in_any_memory(all) >= worth) return std::numeric_limits<double>::infinity();
  return with_transfers(std::move(all), replicas->transfers).seconds();
}

}  // namespace sluice
