#include "planning/training/load_offers.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "planning/replica.hpp"
#include "planning/training/late_loads.hpp"

namespace sluice {

bool loads_only_inputs(const Program& step) {
  return std::all_of(step.instances.begin(), step.instances.end(),
                     [](const Program::Instance& instance) {
                       return !instance.loaded || instance.home == Program::Home::input;
                     });
}

bool loads_outlast_computations(const Program& step) {
  double seconds = 0;
  for (const Program::Operation& operation : step.operations) seconds -= operation.seconds;
  for (const Program::Instance& instance : step.instances)
    if (instance.loaded) seconds += instance.load_s;
  return seconds > 0;
}

std::vector<LoadPlace> places_of(const Program& step, const std::vector<Program::Load>& loads,
                                 std::vector<LoadPlaces>& memories) {
  std::vector<LoadPlace> places;
  for (const Program::Load& load : loads) {
    const Program::Instance& made = step.instances[load.instance];
    places.push_back(memories[made.device].add({.bytes = made.bytes,
                                                .needed = load.needed,
                                                .earliest = load.earliest,
                                                .after = load.after,
                                                .within = true}));
  }
  return places;
}

LoadOffers::LoadOffers(Program step, const PolicyRequest& request, const TrainingOrder& order,
                       std::optional<std::int64_t> memory, const EqualReplicas* replicas)
    : order_(order),
      platform_(request.pricing.platform),
      step_(std::move(step)),
      clock_(step_, platform_, order.devices,
             checked_mul(request.workload.steps, step_.rounds_per_step, "rounds of a run"),
             request.real_machine, memory, replicas),
      priced_alike_(devices_alike(request, order)) {
  for (std::uint32_t d = 0; d < order.devices.size(); ++d) bytes_.push_back(step_.bytes(d));
  peaks_ = peaks_.changed(bytes_.size(), [&](std::int64_t, std::size_t device) {
    return std::ranges::max(bytes_[device]);
  });
}

ChosenStep::Offer LoadOffers::offer(const ChosenStep::EarlyLoadLimits& limits) {
  if (!order_.overlap) return {.most = peaks_};
  const std::vector<Program::Load>& loads = this->loads(limits.sequence);
  std::vector<LoadPlaces> memories;
  for (std::size_t d = 0; d < bytes_.size(); ++d) memories.emplace_back(bytes_[d], limits.room[d]);
  ChosenStep::Offer offer;
  for (const Program::Load& load : loads) offer.instances.push_back(load.instance);
  offer.places = places_of(step_, loads, memories);
  offer.most = offer.most.changed(
      memories.size(), [&](std::int64_t, std::size_t device) { return memories[device].most(); });
  return offer;
}

double LoadOffers::at_least() const {
  return order_.overlap && priced_alike_ ? clock_.at_least() : 0;
}

double LoadOffers::at_least(const ChosenStep::EarlyLoadLimits& limits,
                            const ChosenStep::Offer& offer) {
  if (!order_.overlap || !priced_alike_) return 0;
  return clock_.at_least(loads(limits.sequence), offer.places);
}

std::optional<Pace> LoadOffers::pace_of_inputs(const DeviceBytes& capacities) {
  if (!order_.overlap || !priced_alike_) return {};
  const StepClock clock = clock_.of_few_rounds();
  const auto seconds = [&](const ChosenStep::EarlyLoadLimits& limits) {
    const ChosenStep::Offer offer = this->offer(limits);
    return offer.most.within(capacities) ? clock.at_least(loads(limits.sequence), offer.places)
                                         : std::numeric_limits<double>::infinity();
  };
  const double early = seconds({no_limit, {as_early_as_may_be}}), late = seconds({no_limit});
  return early < late * (1 - 1e-12) ? std::optional<Pace>(as_early_as_may_be) : std::nullopt;
}

/// Returns the loads of the step, which load_late() has placed in this sequence.
const std::vector<Program::Load>& LoadOffers::loads(const LoadSequence& sequence) {
  const auto [found, fresh] = loads_.try_emplace(sequence);
  if (fresh) {
    load_late(step_, load_latencies(platform_, order_.devices), sequence);
    found->second = step_.loads;
  }
  return found->second;
}

double clock_at_least(const PolicyRequest& request, const TrainingOrder& order) try {
  return ChosenStep(request, order).at_least();
} catch (const Infeasible&) {
  return 0;
}

}  // namespace sluice
