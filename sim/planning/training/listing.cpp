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
  Plan listed = without_dropped(std::move(some));
  const std::int64_t equal = (left.end - left.begin) / left.pass;
  const std::uint32_t begin = after_computations(listed, left.begin);
  for (std::int64_t passes = 1; passes < equal; passes *= 2) {
    const std::uint32_t end = after_computations(listed, left.begin + passes * left.pass);
    const EqualRounds rounds{begin, end - begin, equal / passes};
    Plan tried = 2 * passes < equal ? listed : std::move(listed);
    if (auto plan = fold(std::move(tried), rounds, (1 + left.times) * equal / passes)) return plan;
  }
  return {};
}

/// Returns whether a step whose passes are not alike is listed as a whole. If it has few passes, loads that come less
/// than a pass early would make its run up to 3 % slower. With n passes, the difference is at most about a pass in n.
bool lists_all_passes(const Program& step) {
  constexpr std::int64_t most_passes = 96, most_operations = 30'000;
  return step.passes < most_passes && step.count_of_all() <= most_operations;
}

/// The ways to make equal passes alike, in the order in which they are tried: each load at its place, each load less than
/// a pass before the operation that needs it, or each load at the same place in all of them (place_alike()).
enum class EqualPasses : std::uint8_t { as_placed, within_pass, alike };

/// Lists each load less than a pass before the operation that needs it. So the load waits for no operation of more than
/// one pass before.
void load_within_pass(Program& step, std::int64_t operations) {
  for (Program::Load& load : step.loads) {
    load.earliest = std::max(load.earliest, load.needed - operations + 1);
    load.after = std::max(load.after, load.earliest - 1);
  }
}

/// Calls `use` for each load of a pass with the indices of this load in all equal passes and in the pass after them.
template <class Use>
void each_of_equal_passes(const Program& step, const LeftOutPasses& left, const Use& use) {
  const std::size_t first = first_needed_from(step.loads, left.begin),
                    next = first_needed_from(step.loads, left.begin + left.pass),
                    end = first_needed_from(step.loads, left.end + left.pass);
  for (std::size_t load = first; load < next; ++load) {
    std::vector<std::size_t> all;
    for (std::size_t i = load; i < end; i += next - first) all.push_back(i);
    use(all);
  }
}

/// Gives the loads of the step places within `capacity` bytes of the devices, with which the equal passes are alike.
/// Each load is listed less than a pass early, and so waits for no operation of more than one pass before. Where the
/// loads take longer than the computations, later passes would load earlier: so a load may come as early as in any
/// equal pass. But it is listed at the latest of the places that it gets in these passes, so its bytes have room in all.
void place_alike(Program& step, const LeftOutPasses& left,
                 const std::optional<DeviceBytes>& capacity) {
  std::vector<Program::Load>& loads = step.loads;
  const bool placed = std::ranges::any_of(loads, &Program::Load::placed);
  for (Program::Load& load : loads)
    load.earliest = std::max(load.earliest, load.needed - left.pass + 2);
  if (!placed)
    each_of_equal_passes(step, left, [&](const std::vector<std::size_t>& all) {
      std::int64_t early = 0;
      for (const std::size_t i : all) early = std::max(early, loads[i].needed - loads[i].earliest);
      for (const std::size_t i : all) loads[i].earliest = loads[i].needed - early;
    });
  for (Program::Load& load : loads) load.after = std::max(load.after, load.earliest - 1);
  std::vector<LoadPlaces> memories;
  for (std::uint32_t d = 0; d < step.devices.size(); ++d)
    memories.emplace_back(step.bytes(d), capacity ? std::optional((*capacity)[d]) : std::nullopt);
  if (!placed) place_loads(step, places_of(step, loads, memories));
  each_of_equal_passes(step, left, [&](const std::vector<std::size_t>& all) {
    std::int64_t at = -left.pass, after = -2 * left.pass;
    for (const std::size_t i : all) {
      at = std::max(at, loads[i].earliest - loads[i].needed);
      after = std::max(after, loads[i].after - loads[i].needed);
    }
    for (const std::size_t i : all) {
      loads[i].earliest = loads[i].needed + at;
      loads[i].after = loads[i].needed + after;
    }
  });
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
  for (const EqualPasses way :
       {EqualPasses::as_placed, EqualPasses::within_pass, EqualPasses::alike}) {
    if (way == EqualPasses::as_placed && left.waits_too_long(step.loads)) continue;
    if (way == EqualPasses::alike && lists_all_passes(step)) break;
    if (way == EqualPasses::within_pass) load_within_pass(step, left.pass);
    if (way == EqualPasses::alike) place_alike(step, left, listing.capacity);
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
