#include "planning/run_seconds.hpp"

#include <limits>

#include "execute/arithmetic/replay.hpp"

namespace sluice {

void stay_within(Plan& plan, const std::string& device, std::int64_t bytes) {
  for (Pool& pool : plan.pools)
    if (pool.owner == device) pool.limit = bytes;
}

double run_seconds(const Plan& plan) {
  const ReplayResult result = replay(plan);
  return result.blocking ? std::numeric_limits<double>::infinity() : result.makespan;
}

}  // namespace sluice
