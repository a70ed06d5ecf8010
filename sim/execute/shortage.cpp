#include "execute/shortage.hpp"

#include <algorithm>
#include <array>

namespace sluice {

namespace {

/// Sets the fields `needed_bytes` and `by_class` of `shortage` to the bytes of these tensors.
void add_tensors(Shortage& shortage, const Plan& plan, const std::vector<std::uint32_t>& tensors) {
  std::array<std::int64_t, tensor_class_count> bytes{};
  std::int64_t sum = 0;
  for (const std::uint32_t t : tensors) {
    bytes[static_cast<std::size_t>(plan.tensors[t].tensor_class)] += plan.tensors[t].bytes;
    sum += plan.tensors[t].bytes;
  }
  shortage.needed_bytes = sum;
  for (std::size_t c = 0; c < bytes.size(); ++c)
    if (bytes[c] > 0)
      shortage.by_class.emplace_back(std::string(name_of(static_cast<TensorClass>(c))), bytes[c]);
}

std::vector<std::uint32_t> wanted(const Plan& plan, const Deadlock::Waiter& waiter) {
  std::vector<std::uint32_t> tensors;
  for (const Placement& placement : plan.actions[waiter.action].allocates)
    if (placement.pool == waiter.pool) tensors.push_back(placement.tensor);
  return tensors;
}

Shortage::Waiter waiter_of(const Plan& plan, const Deadlock::Waiter& waiter) {
  Shortage::Waiter described{.stream = plan.streams[plan.actions[waiter.action].stream].name,
                             .action = action_label(plan, waiter.action, waiter.iteration)};
  if (waiter.pool == none) {
    described.awaits = action_label(plan, waiter.awaited_action, waiter.awaited_iteration);
    return described;
  }
  described.pool = plan.pools[waiter.pool].name;
  described.bytes = waiter.bytes;
  for (const std::uint32_t t : wanted(plan, waiter))
    described.tensors.push_back(plan.tensors[t].name);
  return described;
}

}  // namespace

Shortage shortage_in(const Plan& plan, std::uint32_t pool,
                     const std::vector<std::uint32_t>& tensors) {
  Shortage shortage{.pool = plan.pools[pool].name};
  if (plan.pools[pool].limited()) shortage.available_bytes = plan.pools[pool].most();
  add_tensors(shortage, plan, tensors);
  return shortage;
}

Shortage shortage_of(const Plan& plan, const Deadlock& blocking) {
  Shortage shortage;
  const auto first = std::find_if(blocking.waiters.begin(), blocking.waiters.end(),
                                  [](const auto& waiter) { return waiter.pool != none; });
  if (first != blocking.waiters.end()) {
    std::vector<std::uint32_t> tensors = wanted(plan, *first);
    for (const Deadlock::HeldTensor& held : blocking.held)
      if (held.pool == first->pool) tensors.push_back(held.tensor);
    shortage = shortage_in(plan, first->pool, tensors);
  }
  for (const Deadlock::Waiter& waiter : blocking.waiters)
    shortage.waiters.push_back(waiter_of(plan, waiter));
  shortage.time_s = blocking.time;
  return shortage;
}

}  // namespace sluice
