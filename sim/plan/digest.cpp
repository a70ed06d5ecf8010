#include "plan/digest.hpp"

#include "base/number_list.hpp"

namespace sluice {

namespace {

/// Whether a digest counts the seconds and the routes of actions.
enum class Prices : bool { left_out, counted };

void add(NumberDigest& numbers, const Action& action, Prices prices) {
  const bool priced = prices == Prices::counted;
  numbers.add(action.kind, action.part, action.stream, action.stage, action.micro_batch,
              action.collective, action.samples, action.samples_done, action.ahead);
  if (priced) numbers.add(action.seconds);
  numbers.add(action.not_before);
  numbers.add(action.flows.size(), action.waits.size(), action.allocates.size(),
              action.uses.size());
  for (const Flow& flow : action.flows)
    numbers.add(flow.tensor, flow.from, flow.to, priced ? flow.route : 0, flow.bytes);
  for (const Wait& wait : action.waits) numbers.add(wait.action, wait.distance);
  for (const Placement& made : action.allocates) numbers.add(made.tensor, made.pool);
  for (const Access& use : action.uses)
    numbers.add(use.tensor, use.pool, use.read, use.written, use.distance);
}

NumberDigest digest_of(const Plan& plan, Prices prices) {
  NumberDigest numbers;
  numbers.add(plan.pools.size(), plan.tensors.size(), plan.actions.size(), plan.body_begin,
              plan.body_end, plan.iterations, plan.steps_per_iteration, plan.iterations_per_step);
  for (const Tensor& tensor : plan.tensors)
    numbers.add(tensor.tensor_class, tensor.bytes, tensor.home);
  for (const Action& action : plan.actions) add(numbers, action, prices);
  return numbers;
}

}  // namespace

std::string run_digest(const Plan& plan) {
  NumberDigest numbers = digest_of(plan, Prices::counted);
  for (const Pool& pool : plan.pools)
    numbers.add(pool.enforced, pool.limit.has_value(), pool.limit.value_or(0));
  return numbers.text();
}

std::string digest_to_place(const Plan& plan) {
  std::string text = digest_of(plan, Prices::left_out).text();
  for (const Stream& stream : plan.streams) text += '\n' + stream.name;
  for (const Pool& pool : plan.pools) text += '\n' + pool.name;
  return text;
}

}  // namespace sluice
