#include "planning/run_seconds.hpp"

#include <limits>

#include "execute/arithmetic/replay.hpp"
#include "execute/reservation.hpp"

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

namespace {

/// Returns the bytes that actions allocate in the pool in the prologue, in two rounds of the body and in the epilogue.
WideBytes allocated(const Plan& plan, std::uint32_t pool) {
  constexpr WideBytes rounds = 2;
  WideBytes bytes = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    for (const Placement& made : plan.actions[a].allocates)
      if (made.pool == pool)
        bytes +=
            (plan.section_of(a) == Section::body ? rounds : 1) * plan.tensors[made.tensor].bytes;
  return bytes;
}

}  // namespace

bool host_may_be_full(const Plan& plan) {
  for (std::uint32_t p = 0; p < plan.pools.size(); ++p) {
    const Pool& pool = plan.pools[p];
    if (!pool.owner.empty() || !pool.capacity) continue;
    const WideBytes made = allocated(plan, p);
    WideBytes held = 0;
    for (const Tensor& tensor : plan.tensors)
      if (tensor.home == p) held += tensor.bytes;
    if (made > 0 && held + made > *pool.capacity) return true;
  }
  return false;
}

void enforce_host(Plan& plan) {
  for (Pool& pool : plan.pools)
    if (pool.owner.empty() && pool.capacity) pool.enforced = true;
}

}  // namespace sluice
