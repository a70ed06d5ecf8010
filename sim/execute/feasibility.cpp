#include "execute/feasibility.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/reach.hpp"
#include "execute/residency.hpp"
#include "execute/shortage.hpp"
#include "plan/fault.hpp"
#include "plan/structure.hpp"

namespace sluice {

namespace {

/// Returns the action whose executions take the most seconds together.
std::uint32_t longest_action(const Plan& plan) {
  std::uint32_t longest = 0;
  double most = -1;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    const double once = seconds_alone(plan, action) + latency(plan, action);
    const double all = static_cast<double>(plan.executions_of(a)) * once + action.not_before;
    if (all > most) longest = a, most = all;
  }
  return longest;
}

}  // namespace

namespace {

void check_totals(const Plan& plan, double seconds) {
  auto executions =
      static_cast<std::int64_t>(plan.actions.size()) - (plan.body_end - plan.body_begin);
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a)
    if (__builtin_add_overflow(executions, plan.executions_of(a), &executions))
      header_fault(plan, "iterations",
                   std::to_string(plan.iterations) + " iterations of the body would be more than " +
                       "2^63 - 1 executions of actions");
  constexpr double longest = 1e300;
  if (seconds <= longest) return;
  const std::uint32_t most = longest_action(plan);
  plan_fault(plan, most,
             "the plan's actions, '" + name_of(plan.actions[most]) + "' above all, take " +
                 exact(seconds) + " s, one after the other; at most " + exact(longest) +
                 " s can be counted");
}

void check_homes(const Plan& plan) {
  for (std::uint32_t p = 0; p < plan.pools.size(); ++p) {
    const Pool& pool = plan.pools[p];
    if (!pool.limited()) continue;
    std::int64_t bytes = 0;
    std::vector<std::uint32_t> tensors;
    for (std::uint32_t t = 0; t < plan.tensors.size(); ++t) {
      if (plan.tensors[t].home != p) continue;
      add_home(plan, t, bytes);
      tensors.push_back(t);
    }
    if (bytes > pool.most())
      throw Infeasible("out of memory at 0 s: the tensors whose home is " + pool.name + " take " +
                           bytes_text(bytes) + ", but its capacity is " + bytes_text(pool.most()) +
                           ". These tensors are in this memory during the whole run: give " +
                           pool.name + " more memory, or use a dtype with smaller elements",
                       shortage_in(plan, p, tensors));
  }
}

/// Returns the name of a tensor, its class and its bytes.
std::string tensor_text(const Tensor& tensor) {
  return tensor.name + " (" + std::string(name_of(tensor.tensor_class)) + ") " +
         bytes_text(tensor.bytes);
}

void check_demands(const PlanTables& tables) {
  const Plan& plan = tables.plan;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    for (const Demand& demand : tables.demands(a)) {
      const Pool& pool = plan.pools[demand.pool];
      if (demand.bytes <= pool.most()) continue;
      std::vector<std::uint32_t> tensors;
      std::string list;
      for (const Placement& p : plan.actions[a].allocates)
        if (p.pool == demand.pool) {
          tensors.push_back(p.tensor);
          list += "\n    " + tensor_text(plan.tensors[p.tensor]);
        }
      const auto largest = std::ranges::max(
          tensors, {}, [&](std::uint32_t tensor) { return plan.tensors[tensor].bytes; });
      // The first line says everything that matters, because some reports show only this line.
      const std::string message =
          "out of memory at 0 s: " + name_of(plan.actions[a]) + " on " +
          plan.streams[plan.actions[a].stream].name + " needs " + bytes_text(demand.bytes) +
          " at once in " + pool.name + ", whose capacity is " + bytes_text(pool.most()) +
          ", so the action does not fit even into the empty pool; its largest tensor is " +
          tensor_text(plan.tensors[largest]) + "\n  the action allocates:" + list;
      throw Infeasible(message, shortage_in(plan, demand.pool, tensors));
    }
}

std::optional<Deadlock> blocks(const PlanTables& tables) {
  const std::int64_t iterations = iterations_to_replay(tables.plan);
  if (iterations == tables.plan.iterations) return replay(tables).blocking;
  Plan shorter = tables.plan;
  shorter.iterations = iterations;
  return replay(shorter).blocking;
}

}  // namespace

std::optional<Deadlock> blocks(const Plan& plan) {
  return blocks(PlanTables(plan));
}

void check_totals(const Plan& plan) {
  check_totals(plan, serial_seconds(plan));
}

PlanTables check_without_replay(const Plan& plan) {
  PlanTables tables = checked_tables(plan);
  check_totals(plan, tables.serial_seconds());
  check_memory(tables);
  return tables;
}

void check_memory(const PlanTables& tables) {
  check_homes(tables.plan);
  check_demands(tables);
}

bool ends_if_it_ran(const Plan& plan) {
  return std::none_of(plan.pools.begin(), plan.pools.end(),
                      [](const Pool& pool) { return pool.shared() && pool.limited(); }) ||
         iterations_to_replay(plan) == plan.iterations;
}

void check(const Plan& plan) {
  if (const auto blocking = blocks(check_without_replay(plan)))
    throw Infeasible(describe(plan, *blocking), shortage_of(plan, *blocking));
}

}  // namespace sluice
