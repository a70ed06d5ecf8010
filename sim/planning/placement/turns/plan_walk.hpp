// Goes through the executions of a plan in the order in which the plan lists its actions: the prologue, each iteration
// of the body, and the epilogue. The walk knows which tensors are in the pools, but no times.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "execute/reach.hpp"
#include "execute/residency.hpp"

namespace sluice {

/// Returns the plan with another number of iterations.
inline Plan with_iterations(Plan plan, std::int64_t iterations) {
  plan.iterations = iterations;
  return plan;
}

class PlanWalk {
 public:
  /// A tensor of one iteration in a pool. A tensor with a single instance has the number 0.
  struct Instance {
    Placement placement;
    std::int64_t number = 0;
  };
  struct Execution {
    std::uint32_t action = none;
    std::int64_t iteration = 0;   ///< 0 in the prologue; the number of iterations in the epilogue
    std::vector<Instance> freed;  ///< the tensors that leave their pools when the action ends
  };

  /// The plan must outlive the object.
  explicit PlanWalk(const Plan& plan) : tables_(plan), residency_(tables_) {}

  const PlanTables& tables() const { return tables_; }

  /// Calls `visit` for each execution, until `visit` returns false.
  void through(const std::function<bool(const Execution&)>& visit) {
    const Plan& plan = tables_.plan;
    for (std::uint32_t a = 0; a < plan.body_begin; ++a)
      if (!step(a, 0, visit)) return;
    for (std::int64_t i = 0; i < plan.iterations; ++i)
      for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a) {
        const std::int64_t served = i + tables_.ahead(a);
        if (served >= 0 && served < plan.iterations && !step(a, i, visit)) return;
      }
    for (std::uint32_t a = plan.body_end; a < plan.actions.size(); ++a)
      if (!step(a, plan.iterations, visit)) return;
  }

 private:
  bool step(std::uint32_t a, std::int64_t iteration,
            const std::function<bool(const Execution&)>& visit) {
    execution_.action = a;
    execution_.iteration = iteration;
    execution_.freed.clear();
    residency_.allocate(a, iteration);
    residency_.release(a, iteration, [&](const UsedPlacement& freed) {
      execution_.freed.push_back({freed, tables_.instance(a, iteration, freed)});
    });
    return visit(execution_);
  }

  PlanTables tables_;
  Residency residency_;
  Execution execution_;
};

}  // namespace sluice
