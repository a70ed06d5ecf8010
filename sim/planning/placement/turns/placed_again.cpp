#include "planning/placement/turns/placed_again.hpp"

#include "base/sha256.hpp"
#include "planning/number_list.hpp"

namespace sluice {
namespace {

void add(NumberList& numbers, const Action& action) {
  numbers.add(action.kind, action.part, action.stream, action.stage, action.micro_batch,
              action.collective, action.samples, action.samples_done, action.ahead);
  numbers.add(action.not_before);
  numbers.add(action.flows.size(), action.waits.size(), action.allocates.size(),
              action.uses.size());
  for (const Flow& flow : action.flows) numbers.add(flow.tensor, flow.from, flow.to, flow.bytes);
  for (const Wait& wait : action.waits) numbers.add(wait.action, wait.distance);
  for (const Placement& made : action.allocates) numbers.add(made.tensor, made.pool);
  for (const Access& use : action.uses) numbers.add(use.tensor, use.pool, use.read, use.written);
}

}  // namespace

std::string digest_to_place(const Plan& plan) {
  NumberList numbers;
  numbers.add(plan.body_begin, plan.body_end, plan.iterations, plan.steps_per_iteration,
              plan.iterations_per_step, plan.actions.size(), plan.tensors.size());
  for (const Action& action : plan.actions) add(numbers, action);
  for (const Tensor& tensor : plan.tensors)
    numbers.add(tensor.tensor_class, tensor.bytes, tensor.home);
  std::string text = numbers.text();
  for (const Stream& stream : plan.streams) text += stream.name + '\n';
  for (const Pool& pool : plan.pools) text += pool.name + '\n';
  return sha256_of(text);
}

}  // namespace sluice
