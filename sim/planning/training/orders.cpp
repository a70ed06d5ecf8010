#include "planning/training/orders.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/quantity.hpp"
#include "planning/builder.hpp"
#include "planning/training/load_offers.hpp"
#include "planning/training/work_of_batches.hpp"
#include "workload/rounds.hpp"

namespace sluice {

namespace {

/// Returns a lower bound of the seconds of all plans for this order that fit. Bounds of `least` seconds or more need
/// not be the greatest that are known. `unlimited` is the request without a limit of memory, and with known fates.
double at_least_of(const PolicyRequest& request, const PolicyRequest& unlimited,
                   const TrainingOrder& order, double least) {
  const std::vector<std::int64_t> counts = counts_of(request, order);
  const WorkOfBatches work(unlimited, order);
  PeaksOfBatches peaks(unlimited, order);
  const DeviceBytes memories = capacities(request, order);
  const std::int64_t per_batch = request.workload.batch / request.workload.micro_batch;
  for (const std::int64_t count : counts) {
    const std::int64_t passes = (per_batch + count - 1) / count;
    if (!tried_with_passes(order, passes)) continue;
    const double sums = work.at_least(batches_of_run(request.workload), per_batch, passes);
    if (sums >= least) continue;
    if (!request.strategy().searches && !peaks.at_least(count, passes > 1).within(memories))
      continue;
    TrainingOrder settled = order;
    settled.in_flight = count;
    least = std::min(least, std::max(sums, clock_at_least(unlimited, settled)));
  }
  return least;
}

}  // namespace

double batches_of_run(const Workload& workload) {
  return static_cast<double>(workload.batches_per_step) * static_cast<double>(workload.steps);
}

DeviceBytes capacities(const PolicyRequest& request, const TrainingOrder& order) {
  std::vector<std::int64_t> all;
  for (const std::string& name : order.devices) {
    const Device& device = request.pricing.platform.device(name);
    all.push_back(request.capacity_enforced ? device.memory().capacity.value_or(no_limit)
                                            : no_limit);
  }
  return DeviceBytes(std::move(all));
}

bool devices_differ(const PolicyRequest& request, const TrainingOrder& order) {
  return order.devices.size() > 1 && !request.made_to_change;
}

std::vector<std::int64_t> counts_of(const PolicyRequest& request, const TrainingOrder& order) {
  const std::int64_t per_batch = request.workload.batch / request.workload.micro_batch;
  if (order.in_flight) return {std::min(*order.in_flight, per_batch)};
  if (order.weights_stay) return {1};
  std::vector<std::int64_t> counts = in_flight_choices(per_batch, 2);
  if (per_batch > longest_step_with_long_passes && batches_of_run(request.workload) == 1)
    std::erase_if(counts, [](std::int64_t count) { return count > longest_round; });
  return counts;
}

std::vector<TrainingOrder> fitting_orders(const PolicyRequest& request,
                                          const TrainingOrder& order) {
  std::vector<TrainingOrder> orders = {order};
  for (TrainingOrder& stays : orders_that_stay(request, order))
    if (staying_fits(request, stays)) orders.push_back(std::move(stays));
  return orders;
}

// If a strategy searches for the fates, they are not known here. If all activations are kept, a run has the fewest
// passes and the fewest copies. So the bound for kept activations holds for all fates, but it cannot use the bytes.
double training_at_least(const PolicyRequest& request, const TrainingOrder& order) {
  PolicyRequest unlimited = request;
  unlimited.capacity_enforced = false;
  if (request.strategy().searches) unlimited.fates = kept_fates();
  double least = std::numeric_limits<double>::infinity();
  for (const TrainingOrder& one : fitting_orders(request, order))
    least = std::min(least, at_least_of(request, unlimited, one, least));
  return least;
}

const Device& smallest_device(const Platform& platform, const std::vector<std::string>& names) {
  const auto bytes = [&](const std::string& name) {
    return platform.device(name).memory().capacity.value_or(no_limit);
  };
  return platform.device(*std::min_element(
      names.begin(), names.end(),
      [&](const std::string& a, const std::string& b) { return bytes(a) < bytes(b); }));
}

std::string text_of(const TrainingOrder& order) {
  std::string text = "in_flight: " + std::to_string(*order.in_flight);
  if (order.staying_open && !order.staying.empty()) text += ", " + staying_text(order.staying);
  return text;
}

std::string text_of(const LoadSequence& sequence, bool late) {
  const auto& [pace, order] = sequence;
  std::string text;
  if (pace == as_early_as_may_be)
    text += ", loads as early as there is room";
  else if (pace)
    text += ", loads timed as if they took " +
            std::to_string(static_cast<std::int64_t>(100 * pace->loads)) + " % of the computation";
  if (pace && pace->latency > 0)
    text +=
        ", with a latency of " + format_quantity(100 * pace->latency, Dimension::none) + " % of it";
  if (order == LoadOrder::smallest_first) text += ", small loads first";
  if (order == LoadOrder::weights_first) text += ", weights first";
  if (late) text += ", loads listed where they are needed";
  return text;
}

std::string text_of(const TrainingOrder& order, std::int64_t more) {
  std::string text = text_of(order) + text_of(order.sequence, *order.room == 0);
  if (more == 1) text += ", loads placed as with one more micro-batch";
  if (more > 1) text += ", loads placed as with " + std::to_string(more) + " more micro-batches";
  if (*order.room == 0 || *order.room == no_limit) return text;
  text += order.run_room ? "; loads ahead within " : "; stays within ";
  for (std::size_t d = 0; d < (order.room->differ() ? order.devices.size() : 1); ++d)
    text += (d > 0 ? " and " : "") +
            format_quantity(static_cast<double>((*order.room)[d]), Dimension::bytes);
  return text;
}

bool weights_stay(const PolicyRequest& request, const TrainingOrder& order) {
  if (order.weights_stay) return true;
  // The scenario may say that gradients or optimizer state of the only stage take turns.
  const bool parts =
      !order.staying.empty() && order.staying.front().weights && !order.staying.front().all();
  return request.pricing.stages.size() == 1 && order.devices.size() == 1 && !parts;
}

}  // namespace sluice
