// Turns a training step into its plan, and simulates this plan.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/quantity.hpp"
#include "planning/program_listing.hpp"
#include "planning/run_seconds.hpp"
#include "planning/training/late_loads.hpp"
#include "planning/training/training.hpp"

namespace sluice {

namespace {

/// Gives each load of the step its place in the list.
void place_loads(Program& step, const std::vector<LoadPlace>& places) {
  for (std::size_t i = 0; i < step.loads.size(); ++i) {
    step.loads[i].earliest = places[i].at;
    step.loads[i].after = places[i].after;
    step.loads[i].placed = true;
  }
}

}  // namespace

Draft list_training(const Listing& listing, Program& step, const std::vector<Fact>& facts,
                    std::int64_t* most) {
  const Platform& platform = listing.request.pricing.platform;
  const TrainingOrder& order = listing.order;
  step.devices = order.devices;
  step.rounds =
      checked_mul(listing.request.workload.steps, step.rounds_per_step, "rounds of a run");
  if (order.overlap)
    load_late(step, load_latencies(platform, step.devices), listing.sequence);
  else
    step.loads = loads_when_needed(step);
  if (listing.places) place_loads(step, *listing.places);
  return list_program({.request = listing.request,
                       .program = step,
                       .name = order.policy,
                       .overlap = order.overlap,
                       .capacity = listing.capacity,
                       .loads_within = order.overlap,
                       .facts = facts},
                      most);
}

std::int64_t peak_of(const Program& step, std::size_t devices) {
  std::int64_t most = 0;
  for (std::uint32_t d = 0; d < devices; ++d) most = std::max(most, step.peak(d));
  return most;
}

Scored score(const Listing& listing) {
  Program step = make_step(listing.shape);
  if (listing.capacity && peak_of(step, listing.shape.devices) > *listing.capacity)
    return {std::numeric_limits<double>::infinity(), 0};
  std::int64_t most = 0;
  Plan plan = finish(list_training(listing, step, {}, &most), listing.request);
  if (listing.capacity)
    for (const std::string& device : listing.order.devices)
      stay_within(plan, device, *listing.capacity);
  return {run_seconds(plan), most};
}

}  // namespace sluice
