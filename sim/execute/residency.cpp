#include "execute/residency.hpp"

#include <algorithm>
#include <utility>

#include "plan/fault.hpp"

namespace sluice {

void add_home(const Plan& plan, std::uint32_t tensor, std::int64_t& bytes) {
  const Tensor& added = plan.tensors[tensor];
  if (__builtin_add_overflow(bytes, added.bytes, &bytes))
    tensor_count_fault(plan, tensor,
                       "with tensor '" + added.name + "', there are more than 2^63 - 1 bytes in " +
                           plan.pools[added.home].name + ", the tensor's home");
}

Residency::Residency(const PlanTables& tables)
    : tables_(tables), resident_(tables.plan.tensors.size()), levels_(tables.plan.pools.size(), 0) {
  for (std::uint32_t t = 0; t < tables.plan.tensors.size(); ++t) {
    const Tensor& tensor = tables.plan.tensors[t];
    if (tensor.home != none) add_home(tables.plan, t, levels_[tensor.home]);
  }
}

/// Adds the state of the pools to the snapshot (steady.hpp). The state must be able to repeat in a
/// later iteration. If a tensor has a single instance during the whole run, its number of remaining
/// uses only decreases. So the state does not contain this number. For all other tensors, the state
/// contains the number of remaining uses.
void Residency::write(Snapshot& snapshot) const {
  for (const std::uint32_t tensor : tables_.body_tensors()) {
    snapshot.add(static_cast<std::int64_t>(resident_[tensor].size()));
    for (const ResidentInstance& resident : resident_[tensor]) {
      snapshot.add(resident.pool);
      if (!tables_.iterated[tensor]) continue;
      snapshot.add_iteration(resident.instance);
      snapshot.add(resident.uses);
    }
  }
}

void Residency::skip(const Jump& jump) {
  for (const std::uint32_t tensor : tables_.body_tensors())
    for (ResidentInstance& resident : resident_[tensor]) {
      if (tables_.iterated[tensor])
        resident.instance += jump.iterations;
      else
        resident.uses -= tables_.uses_an_iteration({tensor, resident.pool}) * jump.iterations;
    }
}

void Residency::there_already(const Placement& made, std::uint32_t action,
                              std::int64_t iteration) const {
  plan_fault(tables_.plan, action,
             action_label(tables_.plan, action, iteration) + " allocates tensor '" +
                 tables_.plan.tensors[made.tensor].name + "' in " +
                 tables_.plan.pools[made.pool].name + ", but this instance is already in the pool");
}

void Residency::too_many_bytes(const Placement& made, std::uint32_t action) const {
  plan_count_fault(tables_.plan, action,
                   "with the tensors of '" + name_of(tables_.plan.actions[action]) +
                       "', there are more than 2^63 - 1 bytes in " +
                       tables_.plan.pools[made.pool].name);
}

void Residency::absent(const Placement& use, std::uint32_t action) const {
  const auto& uses = tables_.plan.actions[action].uses;
  const bool of_earlier = std::ranges::any_of(
      uses, [&](const Access& access) { return access.placement() == use && access.distance > 0; });
  plan_fault(
      tables_.plan, action,
      "action '" + name_of(tables_.plan.actions[action]) + "' uses tensor '" +
          tables_.plan.tensors[use.tensor].name + "' in " + tables_.plan.pools[use.pool].name +
          ", but the tensor is not there: make the action wait for an action that puts the tensor "
          "there" +
          (of_earlier
               ? "; in the first iterations, which have no earlier ones, this is an action of "
                 "the prologue with a negative 'ahead'"
               : ""));
}

Deadlock Residency::blocking(double time, std::vector<Deadlock::Waiter> waiters) const {
  Deadlock blocking{time, std::move(waiters), {}, levels_};
  for (Deadlock::Waiter& waiter : blocking.waiters)
    for (const Demand& demand : tables_.demands(waiter.action))
      if (demand.pool == waiter.pool) waiter.bytes = demand.bytes;
  for (std::uint32_t tensor = 0; tensor < resident_.size(); ++tensor) {
    const std::uint32_t home = tables_.plan.tensors[tensor].home;
    if (home != none) blocking.held.push_back({home, tensor, 0});
    for (const ResidentInstance& resident : resident_[tensor])
      blocking.held.push_back({resident.pool, tensor, resident.instance});
  }
  return blocking;
}

}  // namespace sluice
