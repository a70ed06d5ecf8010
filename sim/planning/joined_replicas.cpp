#include "planning/joined_replicas.hpp"

#include "execute/arithmetic/least_rest.hpp"
#include "plan/tables.hpp"
#include "planning/copy_time.hpp"

namespace sluice {

double seconds_in_any_memory(const Plan& plan) {
  constexpr std::int64_t few_iterations = 16;
  if (plan.iterations > few_iterations) return 0;
  return LeastRest(PlanTables(plan)).all_seconds() * within_accuracy;
}

}  // namespace sluice
