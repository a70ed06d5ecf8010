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

double run_seconds_in_host(const Plan& plan) {
  const ReplayResult result = replay(plan);
  bool fits = !result.blocking;
  for (std::size_t p = 0; p < plan.pools.size(); ++p) {
    const Pool& pool = plan.pools[p];
    fits = fits && (!pool.owner.empty() || !pool.capacity || result.peaks[p] <= *pool.capacity);
  }
  return fits ? result.makespan : std::numeric_limits<double>::infinity();
}

void enforce_host(Plan& plan) {
  for (Pool& pool : plan.pools)
    if (pool.owner.empty() && pool.capacity) pool.enforced = true;
}

}  // namespace sluice
