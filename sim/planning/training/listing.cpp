// Turns a training step into its plan, and simulates this plan.
#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "execute/feasibility.hpp"
#include "plan/passes/fold.hpp"
#include "planning/program_listing.hpp"
#include "planning/run_seconds.hpp"
#include "planning/training/chain/block_bound.hpp"
#include "planning/training/clock/left_out_passes.hpp"
#include "planning/training/found_listings.hpp"
#include "planning/training/late_loads.hpp"
#include "planning/training/load_offers.hpp"
#include "planning/training/shortest_round.hpp"
#include "planning/training/training.hpp"
#include "planning/training/tried_loads.hpp"

namespace sluice {

namespace {

constexpr Scored nothing{std::numeric_limits<double>::infinity(), 0};

/// Gives each load of the step its place in the list.
void place_loads(Program& step, const std::vector<LoadPlace>& places) {
  for (std::size_t i = 0; i < step.loads.size(); ++i) {
    step.loads[i].earliest = places[i].at;
    step.loads[i].after = places[i].after;
    step.loads[i].placed = true;
  }
}

/// Returns whether only few ways are tried for a step with this many operations. Then the loads come in the order in
/// which the step lists them, first as early as there is room, and then where they are needed. The other orders are
/// only tried for the faster of these two.
bool is_long(std::int64_t operations) {
  return tried_counts(operations, /*made_to_change=*/false).paces == 1;
}

/// Returns the ways to list the loads of a step with this many operations that a search for fates tries. The first way
/// has the pace of the machine, and lists loads as early as there is room.
std::vector<TriedListing> tried_listings(std::int64_t operations) {
  const std::size_t count =
      std::min(paces_without_latency, tried_counts(operations, /*made_to_change=*/false).paces);
  std::vector<TriedListing> tried;
  for (const bool late : {false, true})
    for (const LoadOrder order : load_orders)
      for (std::size_t p = 0; p < count; ++p) tried.push_back({{paces[p], order}, late});
  if (is_long(operations))
    std::ranges::stable_sort(tried, {}, [](const TriedListing& one) {
      return one.sequence.order != LoadOrder::as_listed;
    });
  return tried;
}

/// Returns the seconds of the run whose loads are listed in the way `tried`, and the bytes that the first device needs.
Scored score(const Listing& listing, const TriedListing& tried, Program& step) try {
  const Listing way{.request = listing.request,
                    .shape = listing.shape,
                    .order = listing.order,
                    .capacity = tried.late ? std::optional<DeviceBytes>(0) : listing.capacity,
                    .sequence = tried.sequence,
                    .named = false};
  std::int64_t most = 0;
  Plan plan = finish(list_training(way, step, {}, &most), listing.request);
  if (listing.capacity)
    for (std::size_t d = 0; d < listing.order.devices.size(); ++d)
      stay_within(plan, listing.order.devices[d], (*listing.capacity)[d]);
  return {run_seconds(plan), most};
} catch (const Infeasible&) {  // the passes differ, and a list of all of them is too long
  if (listing.shape.more_passes == 0) throw;
  return nothing;
}

/// Returns a lower bound of the seconds of the run (block_bound.hpp), or 0 if none is known.
double blocks_at_least(const Listing& listing) {
  const auto& [request, shape, order] = std::tie(listing.request, listing.shape, listing.order);
  if (!listing.capacity || !order.overlap || shape.in_flight < least_of_blocks ||
      !devices_alike(request, order))
    return 0;
  return block_bound(shape, {request.pricing.platform, order.devices, request.workload.steps,
                             listing.capacity->greatest()});
}

/// Lists the step, whose loads have their places.
Draft list_placed(const Listing& listing, Program& step, const std::vector<Fact>& facts,
                  std::int64_t* most) {
  const TrainingOrder& order = listing.order;
  const auto of_round = static_cast<std::size_t>(step.count());
  if (listing.shape.updates_follow) add_updates(listing.shape, step);
  step.rest = step.count() - static_cast<std::int64_t>(of_round);
  Draft draft = list_program({.request = listing.request,
                              .program = step,
                              .name = order.policy,
                              .overlap = order.overlap,
                              .capacity = listing.capacity,
                              .loads_within = order.overlap,
                              .facts = facts,
                              .named = listing.named},
                             most);
  step.operations.resize(of_round);
  step.rest = 0;
  return draft;
}

/// `some` is a plan that leaves out the passes `left`. Returns the plan with all passes, whose body is a few of them.
/// Returns nothing if these passes differ from those behind them.
std::optional<Plan> with_all_passes(Plan some, const LeftOutPasses& left) {
  const Plan listed = without_dropped(std::move(some));
  const std::int64_t equal = (left.end - left.begin) / left.pass;
  const std::uint32_t begin = after_computations(listed, left.begin);
  for (std::int64_t passes = 1; passes < equal; passes *= 2) {
    const std::uint32_t end = after_computations(listed, left.begin + passes * left.pass);
    if (std::optional<Plan> plan =
            fold(listed, {begin, end - begin, equal / passes}, (1 + left.times) * equal / passes))
      return plan;
  }
  return {};
}

/// Returns whether the equal passes certainly differ, because a load of them waits for an operation before these
/// passes.
bool waits_too_long(const Program& step, const LeftOutPasses& left) {
  const auto first =
      step.loads.begin() + static_cast<std::ptrdiff_t>(first_needed_from(step.loads, left.begin));
  const auto last =
      step.loads.begin() + static_cast<std::ptrdiff_t>(first_needed_from(step.loads, left.end));
  return std::any_of(first, last, [&](const Program::Load& load) {
    return load.after < load.needed - 2 * left.pass && left.end - left.begin == 2 * left.pass;
  });
}

/// Lists each load less than a pass before the operation that needs it. So the load waits for no operation of more than
/// one pass before.
void load_within_pass(Program& step, std::int64_t operations) {
  for (Program::Load& load : step.loads) {
    load.earliest = std::max(load.earliest, load.needed - operations + 1);
    load.after = std::max(load.after, load.earliest - 1);
  }
}

}  // namespace

Draft list_training(const Listing& listing, Program& step, const std::vector<Fact>& facts,
                    std::int64_t* most) {
  const Platform& platform = listing.request.pricing.platform;
  step.devices = listing.order.devices;
  step.rounds =
      checked_mul(listing.request.workload.steps, step.rounds_per_step, "rounds of a run");
  if (listing.order.overlap)
    load_late(step, load_latencies(platform, step.devices), listing.sequence);
  else
    step.loads = loads_when_needed(step);
  if (listing.places) place_loads(step, *listing.places);
  if (listing.shape.more_passes == 0) return list_placed(listing, step, facts, most);
  const LeftOutPasses left = left_out_passes(step);
  for (const bool within_pass : {false, true}) {
    if (!within_pass && waits_too_long(step, left)) continue;
    if (within_pass) load_within_pass(step, left.pass);
    Draft draft = list_placed(listing, step, facts, most);
    if (auto all = with_all_passes(std::move(draft.plan), left)) {
      draft.plan = std::move(*all);
      return draft;
    }
  }
  StepShape whole = listing.shape;
  whole.micro_batches += std::exchange(whole.more_passes, 0) * whole.in_flight;
  Program all_passes = make_step(whole);
  return list_training({.request = listing.request,
                        .shape = whole,
                        .order = listing.order,
                        .capacity = listing.capacity,
                        .sequence = listing.sequence,
                        .named = listing.named},
                       all_passes, facts, most);
}

DeviceBytes peaks_of(const Program& step, std::size_t devices) {
  return DeviceBytes().changed(devices, [&](std::int64_t, std::size_t device) {
    return step.peak(static_cast<std::uint32_t>(device));
  });
}

Scored score(const Listing& listing) {
  Program step = make_step(listing.shape);
  const DeviceBytes capacity = listing.capacity.value_or(no_limit);
  if (!peaks_of(step, listing.shape.devices).within(capacity)) return nothing;
  return score(listing, {}, step);
}

std::optional<Shortage> shortage_of_run(const Listing& listing) {
  Program step = make_step(listing.shape);
  try {
    check(finish(list_training(listing, step, {}), listing.request));
  } catch (const Infeasible& infeasible) {
    return infeasible.shortage;
  }
  return {};
}

// Which ways are tried does not depend on the capacity of the device, and each run stays within the given bytes. So the
// same ways are tried for a larger memory.
ListedScore score_listings(const Listing& listing, double worth) {
  const std::optional<DeviceBytes>& capacity = listing.capacity;
  if (blocks_at_least(listing) > worth * (1 + 1e-12)) return {};
  // The seconds are those of the run on this machine, even if it is shown instead of a real machine. So the bounds are,
  // too.
  PolicyRequest here = listing.request;
  here.real_machine = nullptr;
  const auto memory = capacity ? std::optional(capacity->greatest()) : std::nullopt;
  LoadOffers offers(make_step(listing.shape), here, listing.order, memory);
  ListedScore best;
  if (capacity && !offers.peaks().within(*capacity)) return best;
  if (offers.at_least() > worth * (1 + 1e-12)) return best;
  std::set<std::pair<std::vector<std::uint32_t>, std::vector<LoadPlace>>> seen;
  const std::int64_t operations = offers.step().count_of_all();
  const bool few = is_long(operations);
  for (const TriedListing& tried : tried_listings(operations)) {
    if (few && tried.sequence.order != LoadOrder::as_listed && tried.late != best.listing.late)
      continue;
    const ChosenStep::EarlyLoadLimits limits{
        tried.late ? DeviceBytes(0) : capacity.value_or(no_limit), tried.sequence, capacity};
    ChosenStep::Offer offer = offers.offer(limits);
    const bool first = tried == TriedListing();
    if (!seen.emplace(offer.instances, offer.places).second) continue;
    const double least_s = first ? 0 : offers.at_least(limits, offer);
    if (least_s > worth * (1 + 1e-12) || least_s >= best.scored.seconds) continue;
    const Scored scored = score(listing, tried, offers.scratch());
    if (first) best.scored.bytes = scored.bytes;
    if (scored.seconds < best.scored.seconds * (1 - 1e-12))
      best.scored.seconds = scored.seconds, best.listing = tried;
  }
  return best;
}

}  // namespace sluice
