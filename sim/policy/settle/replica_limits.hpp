// The choices of equal replicas that share links. Each replica chooses for itself, but the plans run together. If the
// replicas transfer one after the other, the choice that is the fastest for one replica within a memory can be slower
// for all replicas than the choice for a smaller memory. Therefore such choices are only made within limits of memory
// that do not depend on the machine, and the plans of all limits are compared by the seconds of all replicas. A larger
// memory allows all limits of a smaller memory, so a run with more memory never takes longer.
#pragma once

#include "policy/policy.hpp"

namespace sluice {

/// Returns whether fastest_of_limits() makes the choices of replicas that share links. This is so in inference if all
/// replicas are equal, their policy has candidates, each has a memory of its own whose capacity limits the plan, and
/// the scenario does not ask for transfers in turn.
bool chooses_within_limits(const Policy& policy, const PolicyRequest& request,
                           const Reader& parameters);

/// Returns the fastest plan of these replicas. Each replica makes its choices on the platform `share`, on which each
/// link has only the replica's share of the bandwidth. The parameters are those of replicated(). Throws Infeasible if
/// no plan fits.
Plan fastest_of_limits(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                       const Platform& share);

}  // namespace sluice
