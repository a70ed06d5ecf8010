// How many actions an execution has. It stands alone, so that counting them brings no engine along.
#include "run/executor.hpp"

namespace sluice {

std::int64_t executions_of(const Plan& plan) {
  std::int64_t total = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) total += plan.executions_of(a);
  return total;
}

}  // namespace sluice
