// Makes candidates for what a scenario of training leaves open: the number of micro-batches side by side, the stages
// whose weights stay on the device, and the bytes that early loads may use.
#include <algorithm>
#include <memory>

#include "base/never.hpp"
#include "planning/builder.hpp"
#include "planning/equal_replicas.hpp"
#include "planning/training/batch_bytes.hpp"
#include "planning/training/load_offers.hpp"
#include "planning/training/orders.hpp"
#include "planning/training/shortest_round.hpp"
#include "planning/training/training.hpp"
#include "planning/training/ways.hpp"
#include "planning/training/work_of_batches.hpp"

namespace sluice {
namespace {

/// Returns whether there is nothing to choose about the loads, because they may as well all come early. If weights that
/// stay are loaded between the inputs of several micro-batches, the order of these loads is a choice. The result does
/// not depend on prices.
bool loads_may_come_early(const PolicyRequest& unlimited, const TrainingOrder& order,
                          const DeviceBytes& memories) {
  const bool stay =
      order.weights_stay || std::ranges::count(order.staying, true, &StayingTensors::weights) > 0;
  if (stay && *order.in_flight > 1 && unlimited.pricing.stages.size() > 1) return false;
  const ChosenStep step(unlimited, order);
  return loads_only_inputs(step.program()) &&
         step.offer({no_limit, {as_early_as_may_be}}).most.within(memories);
}

/// Returns a candidate for each number of micro-batches in flight.
std::vector<Candidate> candidates_of_order(
    const PolicyRequest& request, const TrainingOrder& order,
    const std::shared_ptr<const std::vector<Stage>>& stages) {
  PolicyRequest unlimited = request;
  unlimited.capacity_enforced = false;
  const std::int64_t per_batch = request.workload.batch / request.workload.micro_batch;
  const std::vector<std::int64_t> counts = counts_of(request, order);
  const WorkOfBatches work(unlimited, order);
  const auto peaks = std::make_shared<PeaksOfBatches>(unlimited, order);
  std::vector<Candidate> candidates;
  for (const std::int64_t count : counts) {
    const std::int64_t passes = (per_batch + count - 1) / count;
    if (!tried_with_passes(order, passes)) continue;
    TrainingOrder settled = order;
    settled.in_flight = count;
    const auto ways = std::make_shared<const TrainingWays>(request, settled, peaks, stages);
    const double at_least = work.at_least(batches_of_run(request.workload), per_batch, passes);
    candidates.push_back({at_least, ways->count(), {}, [ways, at_least] {
                            return TrainingWays::opened(ways, at_least);
                          }});
  }
  return candidates;
}

/// Adds to the candidates of an order one candidate for each of orders_that_stay(). Until this candidate is opened, its
/// bound is that of the order in which most weights stay, because its run has the fewest copies.
void add_candidates_that_stay(const PolicyRequest& request, const TrainingOrder& order,
                              const std::shared_ptr<const std::vector<Stage>>& stages,
                              std::vector<Candidate>& candidates) {
  const std::vector<TrainingOrder> orders = orders_that_stay(request, order);
  if (orders.empty()) return;
  std::int64_t ways = 0;
  for (const Candidate& candidate : candidates) ways += candidate.ways;
  PolicyRequest unlimited = request;
  unlimited.capacity_enforced = false;
  const std::vector<std::int64_t> counts = counts_of(request, order);
  const WorkOfBatches work(unlimited, orders.front());
  const std::int64_t per_batch = request.workload.batch / request.workload.micro_batch;
  double at_least = never;
  for (const std::int64_t count : counts)
    at_least = std::min(at_least, work.at_least(batches_of_run(request.workload), per_batch,
                                                (per_batch + count - 1) / count));
  for (const TrainingOrder& stays : orders)
    candidates.push_back({at_least, ways, {}, [request, stays, stages] {
                            if (!staying_fits(request, stays)) return std::vector<Candidate>();
                            return candidates_of_order(request, stays, stages);
                          }});
}

}  // namespace

std::string steps_text(const PolicyRequest& request, const TrainingOrder& order) {
  if (request.strategy().searches) return "";
  PolicyRequest unlimited = request;
  unlimited.capacity_enforced = false;
  std::string text;
  for (const std::int64_t count : counts_of(request, order)) {
    TrainingOrder settled = order;
    settled.in_flight = count;
    text += step_text(unlimited, settled, ChosenStep(unlimited, settled)) + ";";
  }
  return text;
}

std::vector<Candidate> training_candidates(const PolicyRequest& request, const TrainingOrder& order,
                                           std::shared_ptr<const std::vector<Stage>> stages) {
  // A plan that is too long is an error, unless several cuts are compared: another cut may have a shorter plan. Each
  // micro-batch has two passes of each stage, forward and backward. If all weights stay, or if the run has only one
  // batch, a round may be a few passes of a long batch.
  if (!request.cut_open) {
    const Workload& workload = request.workload;
    const std::int64_t per_batch = workload.batch / workload.micro_batch,
                       of_round = per_batch > most_listed_passes ? 1 : per_batch;
    const bool passes_repeat = weights_stay(request, order) || batches_of_run(workload) == 1;
    refuse_long_round(passes_repeat ? of_round : workload.micro_batches_per_step(),
                      2 * request.pricing.stages.size());
  }
  PolicyRequest unlimited = request;
  unlimited.capacity_enforced = false;
  const std::vector<std::int64_t> counts = counts_of(request, order);
  if (request.strategy().searches) return searched_candidates(request, order, counts, stages);
  // If the scenario makes all choices, and nothing is left to choose about the loads, there are no candidates. Then
  // plan_training() makes the only plan, and its run may use the whole memory of the device.
  const bool all_said = order.in_flight || order.weights_stay;
  const bool asked_so = request.fates && !request.fates_open && !request.cut_open;
  if (asked_so && counts.size() == 1 && all_said) {
    TrainingOrder said = order;
    said.in_flight = counts.front();
    // Replicas may delay each other, so a load that comes early may delay a load of another replica. They choose in
    // every memory, because their choices in a small memory must also be theirs in a larger memory.
    const bool together = request.replicas && request.replicas->judged_together;
    const DeviceBytes memories = capacities(request, order);
    if (!said.overlap || (!together && loads_may_come_early(unlimited, said, memories))) return {};
  }
  std::vector<Candidate> candidates = candidates_of_order(request, order, stages);
  add_candidates_that_stay(request, order, stages, candidates);
  return candidates;
}

}  // namespace sluice
