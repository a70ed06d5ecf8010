#include "policy/settle/run_digest.hpp"

#include "planning/number_list.hpp"

namespace sluice {

namespace {

void add(NumberDigest& numbers, const Action& action) {
  numbers.add(action.kind, action.part, action.stream, action.stage, action.micro_batch,
              action.collective, action.samples, action.samples_done, action.ahead);
  numbers.add(action.seconds);
  numbers.add(action.not_before);
  numbers.add(action.flows.size(), action.waits.size(), action.allocates.size(),
              action.uses.size());
  for (const Flow& flow : action.flows)
    numbers.add(flow.tensor, flow.from, flow.to, flow.route, flow.bytes);
  for (const Wait& wait : action.waits) numbers.add(wait.action, wait.distance);
  for (const Placement& made : action.allocates) numbers.add(made.tensor, made.pool);
  for (const Access& use : action.uses) numbers.add(use.tensor, use.pool, use.read, use.written);
}

}  // namespace

std::string run_digest(const Plan& plan) {
  NumberDigest numbers;
  numbers.add(plan.pools.size(), plan.tensors.size(), plan.actions.size(), plan.body_begin,
              plan.body_end, plan.iterations, plan.steps_per_iteration, plan.iterations_per_step);
  for (const Pool& pool : plan.pools)
    numbers.add(pool.enforced, pool.limit.has_value(), pool.limit.value_or(0));
  for (const Tensor& tensor : plan.tensors)
    numbers.add(tensor.tensor_class, tensor.bytes, tensor.home);
  for (const Action& action : plan.actions) add(numbers, action);
  return numbers.text();
}

}  // namespace sluice
