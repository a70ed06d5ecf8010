// Records which instances of tensors are in the pools now, and how many uses of each instance remain.
#pragma once

#include <cstdint>
#include <vector>

#include "base/few.hpp"
#include "execute/deadlock.hpp"
#include "execute/steady.hpp"
#include "plan/tables.hpp"

namespace sluice {

/// Adds the bytes of a tensor to `bytes`, which is the sum for all tensors with the same home. Throws InputError if the
/// sum exceeds 64 bits.
void add_home(const Plan& plan, std::uint32_t tensor, std::int64_t& bytes);

class Residency {
 public:
  explicit Residency(const PlanTables& tables);

  /// Adds the instances that an action allocates when it starts. Throws InputError if an instance is already in its
  /// pool.
  void allocate(std::uint32_t action, std::int64_t iteration) {
    for (const Allocation& made : tables_.allocations(action)) {
      const Placement& placement = made.placement;
      const std::int64_t instance = tables_.instance(action, iteration, placement.tensor);
      if (find(placement, instance)) there_already(placement, action, iteration);
      resident_[placement.tensor].push_back(
          {placement.pool, instance, tables_.uses(made, instance)});
      std::int64_t& level = levels_[placement.pool];
      if (__builtin_add_overflow(level, made.bytes, &level)) too_many_bytes(placement, action);
    }
  }
  /// Throws InputError if the action uses a tensor that is not in its pool.
  void require(std::uint32_t action, std::int64_t iteration) {
    for (const UsedPlacement& use : tables_.accesses(action))
      if (!find(use, tables_.instance(action, iteration, use))) absent(use, action);
  }
  /// The action has ended. Counts one use for each of its operands. When an instance has no use left, it leaves its
  /// pool, and the function calls freed(placement).
  template <class Freed>
  void release(std::uint32_t action, std::int64_t iteration, Freed&& freed) {
    for (const UsedPlacement& use : tables_.accesses(action))
      if (drop(use, tables_.instance(action, iteration, use), action)) freed(use);
  }

  void write(Snapshot& snapshot) const;
  void skip(const Jump& jump);

  std::int64_t level(std::uint32_t pool) const { return levels_[pool]; }
  const std::vector<std::int64_t>& levels() const { return levels_; }
  /// Describes a deadlock, in which no action can start or end any more. The caller passes the waiters. The function
  /// adds how many bytes each waiter requests, and which tensors occupy the pools.
  Deadlock blocking(double time, std::vector<Deadlock::Waiter> waiters) const;

 private:
  struct ResidentInstance {
    std::uint32_t pool;
    std::int64_t instance;
    std::int64_t uses;
  };
  /// A placement is a tensor and a pool. Returns instance number `instance` of this tensor if it is in this pool.
  /// Otherwise returns null.
  ResidentInstance* find(const Placement& placement, std::int64_t instance) {
    for (ResidentInstance& resident : resident_[placement.tensor])
      if (resident.instance == instance && resident.pool == placement.pool) return &resident;
    return nullptr;
  }
  /// Counts one use of an instance. Returns true after the last use, when the instance has left its pool.
  bool drop(const Placement& use, std::int64_t instance, std::uint32_t action) {
    ResidentInstance* const found = find(use, instance);
    if (!found) absent(use, action);
    if (--found->uses > 0) return false;
    resident_[use.tensor].erase(found);
    levels_[use.pool] -= tables_.plan.tensors[use.tensor].bytes;
    return true;
  }
  [[noreturn]] void absent(const Placement& use, std::uint32_t action) const;
  [[noreturn]] void there_already(const Placement& made, std::uint32_t action,
                                  std::int64_t iteration) const;
  [[noreturn]] void too_many_bytes(const Placement& made, std::uint32_t action) const;
  const PlanTables& tables_;
  /// For each tensor, its instances that are in pools now, the oldest first. At any time, a tensor has only a few of
  /// them.
  std::vector<Few<ResidentInstance, 1>> resident_;
  std::vector<std::int64_t> levels_;
};

}  // namespace sluice
