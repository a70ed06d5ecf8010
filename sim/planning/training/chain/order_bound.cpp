#include "planning/training/chain/order_bound.hpp"

#include <algorithm>
#include <limits>

#include "fates/optimal/bound.hpp"
#include "fates/optimal/least_bytes.hpp"
#include "planning/training/chain/unlike_devices.hpp"
#include "planning/training/orders.hpp"
#include "planning/training/worst_moment.hpp"
#include "planning/weights_stay.hpp"

namespace sluice {

namespace {

double order_bound(const PolicyRequest& request, const TrainingOrder& order,
                   const PassOptions& passes) {
  constexpr int steps = 60;
  auto [chain, states, on_devices] = chain_on_devices(request, order, passes);
  if (request.real_machine) chain.input.load_s = chain.load_latency_s = 0;
  const bool stay = weights_stay(request, order);
  if (host_bytes_left(request, states, stay).value_or(0) < 0)
    return std::numeric_limits<double>::infinity();
  chain.host_room = host_room(request, states, stay);
  const SideBySideShape shape = shape_of(request, order, *order.in_flight);
  const SideBySide all = side_by_side(chain, states, request.workload, shape, on_devices);
  std::int64_t budget = budget_of(request, order);
  const Constants constants{states, stay, order.devices.size()};
  if (budget < no_limit) budget = constants.leave_of(budget, all.chain.devices);
  if (least_bytes_bound(all.chain) > budget) return std::numeric_limits<double>::infinity();
  if (order.overlap) return run_bound_within(all.chain, all.run, budget, steps);
  return all.run.micro_batches * fate_bound(all.chain, budget, Copies::serial) +
         all.run.batches * all.run.update_s + all.run.weights_s + all.run.idle_s();
}

}  // namespace

double order_bound(const PolicyRequest& request, const TrainingOrder& order) {
  const std::vector<Stage>& stages = request.pricing.stages;
  const double plain = order_bound(request, order, {.overlap = order.overlap});
  const bool drops = std::ranges::any_of(
      stages, [](const Stage& stage) { return stage.kept.selective_bytes > 0; });
  const PassOptions selective{.selective = true, .overlap = order.overlap};
  return drops ? std::min(plain, order_bound(request, order, selective)) : plain;
}

double any_fates_at_least(const PolicyRequest& request, const TrainingOrder& order) {
  if (order.weights_stay) {
    const std::vector<Stage> held = held_once(request.pricing.stages);
    return order_bound(with_stages(request, held), settled_orders(request, order, {1}).front());
  }
  double least = std::numeric_limits<double>::infinity();
  for (const TrainingOrder& settled : settled_orders(request, order, counts_of(request, order)))
    least = std::min(least, order_bound(request, settled));
  return least;
}

std::int64_t budget_of(const PolicyRequest& request, const TrainingOrder& order) {
  return bytes_of_all(request, order).value_or(no_limit);
}

std::vector<TrainingOrder> settled_orders(const PolicyRequest& request, const TrainingOrder& order,
                                          const std::vector<std::int64_t>& in_flight) {
  std::vector<TrainingOrder> settled;
  const std::int64_t per_batch = request.workload.batch / request.workload.micro_batch;
  for (TrainingOrder& one : fitting_orders(request, order))
    for (const std::int64_t count : in_flight) {
      if (!tried_with_passes(one, (per_batch + count - 1) / count)) continue;
      one.in_flight = count;
      settled.push_back(one);
    }
  return settled;
}

}  // namespace sluice
